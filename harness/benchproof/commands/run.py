"""Measure HEAD: its variants against each other, HEAD against its parent; then the page.

Results go to reports/latest/, the page to reports/html/run.html, and to index.html unless
`benchproof publish` has put the site there; its path is printed last.
Only the comparison of commits can fail the job. It measures the compiled variant, or the pure
one where nothing else changed; --impl chooses.

Examples:
  benchproof run
  benchproof run --quick --bench parsing
  benchproof run --impl pure --json run.json

Exit status: 0 no regression, 1 regression, 2 could not measure.
"""

from benchproof import variants

from . import options


def command(
    bench: options.Bench = None,
    impl: options.Impl = "",
    budget: options.Budget = None,
    meters: options.Meters = "all",
    quick: options.Quick = False,
    seed: options.Seed = 1,
    committed: options.Committed = False,
    suites: options.Suites = None,
    reports: options.Reports = None,
    everything: options.All = False,
    json: options.Json = None,
) -> int:
    """Run the main job."""
    chosen, wanted = options.any_of(bench), options.chosen_meters(meters)

    from benchproof import compare, job  # noqa: PLC0415  (scipy is slow to import)

    place, output = options.place_of(suites), options.Output(json)
    impls = variants.chosen(place.checkout.variants, impl) if impl else ()
    if reports is None:
        for name in ("latest", "html"):
            place.checkout.hide(place.checkout.root / "reports" / name)
    each = budget / 2 if budget else compare.QUICK_BUDGET if quick else job.BUDGET
    request = compare.Request(
        "", "", chosen, wanted, 2 * each, quick, seed, force=False, committed=committed,
        impls=impls,
    )  # fmt: skip
    with output.telling() as tell:
        return job.run(
            request, place, reports or place.checkout.root / "reports", tell, output.console(),
            json, everything=everything,
        )  # fmt: skip
