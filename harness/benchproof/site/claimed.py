"""The ledger of claims as a page of the site, and as a card on its overview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchproof.claims import policy, words
from benchproof.claims.table import where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchproof.claims.judge import Finding, RowFindings
    from benchproof.claims.policy import Verdict

#: How the style sheet calls what each verdict looks like.
LOOKS: dict[Verdict, str] = {
    "reproduced": "improved", "smaller than claimed": "equivalent", "not reproduced": "broken",
    "reversed": "regressed", "not measured": "undecided", "not measurable here": "not-applicable",
}  # fmt: skip
_CARD = ("improved", "regressed", "broken")


def page(rows: Sequence[RowFindings], why: str, commit_base: str) -> dict[str, Any]:
    """What the page of the ledger is told."""
    pages: dict[str, list[RowFindings]] = {}
    for found in rows:
        pages.setdefault(found.row.page.id, []).append(found)
    findings = [finding for found in rows for finding in found.findings]
    return {
        "why": why,
        "pages": [
            (own[0].row.page, [line for found in own for line in _lines(found, commit_base)])
            for own in pages.values()
        ],
        "summary": words.summary(rows) if rows else "",
        "tally": words.tally(findings),
        "looks": LOOKS,
        "signs": words.SIGNS,
    }


def card(rows: Sequence[RowFindings]) -> dict[str, str] | None:
    """What the overview says of them."""
    verdicts = [finding.verdict for found in rows for finding in found.findings]
    if not verdicts:
        return None
    kept = verdicts.count("reproduced")
    return {
        "look": _CARD[policy.exit_status(verdicts)],
        "headline": f"{kept} of {len(verdicts)} reproduced",
        "summary": words.summary(rows),
    }


def _lines(found: RowFindings, commit_base: str) -> list[dict[str, Any]]:
    """The figures of a row; a row without figures is one line of its own."""
    commit = next((run.right for run in found.runs.values()), "")
    row = {
        "id": found.row.id, "change": found.row.change, "where": where(found),
        "url": commit_base + commit if commit_base and commit else "",
    }  # fmt: skip
    if not found.findings:
        verdict = "no figure" if not found.why else "not measured"
        return [row | {
            "first": True, "case": "", "published": "nothing", "about": found.row.no_figure,
            "claimed": "", "python": "", "cython": "", "look": "undecided", "sign": "·",
            "verdict": verdict, "why": found.why,
        }]  # fmt: skip
    return [
        row | _figure(finding) | {"first": at == 0} for at, finding in enumerate(found.findings)
    ]


def _figure(finding: Finding) -> dict[str, str]:
    figure = finding.figure
    sides = {
        impl: words.measured(figure, finding.judged[impl]) if impl in finding.judged else "-"
        for impl in ("python", "cython")
    }
    part = ", of a part" if figure.scope == "part" else ""
    return {
        "case": figure.case, "published": words.published(figure),
        "about": f"{figure.metric}{part}; {figure.table.where}; {figure.table.python}",
        "claimed": words.claimed(figure), "look": LOOKS[finding.verdict],
        "sign": words.SIGNS[finding.verdict], "verdict": finding.verdict, "why": finding.why,
    } | sides  # fmt: skip
