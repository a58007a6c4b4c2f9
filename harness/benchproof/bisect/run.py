"""`benchproof bisect`: what is asked, the search, its culprit against its parent, how it reads."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchproof import (
    compare,
    errors,
    listing,
    meters,
    provenance,
    settings,
    suite,
    variants,
)
from benchproof.checkout import Place
from benchproof.errors import BenchproofError, BisectError, SelectionError, TargetError, meant
from benchproof.grids import borderless, print_whole, say
from benchproof.history.loops import Loops
from benchproof.history.measure import Measurer
from benchproof.processes import Crew
from benchproof.profile import explain as profile
from benchproof.progress import Teller
from benchproof.results import now
from benchproof.suite import Case

from . import line
from .search import Search, one_of

SCHEMA = 1
#: A search that found its commit: nothing is wrong with the search.
FOUND = 0
#: A culprit with less of the whole change than this has company.
_ALONE = 0.9


def check(meter: str) -> None:
    """Refuse a meter that cannot tell commits apart by one build each.

    Raises:
        SelectionError: it is no exact meter, or this machine does not have it.
    """
    exact = [name for name, each in meters.METERS.items() if each.exact]
    if meter not in exact:
        raise SelectionError(
            f"--meter {meter!r}: a search needs a meter that one process decides: "
            f"{', '.join(exact)}{meant(meter, exact)}"
        )
    if meters.why_not(meter):
        raise SelectionError(f"{meter} cannot be measured: {meters.why_not(meter)}")


def ends(span: str) -> tuple[str, str]:
    """Read GOOD..BAD; BAD may be left out, and is HEAD then.

    Raises:
        TargetError: it is no range.
    """
    good, dots, bad = span.partition("..")
    if not dots or not good or bad.startswith("."):
        raise TargetError(f"{span!r} is no range: write GOOD..BAD")
    return good, bad or "HEAD"


def run(
    bench: str, span: str, place: Place, tell: Teller, *, impl: str = "",
    meter: str = "instructions", least: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Search, confirm, and tell all in one document.

    Args:
        bench: a benchmark's name, or an expression that only one matches.
        span: ``GOOD..BAD``.
        place: the checkout.
        tell: hears of it.
        impl: variant of the builds; "": the first one that can be built here.
        meter: an exact one.
        least: the smallest change worth searching, as a part of 1; None: the project's.

    Raises:
        BenchproofError: there is nothing to find, or an end cannot be measured.
        StoppedError: Ctrl-C; builds are kept, so that the next search goes on quickly.
    """
    check(meter)
    checkout = place.checkout
    good, bad = (checkout.commit(end) for end in ends(span))
    stops = line.between(checkout, good, bad)
    if len(stops) == 1:
        raise BisectError(f"{span}: no commit of it changes what is built")
    impl = _one_variant(impl, place, bad)
    listed = listing.found(place, bad[:12] + f"@impl:{impl}" * bool(impl), tell)
    if left_out := suite.left_out(listed, suite.expression(bench)):
        tell.line(suite.told(left_out))
    case = one_of(suite.from_rows(listed), bench)
    limit = settings.load(checkout.root).limit(meter, case.name)
    if least is not None:
        limit = replace(limit, ratio=least)
    with Crew() as crew:
        measurer = Measurer(place, [case], Loops(crew.scratch), crew)
        search = Search(measurer, case, meter, impl, limit, tell)
        try:
            found = search.find(stops)
        except KeyboardInterrupt as stop:
            raise errors.StoppedError(
                "stopped: what was built is kept for the next search"
            ) from stop
    document: dict[str, Any] = {
        "kind": "bisect",
        "schema": SCHEMA,
        "created": now(),
        "benchmark": case.name,
        "meter": meter,
        "unit": meters.METERS[meter].unit,
        "impl": impl,
        "span": span,
        "good": search.stops[0].commits[-1],
        "bad": search.stops[-1].commits[-1],
        "limit": limit.ratio,
        "left": search.ends[0],
        "right": search.ends[1],
        "stops": len(stops),
        "builds": len(search.values),
        "tried": search.tried,
        "provenance": provenance.gather(place.toolchain),
        "lost": [{"commit": each, "subject": checkout.subject(each)} for each in found.lost],
        "before": found.narrowed.before,
        "after": found.narrowed.after,
        "share": found.narrowed.share,
        "culprit": {"commit": found.culprit, "subject": checkout.subject(found.culprit)},
        "comparison": None,
        "profile": [],
    }
    if not found.lost:
        document |= confirm(found.culprit, case, impl, place, tell)
    return document | {"verdict": conclude(document)}


def _one_variant(asked: str, place: Place, commit: str) -> str:
    """The variant that is counted; "" of a project that names none.

    Raises:
        SelectionError: several were chosen.
        TargetError: it is none of the project, or none can be built here.
    """
    known = place.checkout.variants
    found = variants.chosen(known, asked) if asked else variants.of(place.checkout, commit)
    if asked and len(found) > 1:
        raise SelectionError(f"--impl {asked!r}: a search counts one variant")
    compiled = {each.name for each in known if each.kind == "compiled"}
    here = [name for name in found if asked or place.toolchain.compiles or name not in compiled]
    return here[0] if here else ""


def confirm(culprit: str, case: Case, impl: str, place: Place, tell: Teller) -> dict[str, Any]:
    """Compare a commit with its parent by the exact meters.

    Returns:
        The document's `comparison` (as `benchproof compare` keeps it; None if it failed, with
        `why`) and `profile`.
    """
    exact = tuple(name for name, meter in meters.METERS.items() if meter.exact)
    mark = f"@impl:{impl}" if impl else ""
    request = compare.Request(
        f"{culprit[:12]}~1{mark}", f"{culprit[:12]}{mark}",
        f"^{re.escape(case.name)}$", exact, committed=True, profile=True, todays=True,
        title=f"The culprit {culprit[:10]} against its parent",
    )  # fmt: skip
    try:
        comparison = compare.compare(request, place, tell).document
    except BenchproofError as error:
        return {"comparison": None, "why": str(error)}
    profiled = comparison["cases"][0].get("profile", []) if comparison["cases"] else []
    return {"comparison": comparison, "profile": profiled}


def conclude(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the search found, in a word, a sentence and an exit status."""
    name = f"{document['culprit']['commit'][:10]} ({document['culprit']['subject']})"
    cost = f"{document['builds']} builds for {document['stops']} different ones"
    judged = (document["comparison"] or {"cases": []})["cases"]
    meter = judged[0]["meters"].get(document["meter"], {}) if judged else {}
    status, code = "not confirmed", errors.COULD_NOT_MEASURE
    if document["lost"]:
        status = "range"
        words = (f"one of {len(document['lost']) + 1} commits up to {name}: the others of them "
                 "cannot be measured")  # fmt: skip
    elif meter.get("verdict") not in {"regressed", "improved"}:
        why = document.get("why") or meter.get("verdict") or "it was not measured"
        if judged and judged[0]["why"]:
            why = f"{judged[0]['status']}: {judged[0]['why']}"
        words = f"{name} was found, but comparing it with its parent does not confirm it: {why}"
    else:
        status, code = "found", FOUND
        size = "from zero" if meter["ratio"] is None else f"x {meter['ratio']:.4g}"
        words = f"{name} {meter['verdict']} {document['benchmark']}: {document['meter']} {size}"
        if abs(document["share"] - 1) > 1 - _ALONE:
            words += f", {document['share'] * 100:.0f} % of the whole change"
    return {"status": status, "exit": code, "summary": f"{words}; {cost}"}


def show(document: Mapping[str, Any], console: Console) -> None:
    """Print a search: what was tried, where the change went, the culprit."""
    console.print()
    variant = f" [{document['impl']}]" if document["impl"] else ""
    say(console, f"{document['benchmark']}{variant}, {document['meter']} a call, "
         f"{document['span']}", "bold")  # fmt: skip
    print_whole(console, _tried(document))
    for shrunk in (False, True):
        if any((row["change"] < 0) == shrunk for row in document["profile"]):
            print_whole(console, profile.table(document["profile"], shrunk=shrunk))
    for each in document["lost"]:
        say(console, f"cannot be measured: {each['commit'][:10]} {each['subject']}", "yellow")
    found = document["verdict"]
    say(console, f"{found['status']}: {found['summary']}",
         "bold green" if found["exit"] == 0 else "bold yellow")  # fmt: skip


def _tried(document: Mapping[str, Any]) -> Table:
    """What was measured, in the order of the search."""
    grid = borderless("commit", f"{document['meter']}:", "like", "subject")
    middle = (document["before"] + document["after"]) / 2
    upwards = document["after"] > document["before"]
    for each in document["tried"]:
        value = each["value"]
        if value is None:
            cells = (Text("-"), Text("skipped", style="yellow"), Text(each["why"] or ""))
        else:
            new = (value > middle) == upwards
            like = Text("BAD", style="red") if new else Text("GOOD", style="green")
            cells = (Text(f"{value:,.10g}"), like, Text(each["subject"]))
        grid.add_row(Text(each["commit"][:10]), *cells)
    return grid
