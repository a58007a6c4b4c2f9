"""The judged ledger as data, for the dashboard's page of claims (`benchproof.site.claimed`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchproof.site import claimed

from . import words
from .table import where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .judge import Finding, RowFindings

FILE = claimed.FILE


def text(rows: Sequence[RowFindings]) -> str:
    """It as JSON, in lines, so that a change of it can be read."""
    return json.dumps(document(rows), ensure_ascii=False, indent=1) + "\n"


def document(rows: Sequence[RowFindings]) -> dict[str, Any]:
    """What `FILE` holds of some judged rows: words and verdicts, nothing to be judged again."""
    pages: dict[str, dict[str, Any]] = {}
    for found in rows:
        about = found.row.page
        page = pages.setdefault(
            about.id, {"id": about.id, "title": about.title, "url": about.url, "rows": []}
        )
        page["rows"] += _lines(found)
    return {
        "kind": claimed.KIND,
        "schema": claimed.SCHEMA,
        "summary": words.summary(rows),
        "tally": dict(words.tally([finding for found in rows for finding in found.findings])),
        "pages": list(pages.values()),
    }


def _lines(found: RowFindings) -> list[dict[str, Any]]:
    """The figures of a row; a row without figures is one line of its own."""
    row = {
        "id": found.row.id, "change": found.row.change, "where": where(found),
        "commit": next((run.right for run in found.runs.values()), ""),
    }  # fmt: skip
    if not found.findings:
        verdict = "no figure" if not found.why else "not measured"
        return [row | {
            "case": "", "published": "nothing", "about": found.row.no_figure, "claimed": "",
            "python": "", "cython": "", "verdict": verdict, "why": found.why,
        }]  # fmt: skip
    return [row | _figure(finding) for finding in found.findings]


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
        "claimed": words.claimed(figure), "verdict": finding.verdict,
        "why": "; ".join(filter(None, (words.by_what(finding), finding.why))),
    } | sides  # fmt: skip
