"""What every command prints with on a terminal: lines as they are, tables without lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console


def say(console: Console, text: str, style: str = "") -> None:
    """Print a line as it is."""
    console.print(Text(text, style=style), highlight=False)


def tell_line(console: Console, text: str) -> None:
    """Print a line as it is, and whole: a path or a reason is not broken where a screen ends."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def borderless(
    *titles: str, gap: int = 1, fold: str = "", least: int | None = None, header: bool = True
) -> Table:
    """A table without lines.

    Args:
        titles: of its columns; below one that ends in a colon everything stands to the right.
        gap: between two columns.
        fold: the title of the column that is broken where it is too long; the others are cut off.
        least: the least width of that column.
        header: whether the titles are shown.
    """
    grid = Table(
        box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold", show_header=header
    )
    for title in titles:
        name, folds = title.removesuffix(":"), title == fold
        grid.add_column(
            name, justify="left" if name == title else "right", no_wrap=not folds,
            overflow="fold" if folds else "ellipsis", min_width=least if folds else None,
        )  # fmt: skip
    return grid
