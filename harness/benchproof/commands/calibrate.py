"""`benchproof calibrate`."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import (
    Impl,
    Json,
    Meters,
    Reports,
    Seed,
    Suites,
    chosen_impls,
    chosen_meters,
    place_of,
)
from .output import Output

HELP = """Measure how often this machine's gate is wrong.

PART is one or more of exact, aa, neutral, inject, record, resample, others, report. What was
measured is kept in reports/calibration/ row by row: a part that was stopped, by --budget or by
Ctrl-C, goes on where it ended. Every run writes summary.json, calibration.md and a picture there;
the gate prints the rates beside its verdict (docs/calibration.md).

\b
  exact     the same wheel counted again and again: exact meters must never differ
  aa        whole gates of HEAD against itself
  neutral   whole gates of commits that change text and no work
  inject    slow-downs of 0.5, 1, 2 and 5 % put into copies of the driver, then the gate
  record    wall times of many processes, of HEAD and of slowed builds
  resample  the gate's own statistics on what was recorded
  others    asv continuous, pyperf compare_to and a bare count on the same commits
  report    only the report

\b
Examples:
  benchproof calibrate inject --budget 600           ten minutes of injections; again goes on
  benchproof calibrate aa --runs 20 --gate-budget 120
  benchproof calibrate record resample --blocks 120
  benchproof calibrate others --tools asv --budget 1800

Exit status: 0, or 2 if a part could not run.
"""


def command(
    parts: Annotated[list[str], typer.Argument(metavar="PART...", help="What to measure.")],
    budget: Annotated[
        float | None,
        typer.Option(min=1, metavar="SECONDS", help="Stop when the next step would not fit."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="How many gates there should be in the end.")
    ] = None,
    bench: Annotated[
        str, typer.Option(metavar="REGEX", help="Of exact, aa, neutral, record: only these.")
    ] = "",
    meters: Meters = "all",
    impl: Impl = "",
    gate_budget: Annotated[
        float | None,
        typer.Option(min=1, metavar="SECONDS", help="Of wall time in each gate of aa, neutral."),
    ] = None,
    blocks: Annotated[int, typer.Option(min=6, help="Of each recorded session.")] = 240,
    variants: Annotated[int, typer.Option(min=1, help="Of slowed builds to record.")] = 7,
    sizes: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Slow-downs in percent, or none; default: 0.5,1,2,5 to inject, 1,2,5 to record.",
        ),
    ] = "",
    tools: Annotated[
        str, typer.Option(metavar="LIST", help="Of others: bare, asv, pyperf.")
    ] = "bare,asv,pyperf",
    base: Annotated[str, typer.Option(metavar="COMMIT", help="What is slowed down.")] = "HEAD",
    seed: Seed = 1,
    suites: Suites = None,
    reports: Reports = None,
    json: Json = None,
) -> int:
    """Measure how often the gate is wrong."""
    from benchproof.calibrate import command as calibrate  # noqa: PLC0415  (--help should be fast)

    place = place_of(suites)
    asked = calibrate.Asked(
        reports or place.checkout.root / "reports", budget, runs, seed, bench,
        chosen_meters(meters), chosen_impls(impl), gate_budget, blocks, variants,
        calibrate.sizes(sizes), calibrate.tools(tools), base,
    )  # fmt: skip
    output = Output(json)
    with output.telling() as tell:
        status = calibrate.run(tuple(parts), asked, place, tell, output.console())
    output.keep(calibrate.document(asked))
    return status
