"""Measure commits of the past, and keep the numbers in asv's own result files.

RANGE is git's: A..B, B^! (one commit), or a branch; without one, the whole first-parent line. What
is known is skipped, commits with the same driver share a measurement, and each commit is kept as
soon as it is measured: Ctrl-C loses nothing, the same command goes on (docs/history.md). Files go
to reports/results/asv, where `asv publish`, `asv show` and `asv compare` read them.

Examples:
  benchproof history                            all commits, ends first, then the gaps between
  benchproof history main~20..main              a range
  benchproof history --every 10                 each tenth commit
  benchproof history 'v1^!' 'v2^!' main^!       several, one after the other
  benchproof history HEAD^! --bench decode_rows --impl fast
  benchproof history --every 5 --wall           wall time as well: several processes a commit
  benchproof history --scheduler tcp://10.0.0.1:8786   on dask's workers (docs/fleet.md)
  benchproof history v1..v2 --quick             do the benchmarks run there? keeps nothing

Exit status: 0 everything that was asked for is known; 2 stopped, or nothing has a number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Bench, Impl, Json, Output, Suites, chosen_meters, measured_impls, place_of


def command(
    ranges: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RANGE...]", help="Commits, as git writes a range."),
    ] = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Each N-th commit.")] = 1,
    meters: Annotated[
        str, typer.Option(metavar="LIST", help="Of instructions, allocations, bytes; or exact.")
    ] = "exact",
    wall: Annotated[bool, typer.Option("--wall", help="Wall time, too; takes longest.")] = False,
    processes: Annotated[
        int, typer.Option(min=3, metavar="N", help="Of wall time, a commit and implementation.")
    ] = 9,
    bench: Bench = "",
    impl: Impl = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Only prove that the benchmarks run; keep nothing.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Measure again what failed before.")
    ] = False,
    machine: Annotated[
        str, typer.Option(metavar="NAME", help="In asv's files; default: known again.")
    ] = "",
    jobs: Annotated[
        int, typer.Option(min=0, metavar="N", help="Side by side; default: one a core.")
    ] = 0,
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Of dask's: its workers count, not this machine.")
    ] = "",
    suites: Suites = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Default: reports/results/asv.")
    ] = None,
    json: Json = None,
) -> int:
    """Measure commits of the past."""
    from benchproof.history import campaign, writing  # noqa: PLC0415  (as in compare)

    place = place_of(suites)
    impls = measured_impls(impl, place.checkout, None) or ("",)
    output = Output(json)
    exact = chosen_meters(meters, writing.EXACT, " (wall time has an option of its own, --wall)")
    asked = campaign.Asked(
        tuple(ranges or ()), every, exact, impls, bench, machine, again,
        jobs, processes if wall else 0, quick, scheduler,
    )  # fmt: skip
    folder = results or place.checkout.root / "reports" / "results" / "asv"
    if results is None:
        place.checkout.hide(folder.parent)
    with output.telling() as tell:
        outcome = campaign.run(asked, place, folder, tell)
    output.keep(outcome.document())
    outcome.show(output.console())
    return outcome.status
