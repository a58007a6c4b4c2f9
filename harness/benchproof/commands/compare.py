"""Compare two sides, benchmark by benchmark.

A side is a commit, branch or tag; '.' for the working tree; pypi:NAME==VERSION or the file of a
wheel, as published; repo:ADDRESS@REVISION for a commit of another repository; python:PATH for the
package as it is installed for an interpreter. Of commits, every
variant of the project is compared, unless --impl chooses one; what changed in another one is named.
'@impl:NAME' behind a commit compares variants with each other.
Limits and budget are those of [tool.benchproof], as for `benchproof gate`.

Examples:
  benchproof compare HEAD .                          what do my uncommitted edits do?
  benchproof compare main my-branch --bench parsing  two branches, only that suite
  benchproof compare HEAD~1 HEAD --impl pure         only the variant of that name
  benchproof compare HEAD@impl:pure HEAD@impl:fast
  benchproof compare HEAD HEAD --force               an A/A run: how noisy is this machine?
  benchproof compare HEAD~1 HEAD --meters instructions,allocations
  benchproof compare pypi:h11==0.14.0 . --suites bench.py     a release against my edits
  benchproof compare HEAD . --bench parsing --profile   where did the instructions go?
  benchproof compare main . --command 'python -m mypkg --version' --import mypkg
  benchproof compare main HEAD --json - > main.json
  benchproof compare main HEAD --picture moved.svg
  benchproof compare main HEAD --go ./pkg            a Go package: test binaries of both, in turn

Exit status: 0 no regression, 1 regression, 2 could not measure, or measured nothing that changed,
3 a benchmark is undecided and the project demands `decide = "all"`.
"""

from pathlib import Path
from typing import Annotated

from . import options
from .options import argument, flag, option


def command(
    left: Annotated[str, argument("The base.", "LEFT")],
    right: Annotated[str, argument("The candidate.", "RIGHT")],
    bench: options.Bench = None,
    json: options.Json = None,
    impl: options.Impl = "",
    budget: options.Budget = None,
    meters: options.Meters = "all",
    quick: options.Quick = False,
    seed: options.Seed = 1,
    force: options.Force = False,
    profile: Annotated[
        bool, flag("Say in which functions the instructions changed.", "--profile")
    ] = False,
    committed: options.Committed = False,
    suites: options.Suites = None,
    everything: options.All = False,
    picture: options.Picture = None,
    records: options.Records = None,
    run: Annotated[
        list[str] | None,
        option(
            "Measure a whole command instead of benchmarks; may be repeated.", "TEXT", "--command"
        ),
    ] = None,
    imported: Annotated[
        list[str] | None,
        option("Measure an import instead of benchmarks; may be repeated.", "MODULE", "--import"),
    ] = None,
    go: Annotated[str, option("Measure the benchmarks of a Go package.", "PACKAGE")] = "",
) -> int:
    """Compare two sides."""
    output, chosen = options.Output(json), options.any_of(bench)
    if go:
        from benchproof.checkout import Checkout  # noqa: PLC0415  (--help should be fast)
        from benchproof.foreign import go_runs  # noqa: PLC0415
        from benchproof.plan import SIDES  # noqa: PLC0415

        here, seconds = Checkout.around(Path.cwd()), budget or 60.0
        with output.telling() as tell:
            both = dict(zip(SIDES, (left, right), strict=True))
            samples = go_runs.compare(go, both, chosen, seconds, seed, here, tell)
        return output.judged(samples, everything=everything, records=records)
    # What is wrong with the question is said before anything slow is loaded.
    wanted, impls = options.chosen_meters(meters), options.sides_of(left, right, impl)

    from benchproof import compare  # noqa: PLC0415  (scipy is slow to import)

    if picture is not None:
        import benchproof.render.pictures  # noqa: F401, PLC0415  (an extra: known at once)
    place = options.place_of(suites, left, right)
    request = compare.Request(
        left, right, chosen, wanted, budget or 0.0, quick, seed, force, committed, profile=profile,
        impls=impls, commands=tuple(run or ()), imported=tuple(imported or ()),
    )  # fmt: skip
    with output.telling() as tell:
        outcome = compare.compare(request, place, tell)
    return output.compared(outcome, everything=everything, records=records, picture=picture)
