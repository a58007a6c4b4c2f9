"""The logarithmic ratio axis: its range and its ticks, near 1 and far from it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FINE_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_COARSE = (100, 50, 20, 10, 5, 4, 3, 2)
_FAR = 3.0
#: Part of the axis that two labels need to stay apart.
_CLOSE = 0.03


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
