"""`benchproof compare`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads annotations at run time)
from typing import Annotated

import typer
from rich.console import Console

from .options import (
    All,
    Bench,
    Budget,
    Committed,
    Force,
    Meters,
    Quick,
    Seed,
    Suites,
    chosen_meters,
    place_of,
    seconds,
)

HELP = """Compare two sides, benchmark by benchmark.

A side is a commit, branch or tag, or '.' for the working tree; '@impl:cython' or '@impl:python'
behind it chooses an implementation ('impl:python' alone means the working tree's).

\b
Examples:
  benchproof compare HEAD .                        what do my uncommitted edits do?
  benchproof compare main my-branch --bench bind   two branches, only the bind suite
  benchproof compare HEAD@impl:python HEAD@impl:cython
  benchproof compare HEAD HEAD --force             an A/A run: how noisy is this machine?
  benchproof compare HEAD~1 HEAD --meters instructions,allocations
  benchproof compare HEAD . --bench bind --profile where did the instructions go?

Exit status: 0 no regression, 1 regression, 2 could not measure.
"""


def command(
    left: Annotated[str, typer.Argument(metavar="LEFT", help="The base.")],
    right: Annotated[str, typer.Argument(metavar="RIGHT", help="The candidate.")],
    bench: Bench = "",
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep everything, and raw samples beside.")
    ] = None,
    budget: Budget = None,
    meters: Meters = "all",
    quick: Quick = False,
    seed: Seed = 1,
    force: Force = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Say in which functions the instructions changed.")
    ] = False,
    committed: Committed = False,
    suites: Suites = None,
    everything: All = False,
) -> int:
    """Compare two sides."""
    from benchproof import compare, table  # noqa: PLC0415  (scipy is slow to import, --help should not be)
    from benchproof.progress import telling  # noqa: PLC0415

    request = compare.Request(
        left, right, bench, chosen_meters(meters), seconds(budget, quick=quick), quick, seed,
        force, committed, profile=profile,
    )  # fmt: skip
    with telling(Console(stderr=True)) as tell:
        outcome = compare.compare(request, place_of(suites), tell)
    out = Console()
    if json is not None:
        outcome.save(json)
    table.show(outcome.document, out, everything=everything)
    return int(outcome.document["verdict"]["exit"])
