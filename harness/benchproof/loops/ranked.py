"""A ranking as a table on a terminal, and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from benchproof.render import units

from .rank import FINDINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

#: Of a product of ratios, what is no change: the usual limit of instructions.
_EQUAL = 0.003
_TITLES = ("branch", "finding", "all cases", "why")
_STYLES = {"faster": "green", "mixed": "yellow", "slower": "red", "other answers": "red",
           "broken": "red", "unbuilt": "red"}  # fmt: skip


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What is said of a branch."""
    why = row["why"]
    reach = row["reach"] or {"missed": (), "run": ()}
    if reach["missed"] and row["kind"] != "missed":
        why += f"; no benchmark runs {', '.join(reach['missed'])}"
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
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for title in _TITLES:
        table.add_column(title, overflow="fold", justify="right" if "all" in title else "left")
    for row in document["branches"]:
        style = _STYLES.get(row["kind"], "")
        table.add_row(*(Text(cell, style if n == 1 else "") for n, cell in enumerate(_cells(row))))
    console.print()
    console.print(table)
    if document["together"]:
        said, rows = _sums(document["together"])
        console.print()
        for line in said:
            console.print(Text(line), highlight=False)
        for name, expected, measured in rows:
            words = f"  {name}: {expected} by the product of each, {measured} together"
            console.print(Text(words), highlight=False)


def markdown(document: Mapping[str, Any]) -> str:
    """The same as a page."""
    text = [f"# Branches against {document['base']}", ""]
    text += _grid(_TITLES, [_cells(row) for row in document["branches"]])
    if document["together"]:
        said, rows = _sums(document["together"])
        text += ["", *said, ""]
        text += _grid(("benchmark", "product of each", "together"), rows)
    return "\n".join(text) + "\n"


def _grid(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of Markdown."""
    found = [titles, ["---"] * len(titles), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in found]
