"""A search as a person reads it: what was tried, the culprit, where the change went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

#: Functions that are shown of a profile.
_FUNCTIONS = 8


def show(document: Mapping[str, Any], console: Console) -> None:
    """Print a search."""
    console.print()
    _say(console, f"{document['benchmark']} [{document['impl']}], {document['meter']} a call, "
         f"{document['span']}", "bold")  # fmt: skip
    console.print(_tried(document))
    if document["profile"]:
        console.print(_profile(document))
    for each in document["lost"]:
        _say(console, f"cannot be measured: {each['commit'][:10]} {each['subject']}", "yellow")
    found = document["verdict"]
    _say(console, f"{found['status']}: {found['summary']}",
         "bold green" if found["exit"] == 0 else "bold yellow")  # fmt: skip


def _tried(document: Mapping[str, Any]) -> Table:
    """What was measured, in the order of the search."""
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    grid.add_column("commit", no_wrap=True)
    grid.add_column(document["meter"], justify="right", no_wrap=True)
    grid.add_column("like", no_wrap=True)
    grid.add_column("subject", overflow="ellipsis", no_wrap=True)
    middle = (document["before"] + document["after"]) / 2
    upwards = document["after"] > document["before"]
    for each in document["tried"]:
        value = each["value"]
        if value is None:
            cells = (Text("-"), Text("skipped", style="yellow"), Text(each["why"] or ""))
        else:
            new = (value > middle) == upwards
            like = Text("BAD", style="red") if new else Text("GOOD", style="green")
            cells = (Text(f"{value:,.10g}"), like, Text(each["subject"]))
        grid.add_row(Text(each["commit"][:10]), *cells)
    return grid


def _profile(document: Mapping[str, Any]) -> Table:
    """Where the change went."""
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    grid.add_column("function", overflow="fold")
    for title in ("before", "after", "change"):
        grid.add_column(title, justify="right", no_wrap=True)
    for row in document["profile"][:_FUNCTIONS]:
        numbers = (f"{row['left']:,.4g}", f"{row['right']:,.4g}", f"{row['change']:+,.4g}")
        unit = f" ({row['unit']})" if row.get("unit", "instructions") != "instructions" else ""
        grid.add_row(Text(f"{row['function']}{unit}"), *(Text(number) for number in numbers))
    return grid


def _say(console: Console, text: str, style: str) -> None:
    console.print(Text(text, style=style), highlight=False)
