"""Try one change: is it right, is it faster, what does it cost, is it to be kept?

CHANGE is '.' for the working tree (the default), a patch ('-' reads one from standard input), or a
branch. It is built and tested in a copy; your branch and your index are not touched, unless
--commit asks for that. Then both sides are measured: exact meters, and wall time where one of
these changed.

The last line says keep, discard, undecided or could not measure, and why. A change is kept if its
tests pass, answers are the same, something is faster and nothing slower. Lines 'METRIC name=value'
are for programs that drive such a loop. Each try is a line of a log, and a change that was tried
before is named before it is tried again.

Examples:
  benchproof try                                     what I have not committed yet
  benchproof try --bench parsing --test 'pytest -q -x tests/unit'
  benchproof try faster.patch --base main
  git diff | benchproof try -
  benchproof try my-branch                           against the commit where it left HEAD
  benchproof try --commit 'Parse without a copy'     commit it, if it is to be kept

Exit status: 0 keep, 1 discard, 2 could not measure, 3 undecided.
"""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .options import flag, option


def command(
    change: Annotated[str, typer.Argument(metavar="[CHANGE]", show_default=False)] = ".",
    base: Annotated[str, option("Default: HEAD, or where a branch left it.", "COMMIT")] = "",
    bench: options.Bench = None,
    test: Annotated[str, option("Default: 'test' of [tool.benchproof].", "COMMAND")] = "",
    test_seconds: Annotated[
        float, option("After which tests have failed.", "SECONDS", min=1)
    ] = 300.0,
    budget: Annotated[float, option("Wall time of what changed.", "SECONDS", min=1)] = 20.0,
    wall: Annotated[
        bool, flag("Take wall time also where exact meters see no change.", "--wall")
    ] = False,
    meters: options.Meters = "all",
    impl: options.Impl = "",
    seed: options.Seed = 1,
    suites: options.Suites = None,
    log: Annotated[Path | None, option("Default: tried.jsonl in .benchproof/.", "FILE")] = None,
    message: Annotated[str, option("Commit it if it is to be kept.", "MESSAGE", "--commit")] = "",
    json: options.Json = None,
    everything: options.All = False,
) -> int:
    """Try a change."""
    chosen, wanted = options.any_of(bench), options.chosen_meters(meters)

    from benchproof import compare, table  # noqa: PLC0415  (scipy is slow to import)
    from benchproof.loops import proposal, trial  # noqa: PLC0415

    place, output = options.place_of(suites), options.Output(json)
    found = proposal.find(change, base, place.checkout)
    request = compare.Request(
        found.base[:12], found.commit[:12], chosen, wanted, budget, seed=seed, committed=True,
        only_changes=not wall, impls=options.sides_of(found.base, found.commit, impl),
        title=f"{found.words} against {found.base[:10]}",
    )  # fmt: skip
    log = log or place.cache / trial.LOG
    with output.telling() as tell:
        trial.remember(found, log, place.checkout, tell)
        record = trial.run(request, found, place, tell, test=test, seconds=test_seconds, log=log)
    console = output.console()
    if "comparison" in record:
        table.show(record["comparison"], console, everything=everything)
    if message and record["decision"] == "keep":
        record["committed"] = proposal.commit(found, message, place.checkout)
    output.keep(record)
    said = [*trial.metrics(record), f"{record['decision']}: {record['why']}"]
    console.print("\n".join(said), highlight=False, markup=False, soft_wrap=True)
    return trial.EXITS[record["decision"]]
