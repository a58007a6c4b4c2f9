"""The one kind of picture: a row a name, marks on a ratio axis, a legend, the files.

Colours are Okabe and Ito's, each with a shape, on any ground. A picture is drawn once, in the light
colours on a transparent ground; the dark variant is the same SVG with the colours of ``DARK`` in
their place, so that the two can't drift apart. That takes colours that occur for one purpose only:
no two values of ``LIGHT`` are equal.

Matplotlib's objects are used directly, without pyplot and its global state.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from matplotlib.axes import Axes

#: What is drawn with which colour, on a light ground.
LIGHT = {
    "ink": "#1c2330",
    "muted": "#5a6372",
    "grid": "#d6dbe3",
    "band": "#e9edf2",
    "ground": "#fefefe",
    "wall": "#0072b2",
    "instructions": "#e69f00",
    "allocations": "#cc79a7",
    "left": "#8a93a3",
    "right": "#0173b3",
}

#: The same on a dark ground.
DARK = {
    "ink": "#e7eaf0",
    "muted": "#a6aebb",
    "grid": "#39414f",
    "band": "#262d38",
    "ground": "#14181f",
    "wall": "#56b4e9",
    "instructions": "#e69f00",
    "allocations": "#cc79a7",
    "left": "#98a1b0",
    "right": "#57b5ea",
}

INK, MUTED, GROUND = LIGHT["ink"], LIGHT["muted"], LIGHT["ground"]
_FINE_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_COARSE = (100, 50, 20, 10, 5, 4, 3, 2)
_FAR = 3.0
#: Part of the axis that two labels need to stay apart.
_CLOSE = 0.03
#: What ``save`` adds to a stem.
ENDINGS = ("-wide.svg", "-wide-dark.svg", "-narrow.svg", "-narrow-dark.svg", ".png")


def span(values: Iterable[float], limit: float, padding: float = 0.06) -> tuple[float, float]:
    """The range of the axis: all values and 1.0, at least twice the limit to each side.

    Args:
        values: Positive ratios.
        limit: The equivalence limit, a fraction.
        padding: Share of the range (in logarithms) left free at each end.
    """
    floor = math.log1p(2 * limit)
    logs = [-floor, floor, *map(math.log, values)]
    low, high = min(logs), max(logs)
    free = padding * (high - low)
    return math.exp(low - free), math.exp(high + free)


def ticks(low: float, high: float, most: int = 7) -> list[tuple[float, str]]:
    """Positions and labels between two ratios: even steps near 1, else 1/2, 1, 2, 5, ..."""
    if high / low <= _FAR:
        return _near(low, high, most)
    return _far(low, high, most)


def _near(low: float, high: float, most: int) -> list[tuple[float, str]]:
    for step in _FINE_STEPS:
        first, last = math.ceil((low - 1) / step), math.floor((high - 1) / step)
        if last - first + 1 <= most:
            break
    decimals = max(2, math.ceil(-math.log10(step)))
    return [(1 + n * step, f"{1 + n * step:.{decimals}f}") for n in range(first, last + 1)]


def _far(low: float, high: float, most: int) -> list[tuple[float, str]]:
    every = [(1 / n, f"1/{n}") for n in _COARSE]
    every += [(1.0, "1")] + [(float(n), str(n)) for n in reversed(_COARSE)]
    # What goes when there is no room: first 1/3 and 3, in the end all but the powers of ten.
    for dropped in ((), (3,), (3, 4), (3, 4, 20), (3, 4, 20, 50, 5), (3, 4, 20, 50, 5, 2)):
        gone = {text for n in dropped for text in (str(n), f"1/{n}")}
        shown = [(at, text) for at, text in every if low <= at <= high and text not in gone]
        apart = min((after / at for (at, _), (after, _) in pairwise(shown)), default=math.inf)
        if len(shown) <= most and apart >= (high / low) ** _CLOSE:
            break
    return shown


@dataclass(frozen=True)
class Layout:
    """Where things go on one width; lengths in inches, ``drop`` in rows, ``small`` in points."""

    name: str
    width: float
    row: float
    head: float
    foot: float
    right: float
    small: float
    ticks: int
    names_above: bool
    drop: float

    def left(self, names: Sequence[str]) -> float:
        """The margin that the longest name needs (0.08 inches a character of 9 points)."""
        return 0.12 if self.names_above else 0.2 + 0.08 * max(map(len, names), default=0)


#: A screen: names in the left margin, verdicts in the right one.
WIDE = Layout("wide", 11.6, 0.40, 0.58, 0.62, 2.0, 8.5, 11, names_above=False, drop=0.0)
#: A telephone: names and verdicts above the marks of their row.
NARROW = Layout("narrow", 3.8, 0.70, 0.72, 0.55, 0.12, 7.5, 5, names_above=True, drop=0.12)


def style() -> AbstractContextManager[None]:
    """Matplotlib's settings while a picture is drawn; restored afterwards."""
    return mpl.rc_context(
        {
            "svg.fonttype": "path",  # looks the same everywhere; the page gives the text as alt
            "svg.hashsalt": "benchproof",  # the same data give the same file
            "font.family": "DejaVu Sans",  # comes with matplotlib
            "font.size": 9.0,
            "axes.linewidth": 0.7,
        }
    )


def save(draw: Callable[[Layout], Figure], folder: Path, stem: str) -> None:
    """Draw on both widths; write SVG for light and dark grounds and, of the wide one, a PNG."""
    with style():
        for layout in (WIDE, NARROW):
            figure = draw(layout)
            text = io.StringIO()
            figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
            svg = text.getvalue()
            (folder / f"{stem}-{layout.name}.svg").write_text(svg, encoding="utf-8")
            (folder / f"{stem}-{layout.name}-dark.svg").write_text(darken(svg), encoding="utf-8")
            if layout is WIDE:
                figure.savefig(folder / f"{stem}.png", dpi=120, facecolor=GROUND)


@dataclass(frozen=True)
class Mark:
    """A mark: what it looks like in a row and in the legend.

    Attributes:
        shape: matplotlib's name of it; ``|`` is a tick, which does not widen the axis.
        size: in points.
        colour: of its face.
        hollow: whether it is empty: undecided, or of others than the rest.
        faint: whether it stands behind the others, without an edge.
    """

    shape: str
    size: float
    colour: str
    hollow: bool = False
    faint: bool = False

    @property
    def style(self) -> dict[str, Any]:
        """For matplotlib."""
        common = {"linestyle": "none", "marker": self.shape, "markersize": self.size}
        if self.faint:
            return common | {"color": self.colour, "alpha": 0.6, "markeredgewidth": 0}
        edge = self.hollow or self.shape == "|"
        return common | {
            "markerfacecolor": GROUND if self.hollow else self.colour,
            "markeredgecolor": self.colour if edge else INK,
            "markeredgewidth": 1.4 if edge else 0.6,
        }


@dataclass(frozen=True)
class Point:
    """A ratio in a row, with its interval if it has one; it stands so many rows off its middle."""

    mark: Mark
    value: float
    off: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def extent(self) -> list[float]:
        """What has to fit on the axis."""
        ends = [self.value, self.low, self.high] if self.mark.shape != "|" else []
        return [end for end in ends if end is not None and 0 < end < math.inf]


def chart(
    rows: Sequence[tuple[str, str, Sequence[Point]]],
    axis: str,
    legend: Iterable[tuple[str, Mark]],
    layout: Layout,
    *,
    room: float,
    band: bool = True,
) -> Figure:
    """Draw.

    Args:
        rows: Name, words at the right end, and points of each.
        axis: What is divided by what.
        legend: Words and marks.
        layout: For which width.
        room: A fraction: the axis reaches at least twice as far to either side of 1.
        band: Whether what lies within `room` is marked as no change.
    """
    names = [name for name, _, _ in rows]
    figure, axes = _frame(names, layout)
    low, high = span((end for _, _, own in rows for each in own for end in each.extent), room)
    _ratio_axis(axes, low, high, axis, layout)
    if band:
        axes.axvspan(1 / (1 + room), 1 + room, color=LIGHT["band"], zorder=0, linewidth=0)
        for words, align, free in (("← less  ", "right", 1 / low), ("  more →", "left", high)):
            if free > (high / low) ** 0.12:
                axes.annotate(
                    words, (1.0, 1.0), xycoords=axes.get_xaxis_transform(), xytext=(0, 4),
                    textcoords="offset points", ha=align, color=MUTED, fontsize=layout.small,
                )  # fmt: skip
    for position, (name, remark, own) in enumerate(rows):
        for each in own:
            at = position + each.off + layout.drop
            if each.low is not None and each.high is not None and 0 < each.low < each.high:
                axes.plot([each.low, each.high], [at, at], color=each.mark.colour, linewidth=2.2,
                          solid_capstyle="round", zorder=2)  # fmt: skip
            axes.plot([each.value], [at], zorder=3 - each.mark.faint, **each.mark.style)
        across: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
        if layout.names_above:
            for at, words, align, colour in ((0.0, name, "left", INK),
                                             (1.0, remark, "right", MUTED)):  # fmt: skip
                # On the ground's colour: the line at 1 and long intervals pass below the words.
                axes.text(at, position - 0.33, words, ha=align, color=colour, zorder=4,
                          fontsize=layout.small, **across,
                          bbox={"facecolor": GROUND, "edgecolor": "none", "pad": 0.8})  # fmt: skip
        else:
            axes.text(1.015, position, remark, color=INK, fontsize=layout.small, **across)
    handles = [Line2D([], [], label=label, **mark.style) for label, mark in legend]
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.0, 1.0),
        ncols=2 if layout.names_above else len(handles), frameon=False, labelcolor=INK,
        fontsize=layout.small + 0.5, handletextpad=0.2, columnspacing=1.4, labelspacing=0.25,
        borderaxespad=0.2,
    )  # fmt: skip
    return figure


def _frame(names: Sequence[str], layout: Layout) -> tuple[Figure, Axes]:
    """A figure with one line a name, as high as it takes."""
    height = layout.head + layout.foot + layout.row * len(names)
    figure = Figure(figsize=(layout.width, height))
    left = layout.left(names)
    axes = figure.add_axes((
        left / layout.width, layout.foot / height, 1 - (left + layout.right) / layout.width,
        1 - (layout.head + layout.foot) / height,
    ))  # fmt: skip
    axes.set_facecolor("none")
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), [""] * len(names) if layout.names_above else names)
    axes.tick_params(axis="y", length=0, colors=INK, pad=8)
    axes.tick_params(axis="x", length=3, color=LIGHT["grid"], labelcolor=MUTED)
    axes.grid(axis="x", color=LIGHT["grid"], linewidth=0.6)
    axes.set_axisbelow(True)
    for line in range(len(names) - 1):
        axes.axhline(line + 0.5, color=LIGHT["grid"], linewidth=0.6, zorder=0.5)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(LIGHT["grid"])
    return figure, axes


def _ratio_axis(axes: Axes, low: float, high: float, name: str, layout: Layout) -> None:
    """A logarithmic axis with a line at 1."""
    shown = ticks(low, high, layout.ticks)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks([at for at, _ in shown], [text for _, text in shown])
    axes.axvline(1.0, color=MUTED, linewidth=1.1, zorder=1.5)
    axes.set_xlabel(name, color=MUTED, labelpad=6, fontsize=layout.small)


def darken(svg: str) -> str:
    """The dark variant of an SVG that was drawn with the colours of ``LIGHT``."""
    for name, colour in LIGHT.items():
        # Through a placeholder: a dark colour may equal a light one that is still to come.
        svg = svg.replace(colour, f"@{name}@")
    for name, colour in DARK.items():
        svg = svg.replace(f"@{name}@", colour)
    return svg
