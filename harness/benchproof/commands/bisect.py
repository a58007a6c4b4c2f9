"""Find the commit that changed a benchmark, with as few builds as the evidence allows.

Searches the first-parent history, then inside of the merge that brought the change. Commits that
leave the package alone cost nothing; those that do not build, or lack the benchmark, are skipped.
What was found is compared with its parent, and the functions are named that the change went to.
Builds are kept: a search that was stopped goes on quickly (benchproof's docs/changes.md).

Examples:
  benchproof bisect parsing.time_number v1.0..main
  benchproof bisect sorting.time_words HEAD~64..             up to HEAD
  benchproof bisect 'large_file$' a1b2c3d..e4f5a6b --impl fast
  benchproof bisect parsing.time_number main~20..main --meter allocations --json b.json

Exit status: 0 found, 2 it could not be (the range that is left is named).
"""

from typing import Annotated

from .options import Json, Output, Suites, argument, option, place_of


def command(
    bench: Annotated[str, argument("A name, or an expression that one matches.", "BENCH")],
    span: Annotated[str, argument("Two commits; BAD is HEAD if left out.", "GOOD..BAD")],
    impl: Annotated[str, option("One variant; default: the first that builds here.", "NAME")] = "",
    meter: Annotated[str, option("instructions, allocations or bytes.", "NAME")] = "instructions",
    limit: Annotated[
        float | None, option("Smallest change that is worth a search.", "PERCENT", min=0)
    ] = None,
    json: Json = None,
    suites: Suites = None,
) -> int:
    """Find a culprit."""
    from benchproof.bisect import run  # noqa: PLC0415  (--help should be fast)

    output = Output(json)
    least = None if limit is None else limit / 100
    with output.telling() as tell:
        document = run.run(bench, span, place_of(suites), tell, impl=impl, meter=meter, least=least)
    output.keep(document)
    run.show(document, output.console())
    return int(document["verdict"]["exit"])
