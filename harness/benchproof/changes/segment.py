"""The first method: the best piecewise constant fit by weighted squares, found by PELT.

Killick, Fearnhead and Eckley, "Optimal detection of changepoints with a linear computational cost"
(2012), as ruptures has it, with a cost of our own: weighted, and over blocks. A block is what lies
between two proposed places, and its sums are all that the cost of any union of blocks needs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .scan import Sums

NAME = "pelt"
#: Passes over the found places, each of which moves a place to where it fits best between its
#: neighbours: the scan's proposals may miss that by a little.
_PASSES = 2


def penalty(count: int) -> float:
    """What a further level must save, in squared standard deviations: twice Schwarz's price."""
    return 4 * math.log(max(count, 8))


def fit(sums: Sums, proposed: NDArray[np.int64]) -> list[int]:
    """The places at which the best fit begins another level, increasing."""
    count = len(sums.weight) - 1
    edges = np.concatenate(([0], proposed, [count]))
    if len(edges) < 3:
        return []
    weight, first, second = (part[edges].tolist() for part in
                             (sums.weight, sums.first, sums.second))  # fmt: skip
    ends = _pelt(weight, first, second, penalty(count))
    places = [int(edges[end]) for end in ends if end < len(edges) - 1]
    for _ in range(_PASSES):
        places = _refine(sums, places, count)
    return places


def _pelt(
    weight: Sequence[float], first: Sequence[float], second: Sequence[float], price: float
) -> list[int]:
    """Ruptures' PELT over blocks, of which cumulative sums are given."""
    from ruptures import Pelt  # noqa: PLC0415  (slow to import)
    from ruptures.base import BaseCost  # noqa: PLC0415

    class Squares(BaseCost):  # type: ignore[misc]  # (ruptures is not typed)
        """Weighted squares around the mean of a union of blocks."""

        model = "weighted squares"
        min_size = 1

        def fit(self, signal: NDArray[np.float64]) -> Squares:
            """Take the number of blocks."""
            self.signal = signal
            return self

        def error(self, start: int, end: int) -> float:
            """The cost of the blocks from start up to end."""
            total = first[end] - first[start]
            return second[end] - second[start] - total * total / (weight[end] - weight[start])

    blocks = np.zeros((len(weight) - 1, 1))
    found: list[int] = Pelt(custom_cost=Squares(), min_size=1, jump=1).fit(blocks).predict(price)
    return found


def _refine(sums: Sums, places: list[int], count: int) -> list[int]:
    """Move each place to where it fits best between its neighbours."""
    moved: list[int] = []
    for number, _ in enumerate(places):
        start = moved[-1] if moved else 0
        stop = places[number + 1] if number + 1 < len(places) else count
        moved.append(start + 1 + int(np.argmax(sums.split(start, stop))))
    return moved
