"""A comparison on a terminal: what moved, the suites, and the verdict last."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from . import grids, notes
from .grids import say
from .profile import change as profile
from .render import units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

#: Why a meter that nobody asked for was not measured: no reason to say it.
NOT_ASKED_FOR = "not asked for"
#: Benchmarks with the same note that are named one by one.
_FEW = 3


def show(document: Mapping[str, Any], console: Console, *, everything: bool = False) -> None:
    """Print a comparison, the verdict last: that is what a prompt leaves on the screen.

    Args:
        document: of the comparison.
        console: as wide as the tables may be.
        everything: whether the cases that did not move are wanted too.
    """
    console.print()
    say(console, document["title"], "bold")
    for side in ("left", "right"):
        say(console, f"  {side:<5} {document[side]['description']}")
    grids.show(document, console, everything=everything)
    for name, meter in document["meters"].items():
        if not meter["measured"] and document["cases"] and meter["why"] != NOT_ASKED_FOR:
            say(console, f"{name}: not measured: {meter['why']}", "yellow")
    _say_notes(document, console, everything=everything)
    for case in document["cases"]:
        if case.get("profile"):
            shrunk = case["verdict"] in {"improved", "trade-off"}
            say(console, f"{case['name']} spends {'less' if shrunk else 'more'} in", "bold")
            console.print(profile.table(case["profile"], shrunk=shrunk))
    _say_undecided(document, console)
    if document["partial"]:
        say(console, "PARTIAL: stopped before the end", "bold yellow")
    if document["cases"] and not everything:
        say(console, "--all shows every benchmark", "dim")
    verdict = document["verdict"]
    if not document.get("gates", True):
        say(console, f"for information: {verdict['summary']}", "bold")
        return
    style = {0: "bold green", 1: "bold red"}.get(verdict["exit"], "bold yellow")
    say(console, f"{verdict['status']}: {verdict['summary']}", style)


def _say_notes(document: Mapping[str, Any], console: Console, *, everything: bool) -> None:
    """A line for each benchmark with a note, and one for all where many have the same."""
    by_words: dict[str, list[str]] = {}
    for case in document["cases"]:
        words = "; ".join(filter(None, (case["why"], notes.but_undecided(case["note"]))))
        if words:
            by_words.setdefault(words, []).append(case["name"])
    for words, names in by_words.items():
        if len(names) > _FEW and not everything:
            say(console, f"{len(names)} benchmarks: {words}", "dim")
        else:
            for name in names:
                say(console, f"{name}: {words}", "dim")


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
    words = f"wall time is undecided (?) in {len(seen)} of {len(walls)}: {why}"
    say(console, words, "yellow")


def needed_blocks(tests: int) -> int:
    """Blocks without which nothing can be called changed, however large it is."""
    from . import stats, verdict  # noqa: PLC0415  (scipy is slow to import)

    return math.ceil(math.log(2 * tests / verdict.ALPHA) / -math.log(stats.LEAST_DOUBT))
