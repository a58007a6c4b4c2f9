"""List the benchmarks of a project, and the meters that measure each.

What asv finds and is not measured is listed with the reason. Nothing is built, unless the
benchmarks import the package: then SIDE is.

Examples:
  benchproof list                    all benchmarks
  benchproof list --bench parsing    those in whose name it is found
  benchproof list HEAD~1 --json -    for machines

Exit status: 0 there are benchmarks that can be measured, 2 there are none, or a
module or file of them does not load.
"""

from typing import Annotated

from benchproof import suite

from .options import Bench, Json, Output, Suites, any_of, argument, place_of


def command(
    side: Annotated[str, argument("A commit, or '.'.", "SIDE")] = ".",
    bench: Bench = None,
    json: Json = None,
    suites: Suites = None,
) -> int:
    """List benchmarks."""
    from benchproof import listing  # noqa: PLC0415  (as in compare)

    pattern, output = suite.expression(any_of(bench)), Output(json)
    with output.telling() as tell:
        about = listing.document(listing.found(place_of(suites), side, tell), pattern)
    output.keep(about)
    listing.show(about, output.console())
    return listing.exit_status(about)
