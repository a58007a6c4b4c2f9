"""One gate, end to end, and what a campaign keeps of it."""

from __future__ import annotations

import ast
import hashlib
import io
import os
import re
import time
import tokenize
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchproof import results
from benchproof.errors import StoppedError
from benchproof.meters import METERS
from calibration.sites import IMPLEMENTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchproof.compare import Request
    from calibration.scene import Scene

#: What a gate can say that is not "nothing changed".
ALARMS = ("regressed", "improved")
#: Sources of the harness whose change can change a verdict.
DECIDES = (
    "verdict.py", "noise.py", "stats.py", "settings.py", "bench.py", "plan.py", "judge.py",
    "placement.py", "worker.py", "witness.py", "counting.py", "families.py", "collected.py",
    "compare.py", "timing.py", "meters",
)  # fmt: skip


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
#: Tokens that decide nothing.
_SILENT = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL}


@dataclass(frozen=True)
class Ask:
    """A gate to run.

    Attributes:
        base: the commit on the left.
        head: the commit on the right.
        bench: the expression that chooses benchmarks; all of them without one.
        meters: names of meters.
        impls: implementations.
        budget: seconds for wall time, or None for the gate's own.
        seed: of the order.
        builds: how often each side is built.
    """

    base: str
    head: str
    bench: str = ""
    meters: tuple[str, ...] = ("instructions",)
    impls: tuple[str, ...] = IMPLEMENTATIONS
    budget: float | None = None
    seed: int = 1
    builds: int = 1


def request(ask: Ask) -> Request:
    """A gate as `benchproof gate` asks for it."""
    from benchproof import compare  # noqa: PLC0415  (the gate prints rates that lie here)

    # A commit against itself would not be timed at all; every other gate is as people run it.
    force = ask.base == ask.head
    return compare.Request(
        ask.base, ask.head, ask.bench, ask.meters, ask.budget or 0.0, seed=ask.seed,
        impls=ask.impls, builds=ask.builds, force=force, committed=True, gate=True,
    )  # fmt: skip


def run(ask: Ask, scene: Scene) -> dict[str, Any]:
    """Run a gate as `benchproof gate` does; its document.

    Raises:
        BenchproofError: the gate could not begin.
        StoppedError: Ctrl-C: half a gate says nothing about whole ones.
    """
    from benchproof import compare  # noqa: PLC0415  (as above)

    document = compare.compare(request(ask), scene.place, scene.tell).document
    if document["partial"]:
        raise StoppedError("stopped: what was finished before is kept, and a new run goes on there")
    return document


def spread(
    asks: Sequence[Ask], scene: Scene, scheduler: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Run gates on a scheduler's workers; the number of each, and its row, as they come.

    Raises:
        FleetError: there is no such scheduler, or no worker that measures as this machine does.
    """
    from benchproof import fleet  # noqa: PLC0415  (dask is an extra)

    commits = {each for ask in asks for each in (ask.base, ask.head)}
    parcel, gates = fleet.Parcel.of(scene.place, commits), [(request(ask),) for ask in asks]
    with closing(fleet.spread(scheduler, parcel, fleet.comparison, gates, scene.tell)) as done:
        for number, (which, (document, about)) in enumerate(done, 1):
            scene.tell.line(f"{number} of {len(asks)} gates, by {about['host']}")
            yield which, kept(document, 0) | about


def pattern(cases: Iterable[str]) -> str:
    """The expression that chooses exactly some benchmarks; all of them if there are none."""
    names = sorted(set(cases))
    return f"^({'|'.join(map(re.escape, names))})$" if names else ""


def kept(document: Mapping[str, Any], started: float) -> dict[str, Any]:
    """What every campaign keeps of a gate.

    Args:
        document: the gate's.
        started: by `time.time`.
    """
    rows, suites = document["cases"], document["suites"]
    return {
        "at": results.now(),
        "seconds": round(time.time() - started, 1),
        "load": round(os.getloadavg()[0], 2),
        "verdict": document["verdict"],
        "cases": len(rows),
        "meters": counted(rows),
        "not_measured": [
            [row["name"], row["impl"], row["status"], row["why"]]
            for row in rows if row["status"] not in {"measured", "not applicable"}
        ],
        "said": [row for each in (*rows, *suites) for row in spoken(each)],
        "detectable": detectable(rows),
        # How far each suite moved: what its limit has to be above.
        "suites": [
            [each["name"], each["impl"], meter, about["cases"], about["up"], about["down"],
             about["low"], about["ratio"], about["high"]]
            for each in suites for meter, about in each["meters"].items()
        ],
    }  # fmt: skip


def counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """By meter, how often each verdict was given."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        for meter, judged in row["meters"].items():
            said = found.setdefault(meter, {})
            said[judged["verdict"]] = said.get(judged["verdict"], 0) + 1
            if METERS[meter].exact and judged["left"] == judged["right"]:
                said["identical"] = said.get("identical", 0) + 1
    return found


def detectable(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """By meter that is tested, the changes that its tests would more likely than not have found.

    As ratios, in ascending order: what a gate without an alarm could have seen.
    """
    found: dict[str, list[float]] = {}
    for row in rows:
        for meter, judged in row["meters"].items():
            if judged.get("detectable") is not None:
                found.setdefault(meter, []).append(round(judged["detectable"], 5))
    return {meter: sorted(values) for meter, values in found.items()}


def spoken(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The meters of a case that said something other than "equivalent", with their numbers.

    Of wall time only alarms are kept: its being undecided is a matter of minutes.
    """
    return [
        {"name": row["name"], "impl": row["impl"], "meter": meter, **numbers(judged)}
        for meter, judged in row["meters"].items()
        if judged["verdict"] in ALARMS
        or (judged["verdict"] != "equivalent" and METERS[meter].exact)
    ]


def numbers(judged: Mapping[str, Any]) -> dict[str, Any]:
    """A meter's verdict and numbers, without the samples of wall time."""
    keys = ("verdict", "left", "right", "ratio", "low", "high", "limit", "detectable")
    return {key: judged.get(key) for key in keys}


def answer(row: Mapping[str, Any], meter: str) -> dict[str, Any]:
    """What a meter said of a case, or why it said nothing; of a case that is not there, too."""
    judged = row.get("meters", {}).get(meter)
    if judged is not None:
        return numbers(judged)
    return {"verdict": "not measured", "why": row.get("why") or "not timed" if row else "absent"}


def alarmed(gate: Mapping[str, Any], meters: Iterable[str]) -> bool:
    """Whether a kept gate gave an alarm of any kind on some meters."""
    chosen = set(meters)
    return any(row["meter"] in chosen and row["verdict"] in ALARMS for row in gate["said"])


def policy(harness: Path) -> str:
    """A short name of the rules that decide: rates of other rules are other rates.

    Of the code alone: what comments and docstrings say of it decides nothing.
    """
    digest = hashlib.sha256()
    for name in DECIDES:
        place = harness / name
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for word in _code(file.read_bytes()):
                digest.update(f"{word}\0".encode())
    return digest.hexdigest()[:12]


def _code(source: bytes) -> Iterator[str]:
    """The tokens of a file but for comments, blank lines and docstrings."""
    told = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None
    }
    is_told = False
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        # Of a docstring, and the end of its line.
        was_told, is_told = is_told, token.start in told
        if token.type in _SILENT or is_told or (was_told and token.type == tokenize.NEWLINE):
            continue
        yield token.string
