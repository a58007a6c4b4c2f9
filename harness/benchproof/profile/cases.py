"""For cases whose instructions changed: the functions that they went to, C and Python."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from benchproof.errors import WorkerError
from benchproof.plan import SIDES

from . import native, traced
from .callgrind import DumpError
from .change import FunctionChange, worth_telling
from .tracer import calls_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchproof.bench import Bench
    from benchproof.plan import SideName
    from benchproof.suite import Case


def explain(bench: Bench, cases: Sequence[Case]) -> dict[str, list[dict[str, Any]]]:
    """Say for each case where its instructions went.

    C functions come from the dumps that counting left: nothing is counted again. Python functions
    come from one tracing worker a side, which is started here, and runs each case a few times.

    Args:
        bench: that has counted the instructions of the cases, in which the workers run.
        cases: those to explain; few, because reading and tracing take about a second each.

    Returns:
        By case, rows ``{function, file, unit, left, right, change, share}``: numbers are of one
        call of the case, without what the function calls; Python functions before those of C,
        the largest growth first. A case that cannot be explained has no rows.
    """
    if not cases:
        return {}
    spoken = _trace(bench, cases)
    told = {}
    for case in cases:
        found = _native(bench, case)
        left, right = (spoken.get(side, {}).get(case.name, {}) for side in SIDES)
        if "bytecodes" in left and "bytecodes" in right:
            suites = str(bench.suites.parent)
            folders = [(bench.sides[side].folder, suites) for side in SIDES]
            found += traced.difference(left, right, folders)
        told[case.name] = [change.row() for change in worth_telling(found)]
    return told


def _native(bench: Bench, case: Case) -> list[FunctionChange]:
    """What the dumps of a case say, if there are any."""
    if case.name not in bench.got.loops:
        return []
    dumps = {side: bench.dumps(side, case.name) for side in SIDES}
    if not all(dumps.values()):
        return []
    calls = bench.got.loops[case.name].instructions.many
    folders = [
        [built.folder for built in (bench.sides[side], *bench.others.get(side, ()))]
        for side in SIDES
    ]
    try:
        return native.difference(dumps["left"], dumps["right"], calls, folders)
    except (DumpError, OSError):
        # A dump that cannot be read takes the explanation away, not the verdict.
        return []


def _trace(bench: Bench, cases: Sequence[Case]) -> Mapping[SideName, Mapping[str, Any]]:
    """What tracing workers say, by side and case; nothing where they do not run."""
    rows = [
        {"calls": calls_for(bench.got.loops[case.name].instructions.many)}
        if case.name in bench.got.loops else {"calls": 1}
        for case in cases
    ]  # fmt: skip
    with contextlib.suppress(WorkerError):
        return bench.ask("profile", cases, rows)
    return {}
