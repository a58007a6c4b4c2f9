"""Pages of what other programs have kept: a ledger of published claims, a comparison with others.

They show what those have judged and measured; nothing is judged, measured or ranked here.
"""

from __future__ import annotations

import base64
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


def ledger_page(ledger: Mapping[str, Any]) -> dict[str, Any]:
    """What the page of the ledger is told; `ledger` is the contents of `FILE`, or empty."""
    return {
        "pages": [
            (each, [_line(row, before)
                    for row, before in zip(each["rows"], [{}, *each["rows"]], strict=False)])
            for each in ledger.get("pages", ())
        ],
        "summary": ledger.get("summary", ""),
        "tally": ledger.get("tally", {}),
        "verdicts": VERDICTS,
    }  # fmt: skip


def _line(row: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """A figure, with how its verdict looks."""
    look, sign = VERDICTS[row["verdict"]]
    return {**row, "look": look, "sign": sign, "first": before.get("id") != row["id"]}


def card(ledger: Mapping[str, Any]) -> dict[str, str] | None:
    """What the overview says of them."""
    tally = ledger.get("tally", {})
    if not tally:
        return None
    failed = tally.keys() & {"reversed", "not reproduced"}
    held = sum(tally.get(verdict, 0) for verdict in ("exceeded", "reproduced"))
    return {
        "look": "regressed" if failed else "broken" if "not measured" in tally else "improved",
        "headline": f"{held} of {sum(tally.values())} reproduced or exceeded",
        "summary": ledger["summary"],
    }


def board_page(board: Mapping[str, Any]) -> dict[str, Any]:
    """What the page of the comparison is told; `board` is what was kept of it, or empty.

    Raises:
        KeyError, TypeError, AttributeError: those contents are something else.
    """
    if not board:
        return {"board": None}
    picture = base64.b64encode(board["picture"].encode()).decode()
    return {
        "board": {
            "title": board["title"], "about_picture": board["about_picture"],
            "paragraphs": list(board["paragraphs"]), "notes": list(board["notes"]),
            # A picture of its own: its styles are not the page's, and its scripts do not run.
            "picture": f"data:image/svg+xml;base64,{picture}",
            "tables": [
                {"title": table["title"], "columns": list(table["columns"]),
                 "rows": [[{"text": cell["text"], "best": cell["best"]} for cell in row]
                          for row in table["rows"]]}
                for table in board["tables"]
            ],
        },
    }  # fmt: skip


#: By page: the file in the folder of reports, what it is, its newest schema, what the page is told.
KEPT = {
    "ledger.html": (FILE, "ledger of published claims", SCHEMA, ledger_page),
    "leaderboard.html": ("leaderboard.json", "comparison with others", 1, board_page),
}
