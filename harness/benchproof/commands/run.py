"""`benchproof run`."""

from __future__ import annotations

from rich.console import Console

from .options import (
    All,
    Bench,
    Budget,
    Committed,
    Meters,
    Quick,
    Reports,
    Seed,
    Suites,
    chosen_meters,
    place_of,
    seconds,
)

HELP = """Measure HEAD: Cython against pure Python, HEAD against its parent; then the page.

Results go to reports/latest/, the page to reports/html/run.html, and to index.html unless
`benchproof publish` has put the site there; its path is printed last.
Only the comparison of commits can fail the job.

\b
Examples:
  benchproof run
  benchproof run --quick --bench routing_key

Exit status: 0 no regression, 1 regression, 2 could not measure.
"""


def command(
    bench: Bench = "",
    budget: Budget = None,
    meters: Meters = "all",
    quick: Quick = False,
    seed: Seed = 1,
    committed: Committed = False,
    suites: Suites = None,
    reports: Reports = None,
    everything: All = False,
) -> int:
    """Run the main job."""
    from benchproof import compare, job, unseen  # noqa: PLC0415  (as above)
    from benchproof.progress import telling  # noqa: PLC0415

    place = place_of(suites)
    if reports is None:
        for name in ("latest", "html"):
            unseen.hide(place.checkout, place.checkout.root / "reports" / name)
    each = budget / 2 if budget else seconds(None, quick=True) if quick else job.BUDGET
    request = compare.Request(
        "", "", bench, chosen_meters(meters), 2 * each, quick, seed, force=False,
        committed=committed,
    )  # fmt: skip
    with telling(Console(stderr=True)) as tell:
        return job.run(
            request, place, reports or place.checkout.root / "reports", tell, Console(),
            everything=everything,
        )  # fmt: skip
