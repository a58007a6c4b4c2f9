"""What every command prints with on a terminal: lines as they are, tables without lines."""

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

#: Of a column that is broken, if it says none.
_READABLE = 12


def say(console: Console, text: str, style: str = "") -> None:
    """Print a line as it is."""
    console.print(Text(text, style=style), highlight=False)


def tell_line(console: Console, text: str) -> None:
    """Print a line as it is, and whole: a path or a reason is not broken where a screen ends."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def print_whole(console: Console, grid: Table) -> None:
    """Print a table with no number cut off: a line that is too long goes on in the next one."""
    needed = sum(_least(column, console) for column in grid.columns)
    needed += sum(grid.padding[1:4:2]) * (len(grid.columns) - 1)
    if needed > console.width:
        grid.width = needed
    console.print(grid, crop=False)


def _least(column: Column, console: Console) -> int:
    """How wide a column has to be."""
    if not column.no_wrap:
        return column.min_width or _READABLE
    cells = (column.header, *column.cells)
    return max(Measurement.get(console, console.options, cell).maximum for cell in cells)


def borderless(
    *titles: str, gap: int = 1, fold: str = "", least: int | None = None, header: bool = True
) -> Table:
    """A table without lines.

    Args:
        titles: of its columns; below one that ends in a colon everything stands to the right.
        gap: between two columns.
        fold: the title of the column that is broken where it is too long; `print_whole` keeps
            the others as they are.
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
