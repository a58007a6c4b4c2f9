"""Measure many branches, each against where it left the base: which help, which do not?

Exact meters of all; with --budget also wall time where one of them changed. A branch helps, hurts,
helps and hurts, does nothing, is not exercised (no benchmark runs the lines that it changes),
changes answers, breaks a benchmark or does not build. Those that help are merged, as far as they
do not conflict, and measured together. Benchmarks and settings are the working tree's. What was
measured is kept: a command that was stopped goes on where it was. BRANCH may be a pattern. With
--repo branches and pull requests are another repository's, a fork's for example.

Examples:
  benchproof rank --base main fast-decode less-copies other/one
  benchproof rank --base main 'perf/*' --repo https://github.com/me/fork
  benchproof rank --base origin/main --prs prs.txt          a number or an address a line
  benchproof rank --base main 'perf/*' --scheduler tcp://10.0.0.1:8786     on dask's workers
  benchproof rank --base main --branches branches.txt --html ranking.html
  benchproof rank --base main less-copies --budget 60       wall time, too

Exit status: 0 every branch was measured or does not build, 2 one could not be measured.
"""

from pathlib import Path
from typing import Annotated

import typer

from benchproof import files
from benchproof.errors import COULD_NOT_MEASURE, NO_REGRESSION, SelectionError

from . import options
from .options import flag, option


def command(
    branches: Annotated[
        list[str] | None, typer.Argument(metavar="BRANCH...", show_default=False)
    ] = None,
    base: Annotated[str, option("What they left from.", "COMMIT")] = "main",
    named: Annotated[Path | None, option("With a branch a line.", "FILE", "--branches")] = None,
    requests: Annotated[Path | None, option("With a pull request a line.", "FILE", "--prs")] = None,
    repo: Annotated[str, option("Of the branches; default: this repository.", "ADDRESS")] = "",
    scheduler: Annotated[str, option("Of dask's: its workers take a branch each.", "ADDRESS")] = "",
    bench: options.Bench = None,
    meters: options.Meters = "exact",
    budget: options.Budget = None,
    impl: options.Impl = "",
    suites: options.Suites = None,
    alone: Annotated[bool, flag("Do not measure those that help together.", "--alone")] = False,
    markdown: Annotated[Path | None, option("Keep the table as Markdown.", "FILE")] = None,
    html: Annotated[Path | None, option("Keep it as a page, with what moved.", "FILE")] = None,
    json: options.Json = None,
) -> int:
    """Rank branches."""
    expression, wanted = options.any_of(bench), options.chosen_meters(meters)
    chosen = [*(branches or ()), *_lines(named)]

    from benchproof import compare  # noqa: PLC0415  (scipy is slow to import)
    from benchproof.loops import branches as listed  # noqa: PLC0415
    from benchproof.loops import rank, ranked  # noqa: PLC0415

    if html is not None:
        import benchproof.render.view  # noqa: PLC0415  (an extra: known before measuring)
    if scheduler:
        import benchproof.fleet  # noqa: F401, PLC0415  (as above)
    if not chosen and requests is None:
        raise SelectionError("name branches, or a file with --branches or --prs")
    place, output = options.place_of(suites), options.Output(json)
    if budget is not None:
        wanted = (*wanted, "wall")
    request = compare.Request(
        base, base, expression, wanted, budget or 0.0, committed=True, only_changes=True,
        todays=True,
    )  # fmt: skip
    with output.telling() as tell:
        document = rank.rank(
            base, listed.find(chosen, _lines(requests), repo, place.checkout), request,
            lambda left, right: options.sides_of(left, right, impl), place, tell,
            together=not alone, scheduler=scheduler,
        )  # fmt: skip
    ranked.show(document, output.console())
    output.keep(document)
    if markdown is not None:
        files.write(ranked.markdown(document), markdown)
    if html is not None:
        files.write(ranked.page(document), html)
    unknown = any(row["kind"] == "" for row in document["branches"])
    return COULD_NOT_MEASURE if unknown else NO_REGRESSION


def _lines(file: Path | None) -> list[str]:
    """The lines of a file that hold something."""
    text = file.read_text(encoding="utf-8") if file else ""
    return [line.strip() for line in text.splitlines() if line.strip()]
