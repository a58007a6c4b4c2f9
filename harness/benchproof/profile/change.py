"""One function of two sides: what a call of a case spends in it, and the table of those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Functions that are named of each unit; a results file has more.
NAMED = 4
#: What is counted: instructions in a C function itself, bytecodes of a Python function itself, or
#: calls of a C function by Python code.
Unit = Literal["instructions", "bytecodes", "calls"]
#: In the order in which they are told: what names the source, then what it set off.
UNITS: tuple[Unit, ...] = ("bytecodes", "calls", "instructions")
#: Functions that are listed, by unit: those that grew, and those that shrank (code that moved shows
#: in both).
GREW: dict[Unit, int] = {"instructions": 8, "bytecodes": 8, "calls": 5}
SHRANK: dict[Unit, int] = {"instructions": 3, "bytecodes": 3, "calls": 3}
#: The part of everything that moved below which a function is not worth a line.
LEAST_SHARE = 0.01
Key = tuple[str, str]


def table(rows: Sequence[Mapping[str, Any]], *, shrunk: bool = False) -> Table:
    """The functions that grew most, by unit; or those that shrank most.

    Args:
        rows: of a case, as `benchproof.profile.explain` gives them.
        shrunk: for a case that improved.
    """
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", no_wrap=True, min_width=11)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for unit in UNITS:
        mine = [row for row in rows if row["unit"] == unit and (row["change"] < 0) == shrunk]
        for row in mine[:NAMED]:
            digits = 0 if row["change"] == round(row["change"]) or unit == "instructions" else 2
            change = f"{row['change']:+,.{digits}f}"
            where = Text(f"{row['function']} ({row['file']})")
            grid.add_row(Text(change), Text(unit), where)
    return grid


@dataclass(frozen=True)
class FunctionChange:
    """A function's own cost in one call of a case, on both sides.

    Attributes:
        function: its name.
        file: where it is: a Python file with its line, a library, an extension module.
        unit: of `left` and `right`.
        left: what a call of the case spends in it on the left side.
        right: and on the right side.
        share: of everything that grew in this unit if this grew, else of all that shrank.
    """

    function: str
    file: str
    unit: Unit
    left: float
    right: float
    share: float = 0.0

    @property
    def change(self) -> float:
        """By how much it grew."""
        return self.right - self.left

    def row(self) -> dict[str, Any]:
        """As a results file has it."""
        return {
            "function": self.function, "file": self.file, "unit": self.unit,
            "left": round(self.left, 2), "right": round(self.right, 2),
            "change": round(self.change, 2), "share": round(self.share, 4),
        }  # fmt: skip


def changes(
    left: Mapping[Key, float], right: Mapping[Key, float], unit: Unit, floor: float = 0.5
) -> list[FunctionChange]:
    """What differs between two profiles, the largest growth first, the largest gain last.

    Args:
        left: by function and file, the left side's cost a call.
        right: the right side's.
        unit: of both.
        floor: the largest change that is none.
    """
    found = [
        FunctionChange(name, file, unit, left.get((name, file), 0.0), right.get((name, file), 0.0))
        for name, file in sorted(left.keys() | right.keys())
    ]
    moved = [each for each in found if abs(each.change) > floor]
    grown = sum(each.change for each in moved if each.change > 0)
    shrunk = -sum(each.change for each in moved if each.change < 0)
    shared = [
        FunctionChange(
            each.function, each.file, unit, each.left, each.right,
            abs(each.change) / (grown if each.change > 0 else shrunk),
        )
        for each in moved
    ]  # fmt: skip
    return sorted(shared, key=lambda each: (-each.change, each.file, each.function))


def worth_telling(found: Iterable[FunctionChange]) -> list[FunctionChange]:
    """The few that explain most: by unit, what grew most, then what shrank most."""
    listed: list[FunctionChange] = []
    everything = list(found)
    for unit in UNITS:
        mine = [e for e in everything if e.unit == unit and e.share >= LEAST_SHARE]
        listed += [each for each in mine if each.change > 0][: GREW[unit]]
        shrank = [each for each in reversed(mine) if each.change < 0]
        listed += shrank[: SHRANK[unit]]
    return listed
