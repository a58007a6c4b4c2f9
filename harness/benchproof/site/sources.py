"""What a site is made from: every part is optional, and one that is missing says why."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jinja2 import UndefinedError

from benchproof import error_rates, files, judge
from benchproof.errors import BenchproofError, NewerError, SiteError
from benchproof.gate.report import words
from benchproof.history.model import History, LeftOut

from . import claimed
from .pack import digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchproof.changes.sizes import Change
    from benchproof.checkout import Checkout
    from benchproof.progress import Teller

#: Below the folder of reports.
ASV_RESULTS = "results/asv"
#: Of the documents that are looked for.
KINDS = {"gate", judge.KIND}
#: What a file raises that is something else than it seems, or of a newer version.
_BROKEN = (
    OSError, NewerError, AttributeError, KeyError, TypeError, ValueError, RecursionError,
    UndefinedError,
)  # fmt: skip


@dataclass
class Gathered:
    """Everything that the pages show, and why what is missing is missing.

    Attributes:
        history: empty if there is none.
        changes: of its series, oldest first.
        kept: by page, what another program kept for it.
        calibration: error rates, as a calibration sums them up.
        gate: the newest gate's document.
        run: the comparisons of the newest `benchproof run`.
        why: by part, why it is missing.
        left_out: files of any kind that could not be used.
    """

    history: History = field(default_factory=lambda: History([], {}))
    changes: list[Change] = field(default_factory=list)
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)
    calibration: dict[str, Any] | None = None
    gate: dict[str, Any] | None = None
    run: list[dict[str, Any]] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    @contextmanager
    def reading(self, name: str, reports: Path, part: str = "") -> Iterator[None]:
        """Leave a file of the reports out, and say why, if what reads or shows it fails.

        Args:
            name: of the file.
            reports: the folder.
            part: that has to do without it.
        """
        try:
            yield
        except FileNotFoundError:
            return
        except _BROKEN as error:
            what = "" if isinstance(error, NewerError) else f"{type(error).__name__}: "
            said = str(error).removeprefix(f"{reports / name}: ")
            self.left_out.append(LeftOut(name, f"{what}{said}"))
            if part:
                self.kept.pop(part, None)
                self.why[part] = f"{name} could not be read."


def gather(reports: Path, checkout: Checkout, cache: Path, tell: Teller) -> Gathered:
    """Read all parts.

    Args:
        reports: the folder of reports.
        checkout: whose commits they are about.
        cache: where parsed results are remembered.
        tell: hears what is done.

    Raises:
        SiteError: there is no such folder.
    """
    if not reports.is_dir():
        raise SiteError(f"{reports} is no folder of reports: `benchproof history` fills one")
    parts = Gathered()
    tell.stage("reading results")
    _read_history(parts, reports, checkout, cache, tell)
    for page, (name, what, schema) in claimed.KEPT.items():
        parts.why[page] = f"No {what} is kept here ({name})."
        with parts.reading(name, reports, page):
            held = files.read_json(reports / name)
            files.refuse_newer(held, schema, reports / name)
            parts.kept[page], parts.why[page] = held, ""
    read_documents(parts, reports)
    return parts


def read_documents(parts: Gathered, reports: Path) -> None:
    """Read the error rates, the newest gate, and the comparisons of the newest `benchproof run`."""
    with parts.reading(f"{error_rates.FOLDER}/{error_rates.SUMMARY}", reports):
        parts.calibration = error_rates.load(reports)
    gates = []
    for file in sorted([*(reports / "gate").glob("*.json*"), *(reports / "latest").glob("*.json")]):
        name = file.relative_to(reports).as_posix()
        with parts.reading(name, reports):
            document = files.read_json(file)
            if not isinstance(document, dict) or document.get("kind") not in KINDS:
                continue
            files.refuse_newer(document, judge.SCHEMA, file)
            words.headline([document])  # as the overview will
            if name.startswith("latest/") and document["kind"] == judge.KIND:
                parts.run.append(document)
            if words.is_gate(document):
                for word in ("base", "head"):
                    words.side_of(document, word)["spec"]
                gates.append(document)
    if gates:
        parts.gate = max(gates, key=lambda document: str(document.get("created", "")))


def _read_history(
    parts: Gathered, reports: Path, checkout: Checkout, cache: Path, tell: Teller
) -> None:
    from benchproof.changes.search import find_all  # noqa: PLC0415  (scipy is slow to import)
    from benchproof.history.asv_files import load  # noqa: PLC0415  (the same)

    results = reports / ASV_RESULTS
    if not results.is_dir():
        parts.why["history"] = "No history was measured: `benchproof history` measures one."
        return
    try:
        parts.history = load(
            results, checkout, cache=cache / f"history-{digest(str(results.resolve()))}.cache"
        )
    except BenchproofError as error:
        parts.why["history"] = f"The history could not be read: {error}"
        return
    parts.left_out += [
        LeftOut(f"{ASV_RESULTS}/{each.file}", each.why) for each in parts.history.left_out
    ]
    if not parts.history.series:
        parts.why["history"] = "No result could be used: `benchproof history` measures some."
        return
    parts.changes = find_all(parts.history, tell=tell)
