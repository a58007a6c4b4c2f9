"""Where instructions went, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from .change import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Functions that are named of each unit; a results file has more.
NAMED = 4


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
