"""The table of a comparison, readable at 80 columns."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from .notes import UNDECIDED
from .profile import told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

STYLES = {
    "regressed": "bold red", "improved": "green", "equivalent": "dim", "undecided": "yellow",
}  # fmt: skip
#: Why a meter that nobody asked for was not measured: no reason to say it.
NOT_ASKED_FOR = "not asked for"
#: From this width on the times themselves are shown too.
WIDE = 100
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def show(document: Mapping[str, Any], console: Console) -> None:
    """Print a comparison: what against what, the table, what was not measured, the verdict."""
    console.print()
    _say(console, document["title"], style="bold")
    for side in ("left", "right"):
        _say(console, f"  {side:<5} {document[side]['description']}")
    if document["cases"]:
        console.print(table(document, wide=console.width >= WIDE))
    for name, meter in document["meters"].items():
        if not meter["measured"] and document["cases"] and meter["why"] != NOT_ASKED_FOR:
            _say(console, f"{name}: not measured: {meter['why']}", style="yellow")
    for case in document["cases"]:
        words = "; ".join(filter(None, (case["why"], _told_here(case["note"]))))
        if words:
            _say(console, f"{case['name']}: {words}", style="dim")
    for case in document["cases"]:
        if case.get("profile"):
            shrunk = case["verdict"] == "improved"
            _say(console, f"{case['name']} spends {'less' if shrunk else 'more'} in", style="bold")
            console.print(told.table(case["profile"], shrunk=shrunk))
    _say_undecided(document, console)
    if document["partial"]:
        _say(console, "PARTIAL: stopped before the end", style="bold yellow")
    verdict = document["verdict"]
    if not document.get("gates", True):
        _say(console, f"for information: {verdict['summary']}", style="bold")
        return
    style = {0: "bold green", 1: "bold red"}.get(verdict["exit"], "bold yellow")
    _say(console, f"{verdict['status']}: {verdict['summary']}", style=style)


def _told_here(note: str) -> str:
    """A case's note without what one line says for all cases."""
    return "; ".join(part for part in note.split("; ") if not part.startswith(UNDECIDED))


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
        change = (statistics.median(seen) - 1) * 100
        why = f"half of those would have needed a change of {change:.0f} % or more"
    words = f"wall time is undecided (?) in {len(seen)} of {len(walls)}: {why}"
    _say(console, words, style="yellow")


def needed_blocks(tests: int) -> int:
    """Blocks without which nothing can be called changed, however large it is."""
    from . import stats, verdict  # noqa: PLC0415  (scipy is slow to import)

    return math.ceil(math.log(2 * tests / verdict.ALPHA) / -math.log(stats.LEAST_DOUBT))


def table(document: Mapping[str, Any], *, wide: bool) -> Table:
    """The cases, by suite."""
    confidence = next(
        (c["meters"]["wall"]["confidence"] for c in document["cases"] if "wall" in c["meters"]),
        None,
    )
    wall = "wall" if confidence is None else f"wall ({confidence * 100:g} %)"
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    grid.add_column("right / left", overflow="fold", min_width=12)
    for title in (*(("time a call",) if wide else ()), wall, "instr", "allocs", "bytes"):
        grid.add_column(title, justify="right", no_wrap=True)
    grid.add_column("verdict", no_wrap=True)
    suite = None
    for case in document["cases"]:
        if case["suite"] != suite:
            suite = case["suite"]
            grid.add_row(Text(suite, style="bold"))
        grid.add_row(*_cells(case, wide=wide))
    return grid


def _cells(case: Mapping[str, Any], *, wide: bool) -> list[Text]:
    """One case's cells."""
    meters = case["meters"]
    cells = [Text(" " + case["case"])]
    if wide:
        cells.append(Text(_times(meters.get("wall"))))
    cells.append(_judged(meters.get("wall"), _interval))
    cells.append(_judged(meters.get("instructions"), _ratio))
    cells.append(_judged(meters.get("allocations"), _counts))
    cells.append(_judged(meters.get("bytes"), _ratio))
    word = case["verdict"] or case["status"]
    cells.append(Text(word, style=STYLES.get(word, "bold yellow")))
    return cells


def _judged(meter: Mapping[str, Any] | None, write: Any) -> Text:  # noqa: ANN401  (a function)
    """A meter's numbers in the colour of its own verdict."""
    if meter is None:
        return Text("-", style="dim")
    return Text(write(meter), style=STYLES[meter["verdict"]])


def _interval(meter: Mapping[str, Any]) -> str:
    """The ratio, and by which factor its interval reaches up (and, divided, down)."""
    mark = "?" if meter["verdict"] == "undecided" else ""
    reach = (meter["high"] / meter["ratio"] - 1) * 100
    return f"{meter['ratio']:.3g}{mark} \N{PLUS-MINUS SIGN}{reach:.2g}%"


def _ratio(meter: Mapping[str, Any]) -> str:
    return "from 0" if meter["ratio"] is None else f"{meter['ratio']:.3f}"


def _counts(meter: Mapping[str, Any]) -> str:
    left, right = (_number(meter[side]) for side in ("left", "right"))
    return left if left == right else f"{left}>{right}"


def _number(value: float) -> str:
    """A count: a fraction only where there is one."""
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def _times(meter: Mapping[str, Any] | None) -> str:
    if meter is None:
        return "-"
    return f"{seconds(meter['left'])} > {seconds(meter['right'])}"


def seconds(value: float) -> str:
    """A time in the unit that suits it."""
    scale, unit = next(((s, u) for s, u in _UNITS if value >= s), _UNITS[-1])
    return f"{value / scale:.3g} {unit}"


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style), highlight=False)
