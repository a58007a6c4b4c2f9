"""Decide whether a commit may go in: base against head, every variant, one verdict.

Exact meters (instructions, allocations, bytes) always finish; wall time takes its budget. Limits
are in [tool.benchproof] of pyproject.toml, accepted regressions in accepted.toml.
Without BASE, the base is the commit at which the gate passed last (reports/gate/passed.json). The
rules are in benchproof's docs/gate.md.

Examples:
  benchproof gate main my-branch                   everything
  benchproof gate HEAD~1 HEAD --meters exact       only what cannot be noise
  benchproof gate main . --bench parsing --impl fast
  benchproof gate main HEAD --builds 3             code layout belongs to the interval
  benchproof gate main HEAD --json g.json --markdown g.md --junit g.xml
  benchproof gate --meters exact --record          HEAD against the last pass; keep a new one
  benchproof gate --meters exact --record --pin 2.1    and show drift since 2.1 from now on

Exit status: 0 no regression, 1 regression, 2 could not measure, 3 a benchmark is undecided and the
project demands `decide = "all"`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from benchproof import files
from benchproof.errors import BenchproofError

from . import options
from .options import argument, flag, option


def command(
    base: Annotated[str, argument("Default: where the gate passed last.", "[BASE]")] = "",
    head: Annotated[str, argument("A commit, or '.' for the working tree.", "[HEAD]")] = "HEAD",
    bench: options.Bench = None,
    json: options.Json = None,
    markdown: Annotated[Path | None, option("For a pull request.", "FILE")] = None,
    junit: Annotated[Path | None, option("For CI systems.", "FILE")] = None,
    impl: options.Impl = "",
    builds: Annotated[
        int | None, option("Build each side N times, laid out anew.", "N", min=1, max=16)
    ] = None,
    budget: options.Budget = None,
    meters: options.Meters = "all",
    quick: options.Quick = False,
    seed: options.Seed = 1,
    force: options.Force = False,
    profile: Annotated[bool, option("Say where the instructions of a regression went.")] = True,
    record: Annotated[bool, flag("Keep HEAD as the last pass, if it is one.", "--record")] = False,
    pin: Annotated[
        str, option("With --record: HEAD is this release; count drift anew.", "NAME")
    ] = "",
    committed: options.Committed = False,
    suites: options.Suites = None,
    reports: options.Reports = None,
    everything: options.All = False,
    records: options.Records = None,
) -> int:
    """Gate a commit."""
    files.forget(json, markdown, junit, records)
    if pin and not record:
        raise BenchproofError("--pin names a pass that is recorded: add --record")
    # What is wrong with the question is said before anything slow is loaded.
    chosen, wanted = options.any_of(bench), options.chosen_meters(meters)
    impls = options.gated_impls(base, head, impl)

    from benchproof import compare, provenance, settings  # noqa: PLC0415  (scipy is slow)
    from benchproof.gate import passed  # noqa: PLC0415
    from benchproof.gate.report import junit as xml  # noqa: PLC0415
    from benchproof.gate.report import markdown as text  # noqa: PLC0415

    place, output = options.place_of(suites), options.Output(json)
    # A table that cannot be meant is told before anything is built.
    settings.load(place.checkout.root)
    asked = compare.Request(
        base, head, chosen, wanted, budget or 0.0, quick, seed, force, committed,
        profile=profile, impls=impls, builds=builds, gate=True,
    )  # fmt: skip
    kept = (reports or place.checkout.root / "reports") / passed.FILE
    warned, since = None, None
    with output.telling() as tell:
        if not base:
            last = passed.load(kept)
            warned, since = last.elsewhere(provenance.cpu_model()), last.pin
            found, words = passed.base(last, place.checkout, head)
            asked = replace(asked, left=found, passed=last.accepted)
            if words:
                tell.line(words)
        if record:
            passed.refuse_part(asked, place)
        outcome = compare.compare(asked, place, tell)
    document = outcome.document
    document["warnings"] += filter(None, [warned])
    document["drift"] = since.drift(document) if since else None
    status = output.compared(outcome, everything=everything, records=records)
    if markdown is not None:
        files.write(text.render(document), markdown)
    if junit is not None:
        files.write(xml.render(document), junit)
    if record and not status:
        commit = passed.record(document, kept, pin).commit
        said = f"recorded: the gate passed at {commit[:10]}; commit {kept}"
        output.console().print(said, highlight=False)
    return status
