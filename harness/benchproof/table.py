"""A comparison on a terminal: what moved, why, how sure, and the verdict last.

Readable at 80 columns; of a gate, also what was accepted, and how often it is wrong. Nothing is
said by colour alone: a change has its sign, the meter that decided a case has a `*`, undecided wall
time is a "?" and no number.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from . import analysers, notes
from .gate.report import words
from .gate.report.words import Document, Moved
from .grids import borderless, print_whole, say
from .meters import METERS
from .profile import explain
from .render import units

#: Benchmarks with the same note that are named one by one.
_FEW = 3
#: Changes that are explained here; `--json` explains all.
EXPLAINED = 4
_VERDICTS = {0: "bold green", 1: "bold red", 2: "bold yellow", 3: "bold yellow"}
_STATES = {
    "regressed": "bold red", "accepted": "yellow", "trade-off": "bold yellow",
    "changed": "bold yellow", "improved": "green", "equivalent": "dim", "undecided": "yellow",
}  # fmt: skip
#: Of a status that is no verdict.
_BROKEN = "bold yellow"
#: From this width on intervals, and what a call costs, are shown too.
WIDE = 100
#: Of the cases that moved, those that a screen holds; `--all` shows every one.
MOST = 12
#: Beside the meter that gave a case its verdict, and what that mark says.
DECIDED = "*"
LEGEND = f"{DECIDED} the meter that decided"
#: Meters of whose numbers both sides are shown; of the others, how far they moved.
_BOTH = {"allocations", "retained", "syscalls", "track"}


def show(document: Document, console: Console, *, everything: bool = False) -> None:
    """Print a comparison, the verdict last: that is what a prompt leaves on the screen.

    Args:
        document: of the comparison.
        console: as wide as the tables may be.
        everything: whether the cases that did not move are wanted too.
    """
    gate, cases = words.is_gate(document), document["cases"]
    console.print()
    if gate:
        for side, commit, subject in words.against(document):
            say(console, f"{side:<5} {commit} {subject}", "bold")
    else:
        say(console, document["title"], "bold")
        for side in ("left", "right"):
            say(console, f"  {side:<5} {document[side]['description']}")
    if cases:
        _show_cases(document, console, everything=everything)
    _say_notes(document, console, everything=everything)
    _profiles(document, console)
    _accepted(document, console)
    _missing(document, console)
    timed = sum("wall" in case["meters"] for case in cases)
    if said := words.undecided(document, needed_blocks(timed) if timed else 0):
        say(console, said, "yellow")
    for line in words.error_rates(document) if gate else ():
        say(console, line, "dim")
    if document["partial"]:
        say(console, "PARTIAL: stopped before the end", "bold yellow")
    if not everything and min(len(words.moved(document)), MOST) < len(cases):
        say(console, "--all shows every benchmark", "dim")
    verdict = document["verdict"]
    if not document.get("gates", True):
        say(console, f"for information: {verdict['summary']}", "bold")
    else:
        say(console, f"{verdict['status']}: {verdict['summary']}", _VERDICTS[verdict["exit"]])


def _show_cases(document: Document, console: Console, *, everything: bool) -> None:
    """All cases if they are wanted, what moved, and the suites."""
    wide = console.width >= WIDE
    several = len({row.get("impl") for row in document["cases"]}) > 1
    if everything:
        console.print()
        print_whole(console, _cases(document, wide=wide, several=several))
    if found := words.moved(document):
        console.print()
        shown = found if everything else words.largest(found, MOST)
        print_whole(console, _moved(shown, wide=wide))
        say(console, LEGEND, "dim")
        if rest := words.tallies([case.row for case in found if case not in shown]):
            say(console, f"and {rest}, by less", "dim")
    console.print()
    print_whole(console, _suites(document, several=several))
    for suite in words.moved_suites(document):
        say(console, words.as_a_whole(suite), _STATES[suite["verdict"]])


def _suites(document: Document, *, several: bool) -> Table:
    """What became of each suite, as a whole and of its cases, by implementation."""
    judged = words.wholes(document)
    grid = borderless("suite", *["impl."] * several, "as a whole", fold="suite", least=12)
    grid.add_column("its cases")
    for (name, impl), rows in words.by_suite(document["cases"]).items():
        word = judged.get((name, impl), {"verdict": "-"})["verdict"]
        grid.add_row(
            Text(name), *[Text(impl)] * several, Text(word, _STATES.get(word, "dim")),
            Text(f"{len(rows)}: {words.tallies(rows)}"),
        )  # fmt: skip
    return grid


def _moved(found: Sequence[Moved], *, wide: bool) -> Table:
    """A row for each case that moved, with a line for each meter that did."""
    # The names of tests begin with their file, which is long, and often one for all of them.
    (suite, *others) = {case.row.get("suite") for case in found}
    prefix = f"{suite}::"
    is_common = not others and all(case.row["name"].startswith(prefix) for case in found)
    title = f"benchmark of {suite}" if is_common else "benchmark"
    columns = ["change", *["interval", "a call"] * wide]
    grid = borderless("moved", title, "meter", *(f"{each}:" for each in columns), fold=title,
                      least=20)  # fmt: skip
    for case in found:
        first, cells = words.deciding(case.row), case.cells
        meters = [f"{each} {DECIDED}" if each == first else each for each in case.meters]
        name = words.titled(case.row)
        grid.add_row(
            Text(case.kind, _STATES[case.kind]),
            Text(name.removeprefix(prefix) if is_common else name),
            *(Text("\n".join(each)) for each in (meters, *(cells[title] for title in columns))),
        )  # fmt: skip
    return grid


def _cases(document: Document, *, wide: bool, several: bool) -> Table:
    """Every case with every meter, by suite."""
    shown = words.shown_meters(document["cases"])
    graded = len(grades(document)) > 1
    grid = borderless(
        "right / left", *(f"{METERS[name].title}:" for name in shown), *["time a call:"] * wide,
        "verdict", *["proof"] * graded, fold="right / left", least=12,
    )  # fmt: skip
    for (suite, impl), rows in words.by_suite(document["cases"]).items():
        grid.add_row(Text(f"{suite} [{impl}]" if several else suite, "bold"))
        for row in rows:
            first = words.deciding(row) if row["verdict"] in words.MOVED else None
            state = words.state_of(row)
            wall = row["meters"].get("wall")
            grid.add_row(
                Text(" " + words.titled(row, row["case"])),
                *(_cell(row["meters"].get(meter), meter, first) for meter in shown),
                *[Text(words.values("wall", wall) if wall else "-")] * wide,
                Text(state, _STATES.get(state, _BROKEN)),
                *[Text(row.get("grade") or "-")] * graded,
            )  # fmt: skip
    return grid


def _cell(about: Mapping[str, Any] | None, meter: str, first: str | None) -> Text:
    """How far a meter of a case moved, or both its counts; no number where it is not known."""
    if about is None:
        return Text("-", style="dim")
    if meter in _BOTH:
        left, right = (_number(about[side]) for side in ("left", "right"))
        told = left if left == right else f"{left}>{right}"
    else:
        told = "?" if about["verdict"] == "undecided" else units.change(about["ratio"])
    return Text(told + (DECIDED if meter == first else " "), _STATES[about["verdict"]])


def _number(value: float) -> str:
    """A count: a fraction only where there is one."""
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def grades(document: Document) -> dict[str, int]:
    """How many benchmarks have which grade of proof, the best first."""
    found = Counter(row["grade"] for row in document["cases"] if row.get("grade"))
    return {grade: found[grade] for grade in ("proved", "witnessed", "unseen") if found[grade]}


def _say_notes(document: Document, console: Console, *, everything: bool) -> None:
    """A line for each benchmark with a note, and one for all where many have the same."""
    by_words: dict[tuple[str, str], list[str]] = {}
    for case in document["cases"]:
        failed = case["status"] != "measured"
        said = [case["status"] * failed, case["why"], notes.but_undecided(case["note"])]
        if any(said):
            key = ": ".join(filter(None, said)), "yellow" if failed else "dim"
            by_words.setdefault(key, []).append(words.titled(case))
    for (told, style), names in by_words.items():
        if len(names) > _FEW and not everything:
            names = [f"{len(names)} benchmarks"]  # noqa: PLW2901  (one line for all of them)
        for name in names:
            say(console, f"{name}: {told}", style)


def _profiles(document: Document, console: Console) -> None:
    """Where the instructions of the largest changes went."""
    found = [row for row in words.explained(document)
             if row["verdict"] != "improved" or not words.is_gate(document)]  # fmt: skip
    for row in found[:EXPLAINED]:
        console.print()
        shrunk = row["verdict"] in {"improved", "trade-off"}
        say(console, f"{words.titled(row)} spends {'less' if shrunk else 'more'} in", "bold")
        print_whole(console, explain.table(row["profile"], shrunk=shrunk))
    if len(found) > EXPLAINED:
        say(console, f"{len(found) - EXPLAINED} more are explained by --json", "dim")


def _accepted(document: Document, console: Console) -> None:
    """What is accepted, and the entries that accept nothing."""
    rows = *document["cases"], *document.get("suites", ())
    for row in rows:
        if row.get("accepted"):
            say(console, f"{words.titled(row)}: {words.excuse(row['accepted'])}", "yellow")
    for entry in document.get("accepted", ()):
        if entry["state"] == "in the base":
            told = f"accepted until {entry['until']}, in the base: {words.standing(entry)}"
            say(console, told, "yellow")
        elif entry["state"] != "used":
            place = f"accepted.toml:{entry['line']}" if entry["line"] else "accepted, in the base"
            told = words.unused(entry, rows)
            say(console, f"{place}: {entry['benchmark']}: {told}", "yellow")


def _missing(document: Document, console: Console) -> None:
    """What went wrong, what was left out by name, and which meters are not there."""
    for line in words.troubles(document):
        say(console, line, "bold yellow")
    for row in document["excluded"] if words.is_gate(document) else ():
        say(console, f"{words.named(row)}: excluded: {row['why']}", "yellow")
    for line in words.not_measured_meters(document) if document["cases"] else ():
        say(console, line, "yellow")
    for line in analysers.told(document):
        say(console, line, "yellow")


def needed_blocks(tests: int) -> int:
    """Blocks without which nothing can be called changed, however large it is."""
    from . import stats, verdict  # noqa: PLC0415  (scipy is slow to import)

    return math.ceil(math.log(2 * tests / verdict.ALPHA) / -math.log(stats.LEAST_DOUBT))
