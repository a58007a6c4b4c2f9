"""The culprit against its parent, in the usual way; and which functions the change went to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benchproof import compare, meters
from benchproof.errors import COULD_NOT_MEASURE, BenchproofError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchproof.compare import Place
    from benchproof.progress import Teller
    from benchproof.suite import Case
    from benchproof.targets import Implementation

#: A search that found its commit: nothing is wrong with the search.
FOUND = 0
#: A culprit with less of the whole change than this has company.
_ALONE = 0.9


def confirm(
    culprit: str, case: Case, impl: Implementation, place: Place, tell: Teller
) -> dict[str, Any]:
    """Compare a commit with its parent by the exact meters.

    Returns:
        The document's `comparison` (as `benchproof compare` keeps it; None if it failed, with
        `why`) and `profile`.
    """
    exact = tuple(name for name, meter in meters.METERS.items() if meter.exact)
    request = compare.Request(
        f"{culprit[:12]}~1@impl:{impl}", f"{culprit[:12]}@impl:{impl}",
        f"^{re.escape(case.name)}$", exact, committed=True, profile=True,
        title=f"The culprit {culprit[:10]} against its parent",
    )  # fmt: skip
    try:
        comparison = compare.compare(request, place, tell).document
    except BenchproofError as error:
        return {"comparison": None, "why": str(error)}
    profile = comparison["cases"][0].get("profile", []) if comparison["cases"] else []
    return {"comparison": comparison, "profile": profile}


def conclude(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the search found, in a word, a sentence and an exit status."""
    name = f"{document['culprit']['commit'][:10]} ({document['culprit']['subject']})"
    cost = f"{document['builds']} builds for {document['stops']} different ones"
    if document["lost"]:
        count = len(document["lost"]) + 1
        words = f"one of {count} commits up to {name}: the others of them cannot be measured"
        return {"status": "range", "exit": COULD_NOT_MEASURE, "summary": f"{words}; {cost}"}
    judged = (document["comparison"] or {"cases": []})["cases"]
    meter = judged[0]["meters"].get(document["meter"], {}) if judged else {}
    if meter.get("verdict") not in {"regressed", "improved"}:
        why = document.get("why") or meter.get("verdict") or "it was not measured"
        if judged and judged[0]["why"]:
            why = f"{judged[0]['status']}: {judged[0]['why']}"
        words = f"{name} was found, but comparing it with its parent does not confirm it: {why}"
        return {"status": "not confirmed", "exit": COULD_NOT_MEASURE, "summary": f"{words}; {cost}"}
    ratio = meter["ratio"]
    size = "from zero" if ratio is None else f"x {ratio:.4g}"
    words = f"{name} {meter['verdict']} {document['benchmark']}: {document['meter']} {size}"
    if abs(document["share"] - 1) > 1 - _ALONE:
        words += f", {document['share'] * 100:.0f} % of the whole change"
    return {"status": "found", "exit": FOUND, "summary": f"{words}; {cost}"}
