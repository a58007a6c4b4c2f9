"""List which commits changed which benchmarks, from the kept history. Measures nothing.

A step must lie beyond the meter's noise floor; of what is listed, at most 1 % is expected to be
false. Where the platform changed (kernel, compiler, Python, machine), the canary says so, and the
change is not the commit's (benchproof's docs/changes.md).

Examples:
  benchproof changes                                  all of them, oldest first
  benchproof changes --least 2 --meters instructions  steps of 2 % and more
  benchproof changes --range HEAD~10..HEAD --bench parsing
  benchproof changes --json changes.json

Exit status: 0, or 2 if there is no history.
"""

from pathlib import Path
from typing import Annotated, Literal

from benchproof import suite, variants

from .options import Bench, Impl, Json, Meters, Output, any_of, chosen_meters, option


def command(
    span: Annotated[str, option("Only changes of these commits.", "A..B", "--range")] = "",
    bench: Bench = None,
    meters: Meters = "all",
    impl: Impl = "",
    least: Annotated[float, option("Smallest change to list.", "PERCENT", min=0)] = 0.0,
    kind: Annotated[Literal["code", "platform"] | None, option("code or platform.", "KIND")] = None,
    alpha: Annotated[float, option("Part of the list that may be false.", min=0, max=0.5)] = 0.01,
    results: Annotated[
        Path | None, option("asv's results; default: those of reports/.", "DIR")
    ] = None,
    json: Json = None,
) -> int:
    """List changes."""
    from benchproof.changes import listing  # noqa: PLC0415  (--help should be fast)
    from benchproof.checkout import Checkout  # noqa: PLC0415

    output = Output(json)
    checkout = Checkout.around(Path.cwd())
    folder = results or checkout.root / "reports" / "results" / "asv"
    only = "" if impl in variants.ALL else impl
    pattern, wanted = suite.expression(any_of(bench)), chosen_meters(meters)
    with output.telling() as tell:
        history, changes = listing.search(span, alpha, checkout, folder, tell)
    changes = listing.chosen(changes, pattern, wanted, only, least / 100, kind or "")
    output.keep(listing.document(changes, history, alpha))
    listing.show(changes, history, output.console())
    return 0
