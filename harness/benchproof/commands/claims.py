"""`benchproof claims`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads annotations at run time)
from typing import Annotated

import typer

from . import options
from .output import Output

HELP = """Measure published figures: each on the commit that carries its change.

The ledger (claims.toml) holds the figures. The commit of a row has the trailer 'Claim: ROW'; it is
measured against its parent, pure and compiled, and every figure gets a verdict: reproduced, smaller
than claimed, not reproduced, reversed, not measurable here, not measured (docs/claims.md).
Results are kept in reports/results/claims/; reports/claims.md is written from all that are kept. A
--quick run is a try, which is printed and not kept.

\b
Examples:
  benchproof claims                          every row of the ledger
  benchproof claims 799-1 805-7              two rows
  benchproof claims 799-1 --quick            a rough look
  benchproof claims 748-2 --impl cython --meters instructions,allocations,bytes
  benchproof claims --from reports/results/claims     judge again, without measuring
  benchproof claims --ledger mine.toml --suites bench/ --json mine.json.gz

Exit status: 0 every claim holds, at least in part; 1 one is not reproduced or reversed;
2 one could not be measured.
"""


def command(
    rows: Annotated[
        list[str] | None, typer.Argument(metavar="[ROW...]", help="Rows; all if none is named.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: claims.toml of the checkout.")
    ] = None,
    stored: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Judge kept results (a file or a folder)."),
    ] = None,
    json: options.Json = None,
    budget: options.Budget = None,
    meters: options.Meters = "all",
    quick: options.Quick = False,
    impl: options.Impl = "",
    seed: options.Seed = 1,
    suites: options.Suites = None,
    reports: options.Reports = None,
) -> int:
    """Measure published figures."""
    from benchproof import variants  # noqa: PLC0415  (as above)
    from benchproof.claims import command  # noqa: PLC0415  (as above)
    from benchproof.compare import Request  # noqa: PLC0415

    place = options.place_of(suites)
    output = Output(json)
    request = Request(
        "", "", meters=options.chosen_meters(meters), budget=budget or 0.0, quick=quick, seed=seed,
        committed=True,
    )  # fmt: skip
    asked = command.Asked(
        tuple(rows or ()), ledger or place.checkout.root / "claims.toml",
        variants.chosen(place.checkout.variants, impl), request,
        reports or place.checkout.root / "reports", json, stored,
    )  # fmt: skip
    with output.telling() as tell:
        return command.run(asked, place, tell, output.console())
