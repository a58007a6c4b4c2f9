"""`benchproof share`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

HELP = """Tell which share of a whole benchmark each of its parts has.

Reads results, and measures nothing. Parts are the benchmarks that say so (`part_of`): in the suite
query_path, each hop of a request. What is in no part is a line of its own.

\b
Examples:
  benchproof share                                  of the last `benchproof run`
  benchproof compare HEAD@impl:python HEAD@impl:cython --bench query_path --json q.json
  benchproof share q.json --side right

Exit status: 0, or 2 if there are no such results.
"""


def command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Of `benchproof compare --json`; default: those of the last `benchproof run`.",
        ),
    ] = None,
    side: Annotated[str, typer.Option(metavar="SIDE", help="left, right, or both.")] = "both",
    json: Annotated[bool, typer.Option("--json", help="JSON instead of the tables.")] = False,
) -> int:
    """Tell the shares."""
    from benchproof import checkout, share  # noqa: PLC0415  (--help should be fast)

    if file is None:
        file = share.of_last_run(checkout.Checkout.around(Path.cwd()).root / "reports")
    found = share.shares(share.read(file), share.sides(side))
    out = Console()
    if json:
        out.print_json(data=found)
    else:
        share.show(found, out)
    return 0
