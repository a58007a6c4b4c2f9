"""A comparison on a terminal: what moved, why, how sure, and the verdict last.

Readable at 80 columns; of a gate, also what was accepted, and how often it is wrong.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from . import analysers, grids, notes
from .gate.report import words
from .grids import say
from .profile import explain
from .render import units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

#: Benchmarks with the same note that are named one by one.
_FEW = 3
#: Changes that are explained here; `--json` explains all.
EXPLAINED = 4
_STYLES = {0: "bold green", 1: "bold red", 2: "bold yellow", 3: "bold yellow"}


def show(document: Mapping[str, Any], console: Console, *, everything: bool = False) -> None:
    """Print a comparison, the verdict last: that is what a prompt leaves on the screen.

    Args:
        document: of the comparison.
        console: as wide as the tables may be.
        everything: whether the cases that did not move are wanted too.
    """
    gate = words.is_gate(document)
    console.print()
    if gate:
        for side, commit, subject in words.against(document):
            say(console, f"{side:<5} {commit} {subject}", "bold")
    else:
        say(console, document["title"], "bold")
        for side in ("left", "right"):
            say(console, f"  {side:<5} {document[side]['description']}")
    grids.show(document, console, everything=everything)
    _say_notes(document, console, everything=everything)
    _profiles(document, console)
    _accepted(document, console)
    _missing(document, console)
    _say_undecided(document, console)
    for line in words.error_rates(document) if gate else ():
        say(console, line, "dim")
    if document["partial"]:
        say(console, "PARTIAL: stopped before the end", "bold yellow")
    if document["cases"] and not everything:
        say(console, "--all shows every benchmark", "dim")
    verdict = document["verdict"]
    if not document.get("gates", True):
        say(console, f"for information: {verdict['summary']}", "bold")
    else:
        say(console, f"{verdict['status']}: {verdict['summary']}", _STYLES[verdict["exit"]])


def _say_notes(document: Mapping[str, Any], console: Console, *, everything: bool) -> None:
    """A line for each benchmark with a note, and one for all where many have the same."""
    by_words: dict[tuple[str, str], list[str]] = {}
    for case in document["cases"]:
        failed = case["status"] != "measured"
        said = [case["status"] * failed, case["why"], notes.but_undecided(case["note"])]
        if any(said):
            key = ": ".join(filter(None, said)), "yellow" if failed else "dim"
            by_words.setdefault(key, []).append(words.named(case))
    for (told, style), names in by_words.items():
        if len(names) > _FEW and not everything:
            say(console, f"{len(names)} benchmarks: {told}", style)
        else:
            for name in names:
                say(console, f"{name}: {told}", style)


def _profiles(document: Mapping[str, Any], console: Console) -> None:
    """Where the instructions of the largest changes went."""
    found = [row for row in words.explained(document)
             if row["verdict"] != "improved" or not words.is_gate(document)]  # fmt: skip
    for row in found[:EXPLAINED]:
        console.print()
        shrunk = row["verdict"] in {"improved", "trade-off"}
        say(console, f"{words.named(row)} spends {'less' if shrunk else 'more'} in", "bold")
        console.print(explain.table(row["profile"], shrunk=shrunk))
    if len(found) > EXPLAINED:
        say(console, f"{len(found) - EXPLAINED} more are explained by --json", "dim")


def _accepted(document: Mapping[str, Any], console: Console) -> None:
    """What is accepted, and the entries that accept nothing."""
    for row in (*document["cases"], *document.get("suites", ())):
        if why := row.get("accepted"):
            say(console, f"accepted until {why['until']}: {words.named(row)}: {why['reason']}",
                "yellow")  # fmt: skip
    for entry in document.get("accepted", ()):
        if entry["state"] == "in the base":
            say(console, f"accepted until {entry['until']}, in the base: {words.standing(entry)}",
                "yellow")  # fmt: skip
        elif entry["state"] != "used":
            place = f"accepted.toml:{entry['line']}" if entry["line"] else "accepted, in the base"
            say(console, f"{place}: {entry['benchmark']}: {entry['state']}",
                "yellow")  # fmt: skip


def _missing(document: Mapping[str, Any], console: Console) -> None:
    """What went wrong, what was left out by name, and which meters are not there."""
    for line in words.troubles(document):
        say(console, line, "bold yellow")
    for row in document["excluded"] if words.is_gate(document) else ():
        say(console, f"{words.named(row)}: excluded: {row['why']}", "yellow")
    for line in words.not_measured_meters(document) if document["cases"] else ():
        say(console, line, "yellow")
    for line in analysers.told(document):
        say(console, line, "yellow")


def _say_undecided(document: Mapping[str, Any], console: Console) -> None:
    """How much wall time could not decide, and what it would have taken."""
    walls = [case["meters"]["wall"] for case in document["cases"] if "wall" in case["meters"]]
    seen = [wall["detectable"] for wall in walls if wall["verdict"] == "undecided"]
    if not seen:
        return
    blocks, needed = max(len(wall["left_samples"]) for wall in walls), needed_blocks(len(walls))
    if blocks < needed:
        number = "1 benchmark needs" if len(walls) == 1 else f"{len(walls)} benchmarks need"
        why = f"{number} {needed} blocks of processes or more, and had {blocks}"
    else:
        needed_change = units.seen(statistics.median(seen))
        why = f"half of those would have needed a change of {needed_change} or more"
    say(console, f"wall time is undecided (?) in {len(seen)} of {len(walls)}: {why}", "yellow")


def needed_blocks(tests: int) -> int:
    """Blocks without which nothing can be called changed, however large it is."""
    from . import stats, verdict  # noqa: PLC0415  (scipy is slow to import)

    return math.ceil(math.log(2 * tests / verdict.ALPHA) / -math.log(stats.LEAST_DOUBT))
