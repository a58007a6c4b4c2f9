"""For cases whose instructions changed: the functions that they went to, C and Python."""

from __future__ import annotations

import contextlib
import sysconfig
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text

from benchproof.errors import WorkerError
from benchproof.gate.report import words
from benchproof.grids import borderless
from benchproof.plan import SIDES, SideName

from . import callgrind, tracer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.table import Table

    from benchproof.bench import Bench
    from benchproof.suite import Case

    #: By function and file, what a call of a case costs.
    Costs = Mapping[tuple[str, str], float]
    #: A function's own cost in one call of a case, on both sides: see `changes`.
    Change = dict[str, Any]

#: What is counted: instructions in a C function itself, bytecodes of a Python function itself, or
#: calls of a C function by Python code.
Unit = Literal["instructions", "bytecodes", "calls"]
#: In the order in which they are told: what names the source, then what it set off.
UNITS: tuple[Unit, ...] = ("bytecodes", "calls", "instructions")
#: Functions that are listed, by unit: those that grew, and those that shrank (code that moved shows
#: in both).
GREW: dict[Unit, int] = {"instructions": 8, "bytecodes": 8, "calls": 5}
SHRANK: dict[Unit, int] = {"instructions": 3, "bytecodes": 3, "calls": 3}
#: Functions that are named of each unit in the terminal; a results file has more.
NAMED = 4
#: The part of everything that moved below which a function is not worth a line.
LEAST_SHARE = 0.01
#: The largest change that is none. A call of a case is a whole number of calls and bytecodes, but
#: for what happens every few calls.
_FLOOR: dict[Unit, float] = {"instructions": 0.5, "bytecodes": 0.05, "calls": 0.05}


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
    folders = [(bench.sides[side].folder, str(bench.suites.parent)) for side in SIDES]
    told = {}
    for case in cases:
        found = _native(bench, case)
        left, right = (spoken.get(side, {}).get(case.name, {}) for side in SIDES)
        if "bytecodes" in left and "bytecodes" in right:
            found += traced(left, right, folders)
        told[case.name] = [_rounded(row) for row in worth_telling(found)]
    return told


def _rounded(change: Change) -> Change:
    """A change as a results file has it."""
    digits = {"left": 2, "right": 2, "change": 2, "share": 4}
    return change | {name: round(change[name], to) for name, to in digits.items()}


def _native(bench: Bench, case: Case) -> list[Change]:
    """What the dumps of a case say, if there are any."""
    if case.name not in bench.got.loops:
        return []
    calls = bench.got.loops[case.name].instructions.many
    try:
        left, right = (
            callgrind.per_call(
                bench.dumps(side, case.name), calls,
                [built.folder for built in (bench.sides[side], *bench.others.get(side, ()))],
            ) for side in SIDES
        )  # fmt: skip
    except (callgrind.DumpError, OSError):
        # A dump that cannot be read takes the explanation away, not the verdict.
        return []
    return changes(left, right, "instructions")


def _trace(bench: Bench, cases: Sequence[Case]) -> Mapping[SideName, Mapping[str, Any]]:
    """What tracing workers say, by side and case; nothing where they do not run."""
    loops = bench.got.loops
    rows = [
        {"calls": tracer.calls_for(loops[case.name].instructions.many if case.name in loops else 1)}
        for case in cases
    ]
    with contextlib.suppress(WorkerError):
        return bench.ask("profile", cases, rows)
    return {}


def traced(
    left: Mapping[str, Any], right: Mapping[str, Any], folders: Sequence[Sequence[str]]
) -> list[Change]:
    """Compare what a tracing worker said of a case on both sides.

    Args:
        left: the left side's answer.
        right: the right side's.
        folders: by side, what its files are told relative to: its build, the suites' parent.
    """
    found: list[Change] = []
    for unit in UNITS[:2]:
        before, after = (
            _costs(said[unit], places) for said, places in zip((left, right), folders, strict=True)
        )
        found += changes(before, after, unit)
    return found


def _costs(rows: Iterable[Mapping[str, Any]], folders: Sequence[str]) -> Costs:
    """By function and file, or caller. Lines move with every edit above them: they tell nothing."""
    costs: Counter[tuple[str, str]] = Counter()
    for row in rows:
        caller = f"called by {row['by']}, " if "by" in row else ""
        costs[row["function"], caller + short(row["file"], folders)] += row["cost"]
    return costs


def short(file: str, folders: Sequence[str]) -> str:
    """A source file in few words: below one of the folders, of the library, or by name."""
    path = Path(file)
    # The interpreter's own folders, what lies deeper first.
    libraries = [sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")]
    for folder in (*folders, *libraries):
        if folder and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return path.name if path.is_absolute() else path.as_posix()


def changes(left: Costs, right: Costs, unit: Unit) -> list[Change]:
    """What differs between two profiles, the largest growth first, the largest gain last.

    Args:
        left: the left side's cost a call.
        right: the right side's.
        unit: of both.

    Returns:
        Of each function its name and its file (a Python file, a library, an extension module); what
        one call of the case spends in it on either side, and by how much it grew; the share of that
        in everything that grew in this unit, or that shrank.
    """
    apart = {key: right.get(key, 0.0) - left.get(key, 0.0) for key in left.keys() | right.keys()}
    moved = {key: change for key, change in apart.items() if abs(change) > _FLOOR[unit]}
    grown = sum(change for change in moved.values() if change > 0)
    shrunk = sum(change for change in moved.values() if change < 0)
    found = [
        {"function": key[0], "file": key[1], "unit": unit, "left": left.get(key, 0.0),
         "right": right.get(key, 0.0), "change": change,
         "share": change / (grown if change > 0 else shrunk)}
        for key, change in moved.items()
    ]  # fmt: skip
    return sorted(found, key=lambda each: (-each["change"], each["file"], each["function"]))


def worth_telling(found: Iterable[Change]) -> list[Change]:
    """The few that explain most: by unit, what grew most, then what shrank most."""
    listed: list[Change] = []
    everything = [each for each in found if each["share"] >= LEAST_SHARE]
    for unit in UNITS:
        mine = [each for each in everything if each["unit"] == unit]
        listed += [each for each in mine if each["change"] > 0][: GREW[unit]]
        listed += [each for each in reversed(mine) if each["change"] < 0][: SHRANK[unit]]
    return listed


def table(rows: Sequence[Mapping[str, Any]], *, shrunk: bool = False) -> Table:
    """The functions that grew most, by unit; or those that shrank most.

    Args:
        rows: of a case, as `explain` gives them.
        shrunk: for a case that improved.
    """
    grid = borderless("change:", "unit", "where", fold="where", header=False)
    for unit in UNITS:
        mine = [row for row in rows if row["unit"] == unit and (row["change"] < 0) == shrunk]
        for row in mine[:NAMED]:
            where = Text(f"{row['function']} ({row['file']})")
            grid.add_row(Text(words.profile_unit(unit, row["change"])), Text(unit), where)
    return grid
