"""The tables that a comparison and a gate share on a terminal: suites, what moved, every case.

All fit 80 columns, and say nothing by colour alone: a change has its sign, the meter that decided a
case has a `*`, undecided wall time is a "?" and no number.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from .gate.report import words
from .meters import ALWAYS, METERS, SPEAKING
from .render import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from .gate.report.words import Document, Moved, Row

STYLES = {
    "regressed": "bold red", "accepted": "yellow", "trade-off": "bold yellow",
    "changed": "bold yellow", "improved": "green", "equivalent": "dim", "undecided": "yellow",
}  # fmt: skip
#: Of a status that is no verdict.
BROKEN = "bold yellow"
#: From this width on intervals, and what a call costs, are shown too.
WIDE = 100
#: Of the cases that moved, those that a screen holds; `--all` shows every one.
MOST = 12
#: Beside the meter that gave a case its verdict, and what that mark says.
DECIDED = "*"
LEGEND = f"{DECIDED} the meter that decided"


def say(console: Console, text: str, style: str = "") -> None:
    """Print a line as it is."""
    console.print(Text(text, style=style), highlight=False)


def tell_line(console: Console, text: str) -> None:
    """Print a line as it is, and whole: a path or a reason is not broken where a screen ends."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def show(document: Document, console: Console, *, everything: bool) -> None:
    """Print all cases if they are wanted, what moved, and the suites.

    Args:
        document: of a comparison or a gate.
        console: as wide as the tables may be.
        everything: whether the cases that did not move are wanted too.
    """
    wide = console.width >= WIDE
    if everything and document["cases"]:
        console.print()
        console.print(cases(document, wide=wide))
    found = words.moved(document)
    if found:
        console.print()
        shown = found if everything else words.largest(found, MOST)
        console.print(moved(shown, wide=wide))
        say(console, LEGEND, "dim")
        if rest := words.tallies([case[0].row for case in found if case not in shown]):
            say(console, f"and {rest}, by less", "dim")
    if document["cases"]:
        console.print()
        console.print(suites(document))
        for suite in words.moved_suites(document):
            excused = " (accepted)" * bool(suite.get("accepted"))
            say(console, f"{words.named(suite)} as a whole {suite['verdict']}{excused}: "
                f"{words.whole(suite)}", STYLES[suite["verdict"]])  # fmt: skip


def borderless(*titles: str, gap: int = 1, fold: str = "", least: int | None = None) -> Table:
    """A table without lines.

    Args:
        titles: of its columns; below one that ends in a colon everything stands to the right.
        gap: between two columns.
        fold: the title of the column that is broken where it is too long; the others are cut off.
        least: the least width of that column.
    """
    grid = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for title in titles:
        name, folds = title.removesuffix(":"), title == fold
        grid.add_column(
            name, justify="left" if name == title else "right", no_wrap=not folds,
            overflow="fold" if folds else "ellipsis", min_width=least if folds else None,
        )  # fmt: skip
    return grid


def _several(document: Document) -> bool:
    """Whether cases are of several variants."""
    return len({row.get("impl") for row in document["cases"]}) > 1


def suites(document: Document) -> Table:
    """What became of each suite, as a whole and of its cases, by implementation."""
    several = _several(document)
    whole = {(each["name"], each.get("impl")): each for each in document.get("suites") or ()}
    grid = borderless("suite", *["impl."] * several, "as a whole", fold="suite", least=12)
    grid.add_column("its cases")
    groups: dict[tuple[str, str | None], list[Row]] = {}
    for row in document["cases"]:
        groups.setdefault((row["suite"], row.get("impl")), []).append(row)
    for (name, impl), rows in groups.items():
        about = whole.get((name, impl))
        word = about["verdict"] if about else "-"
        grid.add_row(
            Text(name), *((Text(str(impl)),) if several else ()),
            Text(word, STYLES.get(word, "dim")), Text(f"{len(rows)}: {words.tallies(rows)}"),
        )  # fmt: skip
    return grid


def moved(found: Sequence[Sequence[Moved]], *, wide: bool) -> Table:
    """A row for each case that moved, with a line for each meter that did."""
    names = {case[0].row["name"]: case[0].row for case in found}
    # The names of tests begin with their file, which is long, and often one for all of them.
    (suite, *others) = {row.get("suite") for row in names.values()} or {None}
    common = "" if others or not all(name.startswith(f"{suite}::") for name in names) else suite
    title = f"benchmark of {common}" if common else "benchmark"
    more = ("interval:", "a call:") if wide else ()
    grid = borderless("moved", title, "meter", "change:", *more, fold=title, least=20)
    for case in found:
        row, kind = case[0].row, words.kind(case)
        first = words.deciding(row)
        meters = [f"{each.meter}{f' {DECIDED}' * (each.meter == first)}" for each in case]
        columns = [meters, [units.change(each.about["ratio"]) for each in case]]
        if wide:
            columns.append([words.interval(each.about) for each in case])
            columns.append([words.values(each.meter, each.about) for each in case])
        grid.add_row(
            Text(kind, STYLES[kind]), Text(words.named(row).removeprefix(f"{common}::")),
            *(Text("\n".join(cells)) for cells in columns),
        )  # fmt: skip
    return grid


def cases(document: Document, *, wide: bool) -> Table:
    """Every case with every meter, by suite."""
    several = _several(document)
    seen = {meter for row in document["cases"] for meter in row["meters"]}
    shown = [
        name for name in SPEAKING
        if name in seen or (METERS[name].told_at_zero and METERS[name].task in ALWAYS)
    ]  # fmt: skip
    graded = len(grades(document)) > 1
    grid = borderless(
        "right / left", *(f"{METERS[name].title}:" for name in shown), *["time a call:"] * wide,
        "verdict", *["proof"] * graded, fold="right / left", least=12,
    )  # fmt: skip
    group = None
    for row in document["cases"]:
        if (row["suite"], row.get("impl")) != group:
            group = row["suite"], row.get("impl")
            grid.add_row(
                Text(f"{row['suite']} [{row['impl']}]" if several else row["suite"], "bold")
            )
        grid.add_row(
            *_cells(row, shown, wide=wide), *([Text(row.get("grade") or "-")] if graded else ())
        )
    return grid


def grades(document: Document) -> dict[str, int]:
    """How many benchmarks have which grade of proof, the best first."""
    found = Counter(row["grade"] for row in document["cases"] if row.get("grade"))
    return {grade: found[grade] for grade in ("proved", "witnessed", "unseen") if found[grade]}


def _cells(row: Row, shown: Sequence[str], *, wide: bool) -> list[Text]:
    """One case's cells."""
    cells = [Text(" " + row["case"])]
    first = words.deciding(row) if row["verdict"] in words.MOVED else None
    for meter in shown:
        about = row["meters"].get(meter)
        if about is None:
            cells.append(Text("-", style="dim"))
        else:
            mark = DECIDED if meter == first else " "
            write = _counts if meter in _BOTH else _change
            cells.append(Text(write(about) + mark, STYLES[about["verdict"]]))
    if wide:
        wall = row["meters"].get("wall")
        cells.append(Text(words.values("wall", wall) if wall else "-"))
    word = row["verdict"] or row["status"]
    cells.append(Text(word, STYLES.get(word, BROKEN)))
    return cells


def _change(about: Mapping[str, Any]) -> str:
    """How far a meter moved; no number where that is not known."""
    return "?" if about["verdict"] == "undecided" else units.change(about["ratio"])


def _counts(about: Mapping[str, Any]) -> str:
    left, right = (_number(about[side]) for side in ("left", "right"))
    return left if left == right else f"{left}>{right}"


def _number(value: float) -> str:
    """A count: a fraction only where there is one."""
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


#: Meters of whose numbers both sides are shown; of the others, how far they moved.
_BOTH = {"allocations", "retained", "syscalls", "track"}
