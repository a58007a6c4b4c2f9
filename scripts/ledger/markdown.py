"""The ledger's report as Markdown, for a repository: every figure beside what was measured."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from . import policy, words
from .table import where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .figures import Page, Row
    from .judge import Finding, RowFindings

_HEAD = (
    "| row | case | stands in | claimed | compared as | pure | compiled | verdict |",
    "|:--|:--|:--|:--|:--|:--|:--|:--|",
)

_INTRODUCTION = (
    "Written by `scripts/claims`; edits are lost. [How a figure is judged](../docs/claims.md), "
    "[how it is measured](../docs/measuring.md)."
)
_WHOSE = (
    "What was measured is our own re-implementation: commits of this project that implement a "
    "page's idea again, not the code of the page's authors ([that is measured apart]"
    "(originals.md)). The code that they change was first written the plain way, so that each "
    "optimisation could be a commit of its own. A figure that was not reproduced says that the "
    "idea does not gain that much here, and nothing about what its author measured."
)
_COUNTED = (
    "What is counted: each published number once for each place that gives it. Ranges whose cases "
    "are judged one by one, and pages in another language, of which only the technique was tried, "
    "are shown and not counted."
)
_READING = (
    "Ratios are after / before: below 1 is less. A time's ratio has its interval behind it, and "
    "the ratio of instructions beside it. Where a page counts what went away, what went away is "
    "compared. Nanoseconds of two machines never are. Reproduced means that the whole interval "
    f"lies above {policy.ENOUGH:.0%} of the claimed gain, exceeded that it lies above "
    f"{policy.MOST:.0%} of it."
)


def report(rows: Sequence[RowFindings], pictures: Mapping[str, str]) -> str:
    """Write the report.

    Args:
        rows: judged, in the ledger's order.
        pictures: by page, the path of its picture, as seen from the report.

    Returns:
        Markdown that ends in a newline.
    """
    findings = [finding for found in rows for finding in found.findings]
    lines = [
        "# Published claims, measured here", "",
        _INTRODUCTION, "",
        _WHOSE, "",
        _interpreters(rows), "",
        f"**{words.summary(rows)}.**", "",
        "| verdict | figures |", "|:--|--:|",
        *(f"| {words.SIGNS[v]} {v} | {n} |" for v, n in words.tally(findings).items()), "",
        _COUNTED, "",
        _READING, "",
        *_conditions(rows),
    ]  # fmt: skip
    for page in dict.fromkeys(found.row.page for found in rows):
        lines += _page(page, [found for found in rows if found.row.page == page], pictures)
    return "\n".join(lines) + "\n"


def _page(page: Page, rows: Sequence[RowFindings], pictures: Mapping[str, str]) -> list[str]:
    lines = [f"## {page.title}", "", f"<{page.url}>", ""]
    if page.technique:
        lines += [f"Technique, not claim: {page.technique}.", ""]
    if page.id in pictures:
        lines += [f"![claimed against measured, {page.title}]({pictures[page.id]})", ""]
    lines += ["| row | change | commit |", "|:--|:--|:--|"]
    lines += [f"| {f.row.id} | {_cell(f.row.change)} | {_cell(where(f))} |" for f in rows]
    lines.append("")
    figures = [finding for found in rows for finding in found.findings]
    if figures:
        costs = [_cost(found.row) for found in rows if found.row.cost]
        lines += [*_HEAD, *map(_line, figures), *costs, ""]
        tables = dict.fromkeys(finding.figure.table for finding in figures)
        lines += [f"- published in the {t.where}: {t.python}; {t.conditions}" for t in tables]
    lines += [f"- {'; '.join(about)}: {text}"
              for text, about in words.reasons(figures, rows=True).items()]  # fmt: skip
    for found in rows:
        if found.row.no_figure:
            lines.append(f"- {found.row.id}: no figure, {found.row.no_figure}")
        lines += [f"  - `{name}`, {impl}: {words.meters(meters)}"
                  for name, impl, meters in found.also]  # fmt: skip
    return [*lines, ""]


def _line(finding: Finding) -> str:
    figure = finding.figure
    sides = [
        words.measured(figure, finding.judged[impl]) if impl in finding.judged else "-"
        for impl in ("python", "cython")
    ]
    said = f"{words.published(figure)} ({figure.metric}{', a part' * (figure.scope == 'part')})"
    cells = (figure.row, figure.case, figure.table.where, said, words.claimed(figure), *sides,
             words.verdict(finding))  # fmt: skip
    return f"| {' | '.join(map(_cell, cells))} |"


def _cost(row: Row) -> str:
    """A line of the table for what no figure of the page says."""
    cells = (row.id, "its cost", "on no page", "nothing", "-", "-", "-",
             f"{words.SIGNS['reversed']} {row.cost}")  # fmt: skip
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _interpreters(rows: Sequence[RowFindings]) -> str:
    """On which interpreter it was measured, beside those that the pages name."""
    runs = [run for found in rows for run in found.runs.values() if run.document and run.right]
    here = sorted({run.document["provenance"]["python"] for run in runs})
    counted = [each.figure for found in rows for each in found.findings if each.counts]
    named = Counter(
        ".".join(each.table.python.split(".")[:2])
        for each in counted if each.table.python.startswith("CPython")
    )  # fmt: skip
    pages = ", ".join(f"{number} name {python}" for python, number in named.most_common())
    return (
        f"It was measured on {', '.join(here) or 'nothing yet'}. Of the pages' {len(counted)} "
        f"figures that are counted {pages or 'none names an interpreter'}: another interpreter "
        "gives other ratios."
    )


def _conditions(rows: Sequence[RowFindings]) -> list[str]:
    """Where and when it was measured here."""
    runs = [run for found in rows for run in found.runs.values() if run.document and run.right]
    days: dict[str, list[str]] = {}
    for run in runs:
        facts = run.document["provenance"]
        about = [facts[key] for key in ("python", "compiler", "cpu", "kernel", "valgrind")]
        text = ", ".join(about) + "; quick, few processes" * run.quick
        days.setdefault(text, []).append(run.created[:10])
    lines = [
        f"- measured on {about}: {len(each)} comparisons, "
        + " to ".join(dict.fromkeys((min(each), max(each))))
        for about, each in days.items()
    ]
    return [*lines, ""] if lines else []
