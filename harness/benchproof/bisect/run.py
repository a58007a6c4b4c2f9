"""One search from the question to the document: evidence, ends, narrowing, a confirmation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchproof import listing, meters, provenance, results, settings, suite, variants
from benchproof.build import Builder
from benchproof.errors import BisectError, BuildError, StoppedError, TargetError
from benchproof.processes import Crew

from . import confirm, evidence, line
from .asked import Asked, check, ends
from .probe import Prober
from .search import Search, one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchproof.compare import Place
    from benchproof.progress import Teller
    from benchproof.suite import Case
    from benchproof.targets import Implementation
    from benchproof.verdict import Limit

    from .line import Stop

SCHEMA = 1
#: Where the history is kept.
RESULTS = "reports/results/asv"


def run(asked: Asked, place: Place, tell: Teller) -> dict[str, Any]:
    """Search, confirm, and tell all in one document.

    Raises:
        BenchproofError: there is nothing to find, or an end cannot be measured.
        StoppedError: Ctrl-C; builds are kept, so that the next search goes on quickly.
    """
    check(asked)
    good, bad = ends(asked.span)
    checkout = place.checkout
    stops = line.between(checkout, checkout.commit(good), checkout.commit(bad))
    if len(stops) == 1:
        raise BisectError(f"{asked.span}: no commit of it changes what is built")
    known = listing.early(place.suites, checkout)
    if known is not None:
        one_of(suite.from_rows(known), asked.bench)
    impl = asked.impl or _usual(place, checkout.commit(bad))
    with Crew() as crew:
        builder = Builder(checkout, place.cache, crew, place.toolchain)
        prober = Prober(builder, crew, place.suites.resolve(), crew.scratch, impl, asked.meter)
        search = Search(place, prober, tell)
        try:
            case, limit, searched = _begin(search, stops, asked)
            found = search.among(searched, *search.ends)
        except KeyboardInterrupt as stop:
            raise StoppedError("stopped: what was built is kept for the next search") from stop
    document: dict[str, Any] = {
        "kind": "bisect",
        "schema": SCHEMA,
        "created": results.now(),
        "benchmark": case.name,
        "meter": asked.meter,
        "unit": meters.METERS[asked.meter].unit,
        "impl": impl,
        "span": asked.span,
        "good": searched[0].commits[-1],
        "bad": searched[-1].commits[-1],
        "limit": limit.ratio,
        "left": search.ends[0],
        "right": search.ends[1],
        "stops": len(stops),
        "builds": len(prober.builds),
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
        document |= confirm.confirm(found.culprit, case, impl, place, tell)
    return document | {"verdict": confirm.conclude(document)}


def _usual(place: Place, commit: str) -> Implementation:
    """Compiled, where the project has that and a compiler works; else pure Python."""
    has = variants.of(place.checkout, commit)
    return "cython" if "cython" in has and place.toolchain.compiles else "python"


def _begin(
    search: Search, stops: Sequence[Stop], asked: Asked
) -> tuple[Case, Limit, Sequence[Stop]]:
    """Measure the ends of what is searched: of what the history names, or else of all of it.

    Raises:
        BenchproofError: there is nothing to find, or an end cannot be measured.
    """
    place, impl = search.place, search.prober.impl
    results = place.checkout.root / RESULTS
    known = evidence.hint(results, place.checkout, stops, asked.bench, asked.meter, impl)
    if known is not None:
        first, last = known
        inner = stops[first : last + 1]
        search.tell.line(
            f"the kept history names {inner[-1].first[:10]}: looking at {len(inner)} builds first"
        )
        try:
            case = search.begin(inner, asked.bench)
            limit = _limit(asked, place, case)
            _refuse_nothing(search.ends, limit, asked)
        except (BisectError, BuildError, TargetError) as error:
            search.tell.line(f"that was no help ({error}): looking at all {len(stops)} builds")
        else:
            return case, limit, inner
    case = search.begin(stops, asked.bench)
    limit = _limit(asked, place, case)
    _refuse_nothing(search.ends, limit, asked)
    return case, limit, stops


def _limit(asked: Asked, place: Place, case: Case) -> Limit:
    """The smallest change worth searching."""
    limit = settings.load(place.checkout.root).limit(asked.meter, case.name)
    return limit if asked.limit is None else replace(limit, ratio=asked.limit)


def _refuse_nothing(ends: tuple[float, float], limit: Limit, asked: Asked) -> None:
    """Stop where both ends are equal.

    Raises:
        BisectError: they are, within the limit.
    """
    before, after = ends
    if abs(after - before) <= max(limit.ratio * abs(before), limit.floor):
        raise BisectError(
            f"there is nothing to find in {asked.span}: {asked.meter} went from {before:,.10g} to "
            f"{after:,.10g}, which is within the limit of {limit.ratio * 100:g} %"
        )
