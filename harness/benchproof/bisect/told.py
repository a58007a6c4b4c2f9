"""A search as a person reads it: what was tried, the culprit, where the change went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from benchproof.grids import borderless, say
from benchproof.profile import change as profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console
    from rich.table import Table


def show(document: Mapping[str, Any], console: Console) -> None:
    """Print a search."""
    console.print()
    say(console, f"{document['benchmark']} [{document['impl']}], {document['meter']} a call, "
         f"{document['span']}", "bold")  # fmt: skip
    console.print(_tried(document))
    for shrunk in (False, True):
        if any((row["change"] < 0) == shrunk for row in document["profile"]):
            console.print(profile.table(document["profile"], shrunk=shrunk))
    for each in document["lost"]:
        say(console, f"cannot be measured: {each['commit'][:10]} {each['subject']}", "yellow")
    found = document["verdict"]
    say(console, f"{found['status']}: {found['summary']}",
         "bold green" if found["exit"] == 0 else "bold yellow")  # fmt: skip


def _tried(document: Mapping[str, Any]) -> Table:
    """What was measured, in the order of the search."""
    grid = borderless()
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
