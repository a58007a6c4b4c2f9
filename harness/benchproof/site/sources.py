"""What a site is made from: every part is optional, and one that is missing says why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof import error_rates, files, judge
from benchproof.errors import BenchproofError, NewerError, SiteError
from benchproof.gate.report import words
from benchproof.history.model import History, LeftOut

from . import claimed
from .pack import digest

if TYPE_CHECKING:
    from pathlib import Path

    from benchproof.changes.sizes import Change
    from benchproof.checkout import Checkout
    from benchproof.progress import Teller

#: Below the folder of reports.
ASV_RESULTS = "results/asv"


@dataclass
class Gathered:
    """Everything that the pages show, and why what is missing is missing.

    Attributes:
        history: empty if there is none.
        changes: of its series, oldest first.
        kept: by page, what it is told of what another program kept.
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
    # What the pages cannot show is left out before any is written.
    for page in claimed.KEPT:
        parts.kept[page] = _kept(parts, page, reports)
    read_documents(parts, reports)
    return parts


def read_documents(parts: Gathered, reports: Path) -> None:
    """Read the error rates, the newest gate, and the comparisons of the newest `benchproof run`."""
    try:
        parts.calibration = error_rates.load(reports)
    except NewerError as error:
        name = f"{error_rates.FOLDER}/{error_rates.SUMMARY}"
        parts.left_out.append(LeftOut(name, _reason(error, reports / name)))
    known = _documents(parts, reports)
    parts.run = [document for name, document in known.items()
                 if name.startswith("latest/") and document["kind"] == "comparison"]  # fmt: skip
    gates = []
    for name, document in known.items():
        if words.is_gate(document):
            sides = [words.side_of(document, word) for word in ("base", "head")]
            if all(isinstance(each, dict) and each for each in (document.get("verdict"), *sides)):
                gates.append(document)
            else:
                parts.left_out.append(LeftOut(name, "is not a gate's document"))
    if gates:
        parts.gate = max(gates, key=lambda document: str(document.get("created", "")))


def _read_history(
    parts: Gathered, reports: Path, checkout: Checkout, cache: Path, tell: Teller
) -> None:
    from benchproof.changes import find_all  # noqa: PLC0415  (scipy is slow to import)
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


def _kept(parts: Gathered, page: str, reports: Path) -> dict[str, Any]:
    """What a page is told that another program keeps; the parts say why it cannot be shown."""
    name, what, schema, told = claimed.KEPT[page]
    file = reports / name
    if not file.exists():
        parts.why[page] = f"No {what} is kept here ({name})."
        return told({})
    try:
        held = files.read_json(file)
        files.refuse_newer(held, schema, file)
        return told(held)
    except (OSError, NewerError, AttributeError, KeyError, TypeError, ValueError) as error:
        parts.why[page] = f"{name} could not be read."
        parts.left_out.append(LeftOut(name, f"{type(error).__name__}: {_reason(error, file)}"))
        return told({})


def _documents(parts: Gathered, reports: Path) -> dict[str, dict[str, Any]]:
    """The documents of gates and comparisons by their place; what cannot be read is left out."""
    found = {}
    for file in sorted([*(reports / "gate").glob("*.json*"), *(reports / "latest").glob("*.json")]):
        name = file.relative_to(reports).as_posix()
        try:
            document = files.read_json(file)
            if isinstance(document, dict) and document.get("kind") in {"gate", "comparison"}:
                files.refuse_newer(document, judge.SCHEMA, file)
                found[name] = document
        except NewerError as error:
            parts.left_out.append(LeftOut(name, _reason(error, file)))
        except (OSError, ValueError) as error:
            parts.left_out.append(LeftOut(name, f"no JSON ({type(error).__name__})"))
    return found


def _reason(error: Exception, file: Path) -> str:
    """An error without the path, which stands beside it."""
    return str(error).removeprefix(f"{file}: ")
