"""A picture a page of the ledger: the claimed ratios, and the measured ones with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchproof import files
from benchproof.render import units
from benchproof.render.charts import Point, chart

from . import words
from .figures import METRICS
from .policy import ENOUGH, gain_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .figures import Impl, Page
    from .judge import Finding, RowFindings

#: Implementation, name, colour, rows off.
_IMPLS: tuple[tuple[Impl, str, str, float], ...] = (
    ("python", "pure", "left", 0.04),
    ("cython", "compiled", "right", 0.28),
)
_CLAIMED_OFF = -0.22


def draw(rows: Sequence[RowFindings], folder: Path) -> dict[str, str]:
    """Draw a picture a page of a ledger for the Markdown report, which lies beside their folder.

    Returns:
        By page, the picture's path as seen from the report.
    """
    drawn = {}
    by_page: dict[Page, list[Finding]] = {}
    for found in rows:
        by_page.setdefault(found.row.page, []).extend(found.findings)
    for page, findings in by_page.items():
        if shown := [row for each in findings if (row := _claim(each)) is not None]:
            drawn[page.id] = f"{folder.name}/{units.slug(page.id)}.svg"
            files.write(_chart(shown), folder.parent / drawn[page.id])
    for stale in {*folder.glob("*.svg"), *folder.glob("*.png")} - {
        folder.parent / path for path in drawn.values()
    }:
        stale.unlink()
    return drawn


def _chart(rows: Sequence[tuple[str, str, Sequence[Point]]]) -> str:
    """A row a figure: the claimed ratio hollow, the measured ones filled, with their intervals."""
    legend = [
        ("claimed", "ink hollow"),
        *((f"measured, {name}", f"{colour} circle") for _, name, colour, _ in _IMPLS),
        ("square: a count, as of instructions", "muted square"),
        (f"{ENOUGH:.0%} of the claimed gain", "tick"),
    ]
    return chart(rows, "after ÷ before; less is better", legend, room=0.05)


def _claim(finding: Finding) -> tuple[str, str, list[Point]] | None:
    """The row of a figure; None where it claims no ratio, or has none measured."""
    figure = finding.figure
    measured = [
        Point(f"{colour} {'square' if meter['low'] == meter['high'] else 'circle'}",
              meter["ratio"], off, meter["low"], meter["high"])
        for impl, _, colour, off in _IMPLS if impl in finding.judged
        for name, meter in finding.judged[impl].meters.items()
        if name in METRICS.get(figure.metric, ()) and meter["ratio"]
    ]  # fmt: skip
    if figure.basis != "ratio" or not measured:
        return None
    low, high = figure.ratio or (1.0, 1.0)
    # From the tick on it counts as reproduced.
    own = [Point("ink hollow", value, _CLAIMED_OFF, low, high) for value in {low, high}]
    own.append(Point("tick", 1 / (1 + ENOUGH * gain_of(high)), _CLAIMED_OFF))
    remark = f"{words.SIGNS[finding.verdict]} {finding.verdict}"
    return f"{figure.row}  {figure.case}", remark, own + measured
