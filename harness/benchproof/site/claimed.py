"""A ledger of published claims as a page of the site, and as a card on its overview.

It shows what a ledger's own program has judged and kept (`FILE`); nothing is judged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: In the folder of reports, and what is in it.
FILE, KIND, SCHEMA = "claims.json", "claims judged", 1
#: Of each verdict, in the order of the tally: how the style sheet calls what it looks like, and a
#: sign for readers who do not see colours.
VERDICTS = {
    "reproduced": ("improved", "="),
    "smaller than claimed": ("equivalent", "<"),
    "not reproduced": ("broken", "\N{NOT EQUAL TO}"),
    "reversed": ("regressed", "\N{BLACK UP-POINTING TRIANGLE}"),
    "not measured": ("undecided", "?"),
    "not measurable here": ("not-applicable", "-"),
    "no figure": ("undecided", "\N{MIDDLE DOT}"),
}


def page(ledger: Mapping[str, Any], why: str, commit_base: str) -> dict[str, Any]:
    """What the page of the ledger is told; `ledger` is the contents of `FILE`, or empty."""
    return {
        "why": why,
        "pages": [
            (each, [_line(row, before, commit_base)
                    for row, before in zip(each["rows"], [{}, *each["rows"]], strict=False)])
            for each in ledger.get("pages", ())
        ],
        "summary": ledger.get("summary", ""),
        "tally": ledger.get("tally", {}),
        "verdicts": VERDICTS,
    }  # fmt: skip


def _line(row: Mapping[str, Any], before: Mapping[str, Any], commit_base: str) -> dict[str, Any]:
    """A figure, with the place of its row's commit."""
    look, sign = VERDICTS[row["verdict"]]
    url = commit_base + row["commit"] if commit_base and row["commit"] else ""
    return {**row, "look": look, "sign": sign, "url": url, "first": before.get("id") != row["id"]}


def card(ledger: Mapping[str, Any]) -> dict[str, str] | None:
    """What the overview says of them."""
    tally = ledger.get("tally", {})
    if not tally:
        return None
    failed = tally.keys() & {"reversed", "not reproduced"}
    return {
        "look": "regressed" if failed else "broken" if "not measured" in tally else "improved",
        "headline": f"{tally.get('reproduced', 0)} of {sum(tally.values())} reproduced",
        "summary": ledger["summary"],
    }
