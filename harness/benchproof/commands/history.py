"""Measure commits of the past, and keep the numbers in asv's own result files.

RANGE is git's: A..B, B^! (one commit), or a branch; without one, the whole first-parent line. What
is known is skipped, commits with the same package share a measurement, and each commit is kept as
soon as it is measured: Ctrl-C loses nothing, the same command goes on. Files go to
reports/results/asv, where `asv publish`, `asv show` and `asv compare` read them
(benchproof's docs/history.md).

Examples:
  benchproof history                            all commits, ends first, then the gaps between
  benchproof history main~20..main              a range
  benchproof history --every 10                 each tenth commit
  benchproof history 'v1^!' 'v2^!' main^!       several, one after the other
  benchproof history HEAD^! --bench parsing --impl fast
  benchproof history --every 5 --wall           wall time as well: several processes a commit
  benchproof history --scheduler tcp://10.0.0.1:8786   on dask's workers
  benchproof history v1..v2 --quick             do the benchmarks run there? keeps nothing

Exit status: 0 everything that was asked for is known; 2 stopped, or nothing has a number.
"""

from pathlib import Path
from typing import Annotated

from . import options
from .options import argument, flag, option


def command(
    ranges: Annotated[
        list[str] | None, argument("Commits, as git writes a range.", "[RANGE...]")
    ] = None,
    every: Annotated[int, option("Each N-th commit.", "N", min=1)] = 1,
    meters: Annotated[
        str, option("Of instructions, allocations, bytes; or exact.", "LIST")
    ] = "exact",
    wall: Annotated[bool, flag("Wall time, too; takes longest.", "--wall")] = False,
    processes: Annotated[int, option("Of wall time, a commit and variant.", "N", min=3)] = 9,
    bench: options.Bench = None,
    impl: options.Impl = "",
    quick: Annotated[
        bool, flag("Only prove that the benchmarks run; keep nothing.", "--quick")
    ] = False,
    again: Annotated[bool, flag("Measure again what failed before.", "--again")] = False,
    machine: Annotated[str, option("In asv's files; default: known again.", "NAME")] = "",
    jobs: Annotated[int, option("Side by side; default: one a core.", "N", min=0)] = 0,
    scheduler: Annotated[
        str, option("Of dask's: its workers count, not this machine.", "ADDRESS")
    ] = "",
    suites: options.Suites = None,
    results: Annotated[Path | None, option("Default: reports/results/asv.", "DIR")] = None,
    json: options.Json = None,
) -> int:
    """Measure commits of the past."""
    from benchproof.history import campaign, writing  # noqa: PLC0415  (as in compare)

    place = options.place_of(suites)
    impls = options.measured_impls(impl, place.checkout, None) or ("",)
    output = options.Output(json)
    exact = options.chosen_meters(
        meters, writing.EXACT, " (wall time has an option of its own, --wall)"
    )
    asked = campaign.Asked(
        tuple(ranges or ()), every, exact, impls, options.any_of(bench), machine, again,
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
