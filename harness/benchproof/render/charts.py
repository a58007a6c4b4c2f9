"""The one kind of picture: a row a name, marks on an axis of ratios, a legend; an SVG.

How it looks, on any ground, is in `templates/chart.svg`; here is where things go.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .view import templates_of

#: The first word of a mark's look is its colour's name, the last one here its shape; others say how
#: it is drawn: `hollow`, `faint`, `small`, `large`.
_CIRCLE, _SQUARE = "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0", "m-4-4h8v8h-8z"
SHAPES = {
    "wall": _CIRCLE, "instructions": _SQUARE, "allocations": "m0-5l4.8 8.5h-9.6z",
    "left": _CIRCLE, "right": "m0-5l5 5-5 5-5-5z", "ink": "m0-5l5 5-5 5-5-5z",
    "circle": _CIRCLE, "square": _SQUARE, "tick": "m0-8v16",
}  # fmt: skip
#: Pixels: the whole width, what stands at its right end, a row, what is below the rows.
_WIDTH, _RIGHT, _ROW, _FOOT = 1100, 190, 34, 52
#: Of a character, and of a line of the legend.
_LETTER, _LINE = 7.4, 20
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
#: From this range on, ticks are not even any more.
_FAR = 3.0


@dataclass(frozen=True)
class Point:
    """A ratio in a row, with its interval if it has one; it stands so many rows off its middle."""

    look: str
    value: float
    off: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def extent(self) -> list[float]:
        """What has to fit on the axis."""
        ends = [self.value, self.low, self.high] if not self.look.startswith("tick") else []
        return [end for end in ends if end is not None and 0 < end < math.inf]


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


def ticks(low: float, high: float, most: int = 11) -> list[tuple[float, str]]:
    """Positions and labels between two ratios: even steps near 1, else 1/2, 1, 2, 5, 10, ..."""
    if high / low <= _FAR:
        for step in _STEPS:
            first, last = math.ceil((low - 1) / step), math.floor((high - 1) / step)
            if last - first < most:
                break
        decimals = max(2, math.ceil(-math.log10(step)))
        return [(1 + n * step, f"{1 + n * step:.{decimals}f}") for n in range(first, last + 1)]
    for digits in ((1, 2, 5), (1,)):
        whole = [digit * 10**power for power in range(5) for digit in digits]
        every = [(1 / n, f"1/{n}") for n in reversed(whole[1:])] + [(n, str(n)) for n in whole]
        shown = [(at, text) for at, text in every if low <= at <= high]
        if len(shown) <= most:
            break
    return shown


def chart(
    rows: Sequence[tuple[str, str, Sequence[Point]]],
    axis: str,
    legend: Iterable[tuple[str, str]],
    *,
    room: float,
    band: bool = True,
) -> str:
    """Draw; the SVG.

    Args:
        rows: Name, words at the right end, and points of each.
        axis: What is divided by what.
        legend: Words, and how their mark looks.
        room: A fraction: the axis reaches at least twice as far to either side of 1.
        band: Whether what lies within `room` is marked as no change.
    """
    low, high = span((end for _, _, own in rows for each in own for end in each.extent), room)
    left = 24 + _LETTER * max((len(name) for name, _, _ in rows), default=0)
    scale = (_WIDTH - _RIGHT - left) / math.log(high / low)
    placed, x, y = [], 16.0, 16
    for words, look in legend:
        width = 32 + _LETTER * len(words)
        if x + width > _WIDTH:
            x, y = 16.0, y + _LINE
        placed.append((look, words, x, y))
        x += width
    top = y + _LINE * 2
    bottom = top + _ROW * len(rows)
    return templates_of("benchproof.render").get_template("chart.svg").render(
        rows=rows, axis=axis, legend=placed, ticks=ticks(low, high), room=room, band=band,
        at=lambda ratio: left + scale * math.log(ratio / low), low=low, high=high, row=_ROW,
        left=left, right=_WIDTH - _RIGHT, top=top, bottom=bottom,
        width=_WIDTH, height=bottom + _FOOT,
        shape=lambda look: next(SHAPES[word] for word in reversed(look.split()) if word in SHAPES),
    )  # fmt: skip
