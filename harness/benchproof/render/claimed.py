"""The pictures of a ledger: what a page claims against what was measured, a row a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchproof.claims import words
from benchproof.claims.ledger import METRICS
from benchproof.claims.policy import ENOUGH, gain_of

from . import canvas, units
from .palette import LIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from benchproof.claims.judge import Finding, RowFindings
    from benchproof.claims.ledger import Impl, Page

    from .canvas import Layout

#: Implementation, name, colour, and where in its row it is drawn.
SIDES: tuple[tuple[Impl, str, str, float], ...] = (
    ("python", "pure", LIGHT["left"], 0.04),
    ("cython", "compiled", LIGHT["right"], 0.28),
)
_CLAIMED = -0.22
_ROOM = 0.05


def draw_report(rows: Sequence[RowFindings], folder: Path) -> dict[str, str]:
    """Draw a PNG a page for the Markdown report, which lies beside their folder.

    Returns:
        By page, the picture's path as seen from the report.
    """
    drawn = {}
    folder.mkdir(parents=True, exist_ok=True)
    by_page: dict[Page, list[Finding]] = {}
    for found in rows:
        by_page.setdefault(found.row.page, []).extend(found.findings)
    for page, findings in by_page.items():
        if shown := drawable(findings):
            name = f"{units.slug(page.id)}.png"
            with canvas.style():
                picture = draw_claimed(shown, canvas.WIDE)
                picture.savefig(folder / name, format="png", dpi=110, facecolor=canvas.GROUND)
            drawn[page.id] = f"{folder.name}/{name}"
    for stale in set(folder.glob("*.png")) - {folder.parent / path for path in drawn.values()}:
        stale.unlink()
    return drawn


def drawable(findings: Sequence[Finding]) -> list[Finding]:
    """The figures that claim a ratio and have one measured."""
    return [
        finding for finding in findings
        if finding.figure.basis == "ratio"
        and any(_shown(finding, each.meters) for each in finding.judged.values())
    ]  # fmt: skip


def draw_claimed(findings: Sequence[Finding], layout: Layout) -> Picture:
    """A row a figure: the claimed ratio hollow, the measured ones filled, with their intervals."""
    names = [f"{finding.figure.row}  {finding.figure.case}" for finding in findings]
    figure, axes = canvas.rows(names, layout)
    values = [value for finding in findings for value in _extent(finding)]
    low, high = canvas.ratio_axis(axes, values, _ROOM, "after ÷ before; less is better", layout)
    axes.axvspan(1 / (1 + _ROOM), 1 + _ROOM, color=LIGHT["band"], zorder=0, linewidth=0)
    for position, finding in enumerate(findings):
        _claim(axes, position + _CLAIMED + layout.drop, finding, (low, high))
        for impl, _, colour, offset in SIDES:
            if impl in finding.judged:
                at = position + offset + layout.drop
                for meter in _shown(finding, finding.judged[impl].meters):
                    _measure(axes, at, meter, colour)
        canvas.name_row(axes, position, names[position], layout)
        sign = words.SIGNS[finding.verdict]
        canvas.remark_row(axes, position, f"{sign} {finding.verdict}", layout)
    canvas.legend(figure, _legend(), layout)
    return figure


def _legend() -> list[Any]:
    entries = [canvas.mark("D", 5.5, canvas.INK, "claimed", hollow=True)]
    entries += [canvas.mark("o", 6, colour, f"measured, {name}") for _, name, colour, _ in SIDES]
    entries.append(canvas.mark("s", 5, canvas.MUTED, "square: a count, as of instructions"))
    entries.append(canvas.mark("|", 8, canvas.INK, f"{ENOUGH:.0%} of the claimed gain"))
    return entries


def _claim(axes: Axes, at: float, finding: Finding, ends: tuple[float, float]) -> None:
    """The published ratio or range, and the tick from which on it counts as reproduced."""
    low, high = finding.figure.ratio or (1.0, 1.0)
    if low != high:
        axes.plot([low, high], [at, at], color=canvas.INK, linewidth=1.2, zorder=2)
    for value in {low, high}:
        axes.plot([value], [at], marker="D", markersize=5.5, markerfacecolor=canvas.GROUND,
                  markeredgecolor=canvas.INK, markeredgewidth=1.3, zorder=3)  # fmt: skip
    enough = 1 / (1 + ENOUGH * gain_of(high))
    if ends[0] <= enough <= ends[1]:
        axes.plot([enough], [at], marker="|", markersize=8, color=canvas.INK, zorder=3)


def _measure(axes: Axes, at: float, meter: Mapping[str, Any], colour: str) -> None:
    """A measured ratio; its interval, if it has one."""
    exact = meter["low"] == meter["high"]
    if not exact:
        axes.plot([meter["low"], meter["high"]], [at, at], color=colour, linewidth=2.2,
                  solid_capstyle="round", zorder=2)  # fmt: skip
    axes.plot([meter["ratio"]], [at], marker="s" if exact else "o", markersize=5 if exact else 6,
              markerfacecolor=colour, markeredgecolor=canvas.INK, markeredgewidth=0.6,
              linestyle="none", zorder=3)  # fmt: skip


def _shown(finding: Finding, meters: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The meters that speak of the metric and have a place on the axis."""
    found = [meters[name] for name in METRICS.get(finding.figure.metric, ()) if name in meters]
    return [meter for meter in found if units.usable(meter["ratio"]) and meter["ratio"] > 0]


def _extent(finding: Finding) -> list[float]:
    """Everything of a row that has to fit on the axis."""
    found = list(finding.figure.ratio or ())
    for each in finding.judged.values():
        for meter in _shown(finding, each.meters):
            found += [meter[key] for key in ("low", "ratio", "high")]
    return [value for value in found if value > 0]
