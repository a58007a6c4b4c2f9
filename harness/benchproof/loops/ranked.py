"""A ranking as a table on a terminal, as Markdown, and as a page."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from benchproof import verdict
from benchproof.errors import few
from benchproof.gate.report import words
from benchproof.gate.report.markdown import table_head, table_row
from benchproof.grids import borderless, print_whole, say
from benchproof.render import units

from .rank import FINDINGS

#: Of a product of ratios, what is no change: the usual limit of instructions.
_EQUAL = 0.003
_TITLES = ("branch", "finding", "all cases:", "why")
#: By state, how a terminal shows it; the page has a class of that name.
_STYLES = {"improved": "green", "trade-off": "yellow", "regressed": "red", "broken": "red"}
#: By kind: its state, and what the finding means.
_MEANS = {
    "faster": ("improved", "A benchmark is faster, or does less, and none is slower."),
    "mixed": ("trade-off", "Something is faster, and something slower."),
    "slower": ("regressed", "Something is slower, and nothing faster."),
    "nothing": ("equivalent", "No difference, or nothing that is built changes."),
    "missed": ("undecided", "No difference, and no benchmark runs a line of what it edits."),
    "other answers": ("regressed", "A benchmark answers otherwise than at the base: no figures."),
    "broken": ("regressed", "A benchmark that runs at the base fails: no figures."),
    "unbuilt": ("broken", "Its build ends with an error."),
    "": ("undecided", "What was measured does not tell."),
}


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What is said of a branch."""
    why = row["why"]
    reach = row["reach"] or {"missed": (), "run": ()}
    if reach["missed"] and row["kind"] != "missed":
        why += f"; no benchmark runs {few(reach['missed'])}"
    if row["conflicts"]:
        why += f"; conflicts with {', '.join(row['conflicts'])}"
    return row["branch"], FINDINGS[row["kind"]], _change(row["ratio"]), why


def _change(ratio: float | None) -> str:
    """How far the geometric mean of all cases moved."""
    return units.change(ratio) if ratio else "-"


def _sums(found: Mapping[str, Any]) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Of several branches together, lines about them, and the cases that moved."""
    names, finding = ", ".join(found["branches"]), FINDINGS[found["kind"]]
    said = [f"together, {names}: {finding}, all cases {_change(found['ratio'])}: {found['why']}"]
    if found["left_out"]:
        said.append(f"not with them, since they conflict: {', '.join(found['left_out'])}")
    rows = [
        (case["name"], _change(case["expected"]), _change(case["ratio"]))
        for case in found["cases"]
        if case["verdict"] != "equivalent" or abs((case["expected"] or 1) - 1) > _EQUAL
    ]
    return said, rows


def show(document: Mapping[str, Any], console: Console) -> None:
    """Print it."""
    table = borderless(*_TITLES, fold="why")
    for row in document["branches"]:
        style = _STYLES.get(_MEANS[row["kind"]][0], "")
        table.add_row(*(Text(cell, style if n == 1 else "") for n, cell in enumerate(_cells(row))))
    console.print()
    print_whole(console, table)
    if document["together"]:
        said, rows = _sums(document["together"])
        console.print()
        for line in said:
            say(console, line)
        for name, expected, measured in rows:
            say(console, f"  {name}: {expected} by the product of each, {measured} together")


def markdown(document: Mapping[str, Any]) -> str:
    """The same as a page."""
    text = [f"# Branches against {document['base']}", ""]
    text += [*table_head("|".join(_TITLES)), *map(_row, map(_cells, document["branches"]))]
    if document["together"]:
        said, rows = _sums(document["together"])
        text += ["", *said, ""]
        text += [*table_head("benchmark|product of each:|together:"), *map(_row, rows)]
    return "\n".join(text) + "\n"


def _row(cells: Iterable[str]) -> str:
    """A row of a table of Markdown, whatever is in its cells."""
    return table_row(cell.replace("|", "\\|") for cell in cells)


def page(document: Mapping[str, Any]) -> str:
    """The same as a page of HTML that needs no other file."""
    from benchproof.render.view import templates_of  # noqa: PLC0415  (jinja2: an extra)

    branches = document["branches"]
    ratios = [row["ratio"] for row in branches if row["ratio"]]
    widest = max((abs(math.log(each)) for each in ratios), default=0.0)
    told = Counter(FINDINGS[row["kind"]] for row in branches)
    headline = f"{len(branches)} branches against {document['base']}: " + ", ".join(
        f"{number} {word}" for word, number in told.items()
    )
    together = document["together"]
    return templates_of("benchproof.render").get_template("ranking.html").render(
        document=document, headline=headline, slug=units.slug,
        rows=[_shown(row, widest) for row in branches],
        together=together and {"said": _sums(together)[0], "moved": _moved(together)},
        findings=[(FINDINGS[kind], means) for kind, (_, means) in _MEANS.items()],
    )  # fmt: skip


def _shown(row: Mapping[str, Any], widest: float) -> dict[str, Any]:
    """A branch as the page shows it; its bar is a part of half of the scale."""
    branch, finding, change, why = _cells(row)
    far = math.log(row["ratio"]) if row["ratio"] else 0.0
    return {
        "branch": branch, "finding": finding, "change": change, "why": why,
        "state": _MEANS[row["kind"]][0], "more": far > 0, "number": len(row["cases"]),
        "part": round(50 * abs(far) / widest, 1) if widest else 0, "moved": _moved(row),
    }  # fmt: skip


def _moved(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cases that moved, the worst first."""
    chosen = [case for case in row["cases"] if case["verdict"] in verdict.MOVED]
    return [
        case | {
            "change": _change(case["ratio"]), "product": _change(case.get("expected")),
            "label": words.label(case["meter"]), "sides": words.values(case["meter"], case),
        }
        for case in sorted(chosen, key=lambda case: -(case["ratio"] or math.inf))
    ]  # fmt: skip
