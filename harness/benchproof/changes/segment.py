"""Where a series takes another level: places that a scan proposes, the best of them by PELT.

The scan compares means of neighbouring windows of many lengths. All windows of a length are
compared at once, by differences of cumulative sums, so that a scan of n points takes the time of
some n log n additions. It only proposes; it proposes too much on purpose. Then the best piecewise
constant fit by weighted squares: Killick, Fearnhead and Eckley, "Optimal detection of changepoints
with a linear computational cost" (2012), weighted, and over blocks. A block is what lies between
two proposed places, and its sums are all that the cost of any union of blocks needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import maximum_filter1d

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchproof.noise import Numbers

    Places = NDArray[np.int64] | int

#: Windows of more points than this see nothing more: the mean of so many knows its level to less
#: than a tenth of a point's noise.
LONGEST = 128
#: Standard errors by which two windows must differ to be proposed.
DIFFERENT = 3.5
#: And the part of the noise floor: an estimate of a step may fall short of it.
NEARLY = 0.7
#: Passes over the found places, each of which moves a place to where it fits best between its
#: neighbours: the scan's proposals may miss that by a little.
_PASSES = 2


@dataclass(frozen=True)
class Sums:
    """Cumulative sums over a stretch, by which any part of it has its mean and its cost at once.

    Attributes:
        weight: of the points before each place, n + 1 of them.
        first: of weight times value.
        second: of weight times value squared.
        middle: subtracted from the values, so that squares keep their digits.
    """

    weight: Numbers
    first: Numbers
    second: Numbers
    middle: float

    @classmethod
    def over(cls, x: Numbers, weight: Numbers) -> Sums:
        """Sum up a stretch."""
        middle = float(np.median(x)) if len(x) else 0.0
        centred = x - middle
        return cls(
            _running(weight), _running(weight * centred), _running(weight * centred**2), middle
        )

    def mean(self, start: int, stop: int) -> float:
        """The weighted mean of a part."""
        weight = self.weight[stop] - self.weight[start]
        return self.middle + float((self.first[stop] - self.first[start]) / weight)

    def weigh(self, start: int, stop: int) -> float:
        """The weight of a part."""
        return float(self.weight[stop] - self.weight[start])

    def halves(self, start: Places, at: Places, stop: Places) -> tuple[Numbers, ...]:
        """The weights of the parts before and behind each of some places, and their sums."""
        left, right = self.weight[at] - self.weight[start], self.weight[stop] - self.weight[at]
        one, two = self.first[at] - self.first[start], self.first[stop] - self.first[at]
        return left, right, one, two

    def split(self, start: int, stop: int) -> Numbers:
        """How much of a part's cost falls away if it is cut, at each place inside of it."""
        left, right, one, two = self.halves(start, np.arange(start + 1, stop), stop)
        whole = (self.first[stop] - self.first[start]) ** 2 / self.weigh(start, stop)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = one**2 / left + two**2 / right - whole
        # Without any weight on a side there is nothing to cut off.
        gain[(left <= 0) | (right <= 0)] = 0.0
        found: Numbers = gain
        return found


def _propose(sums: Sums, floor: float) -> NDArray[np.int64]:
    """The places at which a level may begin, increasing.

    Args:
        sums: of the stretch.
        floor: the smallest step that counts, on the scale of the stretch.
    """
    count = len(sums.weight) - 1
    places = np.arange(1, count)
    found = np.zeros(count, bool)
    length = 1
    while length <= min(LONGEST, max(1, count - 1)):
        start, stop = np.maximum(places - length, 0), np.minimum(places + length, count)
        left, right, one, two = sums.halves(start, places, stop)
        step = np.abs(two / right - one / left)
        far = step * np.sqrt(left * right / (left + right))
        kept = (far > DIFFERENT) & (step > NEARLY * floor)
        if length > 1 and kept.any():
            # Of the places around a step, all of which see it, the one that sees it best.
            kept &= far >= maximum_filter1d(far, 2 * (length // 2) + 1)
        found[1:] |= kept
        length *= 2
    return np.flatnonzero(found)


def _running(part: Numbers) -> Numbers:
    return np.concatenate(([0.0], np.cumsum(part)))


def penalty(count: int) -> float:
    """What a further level must save, in squared standard deviations: twice Schwarz's price."""
    return 4 * math.log(max(count, 8))


def fit(sums: Sums, floor: float) -> list[int]:
    """The places at which the best fit begins another level, increasing.

    Args:
        sums: of the series.
        floor: the smallest step that counts, on the scale of the series.
    """
    count, proposed = len(sums.weight) - 1, _propose(sums, floor)
    if not len(proposed):
        return []
    places = _pelt(sums, np.concatenate(([0], proposed, [count])), penalty(count))
    for _ in range(_PASSES):
        places = _refine(sums, places, count)
    return places


def _pelt(sums: Sums, edges: NDArray[np.int64], price: float) -> list[int]:
    """The edges at which the cheapest fit of one level for each part begins another part."""
    weight, first, second = (part[edges] for part in (sums.weight, sums.first, sums.second))
    cost = np.full(len(edges), -price)
    before = [0] * len(edges)
    alive = np.array([0])
    for end in range(1, len(edges)):
        own = second[end] - second[alive]
        own -= (first[end] - first[alive]) ** 2 / (weight[end] - weight[alive])
        all_of_it = cost[alive] + own
        at = int(np.argmin(all_of_it))
        before[end], cost[end] = int(alive[at]), all_of_it[at] + price
        # What is dearer now without a further part will be dearer for ever.
        alive = np.append(alive[all_of_it <= cost[end]], end)
    places: list[int] = []
    while before[end]:
        end = before[end]
        places.append(int(edges[end]))
    return places[::-1]


def _refine(sums: Sums, places: list[int], count: int) -> list[int]:
    """Move each place to where it fits best between its neighbours."""
    moved: list[int] = []
    for number, _ in enumerate(places):
        start = moved[-1] if moved else 0
        stop = places[number + 1] if number + 1 < len(places) else count
        moved.append(start + 1 + int(np.argmax(sums.split(start, stop))))
    return moved
