"""A gate on a terminal, readable at 80 columns: what moved, why, how sure, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from benchproof.profile import told

from . import words

if TYPE_CHECKING:
    from rich.console import Console

    from .words import Document, Moved

STYLES = {"regressed": "bold red", "accepted": "yellow", "improved": "green"}
OUTCOME = {0: "bold green", 1: "bold red", 2: "bold yellow"}
#: Regressions that are explained here; `--json` explains all.
EXPLAINED = 4


def show(document: Document, console: Console) -> None:
    """Print a gate, the verdict last: that is what a prompt leaves on the screen."""
    console.print()
    for side, commit, subject in words.against(document):
        _say(console, f"{side:<5} {commit} {subject}", "bold")
    console.print(_suites(document))
    found = words.moved(document)
    if found:
        console.print()
        console.print(_moved(found, wide=console.width >= 100))
    _profiles(document, console)
    _accepted(document, console)
    _missing(document, console)
    for line in words.error_rates(document):
        _say(console, line, "dim")
    if document["partial"]:
        _say(console, "PARTIAL: stopped before the end", "bold yellow")
    verdict = document["verdict"]
    _say(console, f"{verdict['status']}: {verdict['summary']}", OUTCOME[verdict["exit"]])


def _accepted(document: Document, console: Console) -> None:
    """What is accepted, and the entries that accept nothing."""
    for row in document["cases"]:
        if row["accepted"]:
            why = row["accepted"]
            _say(console, f"accepted until {why['until']}: {row['name']} [{row['impl']}]: "
                 f"{why['reason']}", "yellow")  # fmt: skip
    for entry in document["accepted"]:
        if entry["state"] != "used":
            _say(console, f"accepted.toml:{entry['line']}: {entry['benchmark']}: {entry['state']}",
                 "yellow")  # fmt: skip


def _missing(document: Document, console: Console) -> None:
    """What has no numbers, and what wall time could not decide."""
    for line in words.troubles(document):
        _say(console, line, "bold yellow")
    for row in [*words.unmeasured(document), *document["excluded"]]:
        impl, status = row["impl"] or "both", row.get("status", "excluded")
        _say(console, f"{row['name']} [{impl}]: {status}: {row['why']}", "yellow")
    for line in (*words.not_measured_meters(document), words.undecided(document)):
        if line:
            _say(console, line, "yellow")


def _suites(document: Document) -> Table:
    """How many cases of each suite moved, by implementation."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column("suite", overflow="fold")
    for title in ("implementation", "cases", "regressed", "improved", "equivalent", "else"):
        grid.add_column(title, justify="left" if title == "implementation" else "right")
    suites = dict.fromkeys((row["suite"], row["impl"]) for row in document["cases"])
    for suite, impl in suites:
        rows = [r for r in document["cases"] if (r["suite"], r["impl"]) == (suite, impl)]
        said = [row["verdict"] for row in rows]
        counts = [said.count(word) for word in ("regressed", "improved", "equivalent")]
        cells = [Text(str(n) if n else ".", style) for n, style in zip(
            (*counts, len(rows) - sum(counts)), ("bold red", "green", "dim", "yellow"), strict=True
        )]  # fmt: skip
        grid.add_row(Text(suite), Text(impl), str(len(rows)), *cells)
    return grid


def _moved(found: list[list[Moved]], *, wide: bool) -> Table:
    """One row for each case that moved, with a line for each meter that did."""
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    grid.add_column("moved", no_wrap=True)
    grid.add_column("benchmark", overflow="fold", min_width=20)
    for title in ("meter", "change", *(("interval", "a call") if wide else ())):
        grid.add_column(title, justify="left" if title == "meter" else "right", no_wrap=True)
    for case in found:
        row, kind = case[0].row, words.kind(case)
        columns = [
            [each.meter for each in case],
            [words.change(each.about["ratio"]) for each in case],
        ]
        if wide:
            columns.append([words.interval(each.about) for each in case])
            columns.append([words.values(each.meter, each.about) for each in case])
        grid.add_row(
            Text(kind, STYLES[kind]), Text(f"{row['name']} [{row['impl']}]"),
            *(Text("\n".join(cells)) for cells in columns),
        )  # fmt: skip
    return grid


def _profiles(document: Document, console: Console) -> None:
    """Where the instructions of the worst regressions went."""
    lost = [row for row in words.explained(document) if row["verdict"] == "regressed"]
    for row in lost[:EXPLAINED]:
        console.print()
        _say(console, f"{row['name']} [{row['impl']}] spends more in", "bold")
        console.print(told.table(row["profile"]))
    console.print()
    if len(lost) > EXPLAINED:
        _say(console, f"{len(lost) - EXPLAINED} more regressions are explained by --markdown and "
             "--json", "dim")  # fmt: skip


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style), highlight=False)
