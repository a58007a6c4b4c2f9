"""The sample picture: the wall time of every process, both sides, so that the noise can be seen."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from . import canvas, raw, units
from .palette import LIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .canvas import Layout

#: Beyond this ratio the two sides have no common axis on which the spread of one can be seen.
_SHARED_AXIS = 1.5
_SHAPES = {"left": "o", "right": "D"}


def has_samples(case: Mapping[str, Any]) -> bool:
    """Whether both sides of a case kept a sample."""
    return all(_samples(case, side) for side in _SHAPES)


def draw_samples(
    cases: Sequence[Mapping[str, Any]], left: str, right: str, layout: Layout
) -> Figure:
    """A row a case: a mark a process, the left side above the right, a bar at each median.

    If the two sides lie close in every case, both are shown against the left side's median; if
    not, each against its own.
    """
    names = [raw.case_name(case) for case in cases]
    figure, axes = canvas.rows(names, layout)
    shared = all(1 / _SHARED_AXIS < (raw.ratio_of(c, "wall") or 1) < _SHARED_AXIS for c in cases)
    everything: list[float] = []
    for position, case in enumerate(cases):
        base = statistics.median(_samples(case, "left"))
        for side, offset in (("left", -0.16), ("right", 0.18)):
            samples = _samples(case, side)
            against = base if shared else statistics.median(samples)
            values = [sample / against for sample in samples]
            _strip(axes, position + offset + layout.drop, values, side)
            everything += values
        canvas.name_row(axes, position, names[position], layout)
        canvas.remark_row(axes, position, _medians(case), layout)
    base_name = f"the median of {left}" if shared else "the median of its own side"
    canvas.ratio_axis(axes, everything, 0.01, f"time of one process ÷ {base_name}", layout)
    entries = [
        canvas.mark(_SHAPES[side], 5, LIGHT[side], name)
        for side, name in (("left", left), ("right", right))
    ]
    canvas.legend(figure, entries, layout)
    return figure


def _strip(axes: Axes, at: float, values: list[float], side: str) -> None:
    axes.plot(values, [at] * len(values), _SHAPES[side], color=LIGHT[side], ms=4, alpha=0.6, mew=0)
    median = statistics.median(values)
    axes.plot([median] * 2, [at - 0.12, at + 0.12], color=canvas.INK, linewidth=1.6, zorder=3)


def _medians(case: Mapping[str, Any]) -> str:
    return " → ".join(units.seconds(statistics.median(_samples(case, side))) for side in _SHAPES)


def _samples(case: Mapping[str, Any], side: str) -> list[float]:
    wall = (case.get("meters") or {}).get("wall") or {}
    return [float(s) for s in wall.get(f"{side}_samples") or [] if units.usable(s) and s > 0]
