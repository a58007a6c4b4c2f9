"""Pages of what other programs have kept: a ledger of published claims, a comparison with others.

They show what those have judged and measured; nothing is judged, measured or ranked here.
"""

from collections.abc import Mapping
from typing import Any

#: The ledger, in the folder of reports, and what is in it.
FILE, KIND, SCHEMA = "claims.json", "claims judged", 2
#: Of each verdict, in the order of the tally: how the style sheet calls what it looks like, and a
#: sign for readers who do not see colours.
VERDICTS = {
    "exceeded": ("improved", ">"),
    "reproduced": ("improved", "="),
    "smaller than claimed": ("equivalent", "<"),
    "not reproduced": ("broken", "\N{NOT EQUAL TO}"),
    "reversed": ("regressed", "\N{BLACK UP-POINTING TRIANGLE}"),
    "not exercised": ("not-applicable", "\N{EMPTY SET}"),
    "not measured": ("undecided", "?"),
    "not measurable here": ("not-applicable", "-"),
    "judged case by case": ("undecided", "\N{MIDDLE DOT}"),
    "technique, not claim": ("not-applicable", "\N{MIDDLE DOT}"),
    "no figure": ("undecided", "\N{MIDDLE DOT}"),
}


def card(ledger: Mapping[str, Any] | None) -> dict[str, str] | None:
    """What the overview says of the ledger: the contents of `FILE`, or nothing."""
    if not ledger:
        return None
    tally = ledger["tally"]
    failed = tally.keys() & {"reversed", "not reproduced"}
    held = sum(tally.get(verdict, 0) for verdict in ("exceeded", "reproduced"))
    return {
        "look": "regressed" if failed else "broken" if "not measured" in tally else "improved",
        "headline": f"{held} of {sum(tally.values())} reproduced or exceeded",
        "summary": ledger["summary"],
    }


#: By page: the file in the folder of reports, what it is, its newest schema.
KEPT = {
    "ledger.html": (FILE, "ledger of published claims", SCHEMA),
    "leaderboard.html": ("leaderboard.json", "comparison with others", 1),
}
