"""The pictures of a suite: right / left of every case in every meter, and every process's time."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from . import canvas, raw, units
from .palette import LIGHT, MARKS, Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .canvas import Layout

    Cases = Sequence[Mapping[str, Any]]

#: Beyond this ratio the two sides have no common axis on which the spread of one can be seen.
_SHARED_AXIS = 1.5
_SHAPES = {"left": "o", "right": "D"}
_DEFAULT_LIMIT = 0.05


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


def drawable(case: Mapping[str, Any]) -> bool:
    """Whether a case has a ratio that has a place on a logarithmic axis."""
    return any(positive(case, mark.meter) for mark in MARKS)


def draw_cases(cases: Cases, left: str, right: str, layout: Layout) -> Figure:
    """A row a case: time with its interval, instructions and allocations; hollow if undecided."""
    names = [raw.case_name(case) for case in cases]
    figure, axes = frame(names, cases, f"{right} ÷ {left}", layout)
    for position, case in enumerate(cases):
        for mark in MARKS:
            _point(axes, position + mark.offset + layout.drop, case, mark)
        canvas.name_row(axes, position, names[position], layout)
        canvas.remark_row(axes, position, _in_words(case), layout)
    entries = [
        canvas.mark(mark.shape, mark.size, LIGHT[mark.meter], _labelled(mark))
        for mark in MARKS
        if any(_extent(case, mark.meter) for case in cases)
    ]
    hollow = canvas.mark("o", 5.5, canvas.MUTED, "hollow: undecided", hollow=True)
    canvas.legend(figure, [*entries, hollow], layout)
    return figure


def frame(names: Sequence[str], cases: Cases, quotient: str, layout: Layout) -> tuple[Figure, Axes]:
    """Rows, ratio axis and equivalence band, with nothing drawn on them yet."""
    figure, axes = canvas.rows(names, layout)
    limit = max((_limit(case) for case in cases), default=_DEFAULT_LIMIT)
    values = [value for case in cases for mark in MARKS for value in _extent(case, mark.meter)]
    if layout.names_above:
        name = quotient if len(quotient) < 40 else "right ÷ left"
    else:
        name = f"{quotient}   (band: within the limit of {units.percent(limit)} for time)"
    low, high = canvas.ratio_axis(axes, values, limit, name, layout)
    axes.axvspan(1 / (1 + limit), 1 + limit, color=LIGHT["band"], zorder=0, linewidth=0)
    for words, align, room in (("← less  ", "right", 1 / low), ("  more →", "left", high)):
        if room > (high / low) ** 0.12:
            axes.annotate(
                words,
                (1.0, 1.0),
                xycoords=axes.get_xaxis_transform(),
                xytext=(0, 4),
                textcoords="offset points",
                ha=align,
                color=canvas.MUTED,
                fontsize=layout.small,
            )
    return figure, axes


def _point(axes: Axes, at: float, case: Mapping[str, Any], mark: Mark) -> None:
    """One meter's ratio with its interval; hollow if it is undecided."""
    ratio = positive(case, mark.meter)
    if ratio is None:
        return
    colour = LIGHT[mark.meter]
    data = case["meters"][mark.meter]
    low, high = data.get("low"), data.get("high")
    if units.usable(low) and units.usable(high) and 0 < low < high:
        axes.plot(
            [low, high], [at, at], color=colour, linewidth=2.2, solid_capstyle="round", zorder=2
        )
    hollow = data.get("verdict") == "undecided"
    axes.plot(
        [ratio],
        [at],
        marker=mark.shape,
        markersize=mark.size,
        markerfacecolor=canvas.GROUND if hollow else colour,
        markeredgecolor=colour if hollow else canvas.INK,
        markeredgewidth=1.4 if hollow else 0.6,
        linestyle="none",
        zorder=3,
    )


def _in_words(case: Mapping[str, Any]) -> str:
    state = raw.state_of(case)
    ratio = raw.ratio_of(case, "wall")
    undecided = raw.undecided(case, "wall")
    # A time that is undecided is no figure: it would stand in the colour of the case's verdict.
    figure = "" if ratio is None or undecided else f"{units.ratio(ratio)}  "
    doubt = ", time ?" if undecided and state != "undecided" else ""
    return f"{figure}{raw.SIGNS[state]} {state}{doubt}"


def _labelled(mark: Mark) -> str:
    return "time, with its interval" if mark.meter == "wall" else mark.label


def positive(case: Mapping[str, Any], meter: str) -> float | None:
    """A ratio that has a place on a logarithmic axis."""
    ratio = raw.ratio_of(case, meter)
    return ratio if ratio is not None and ratio > 0 else None


def _extent(case: Mapping[str, Any], meter: str) -> list[float]:
    """A ratio and the ends of its interval, as far as they are positive."""
    data = (case.get("meters") or {}).get(meter) or {}
    values = [data.get(key) for key in ("ratio", "low", "high")]
    return [value for value in values if units.usable(value) and value > 0]


def _limit(case: Mapping[str, Any]) -> float:
    limit = ((case.get("meters") or {}).get("wall") or {}).get("limit")
    return float(limit) if units.usable(limit) and limit > 0 else _DEFAULT_LIMIT
