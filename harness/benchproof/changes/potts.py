"""The second method: asv's own step detection, a piecewise constant fit by weighted distances.

Medians and absolute distances instead of means and squares: it is not led by single points far
out, as the first method may be. asv chooses its penalty by how large a series' noise looks to it,
which in a series with a step at every commit is as large as the steps; here the noise is known, so
the penalty is given. It is asked about the surroundings of what the first method found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .noise import Numbers
    from .scan import Sums

NAME = "asv"
#: What a further level must save, in standard deviations.
PRICE = 5.0
#: Points to either side of a place that are looked at: as many as a step of its size needs.
FEWEST, MOST = 16, 256
_ENOUGH = 6.0
#: Squared standard deviations by which another place of a step may fit worse and still be asv's.
_PLAUSIBLE = 10.0


def agreed(
    x: Numbers, spread: Numbers, places: Sequence[int], sums: Sums, *, exact: bool
) -> list[int]:
    """Those of some places at which asv's step detection finds a step, too.

    Args:
        x: the stretch.
        spread: the standard deviation of each point.
        places: where the first method begins another level.
        sums: of the stretch.
        exact: whether the place must be the very same; else noise may move it.
    """
    from asv.step_detect import solve_potts_approx  # noqa: PLC0415  (slow to import)

    found: list[int] = []
    edges = [0, *places, len(x)]
    for start, stop, inside in _surroundings(spread, edges, sums):
        weight = (1 / spread[start:stop]).tolist()
        ends, _, _ = solve_potts_approx(x[start:stop].tolist(), weight, gamma=PRICE)
        steps = np.asarray(ends[:-1], int) + start
        for number in inside:
            reach = 0 if exact else _wander(sums, *edges[number - 1 : number + 2])
            if len(steps) and np.min(np.abs(steps - edges[number])) <= reach:
                found.append(edges[number])
    return found


def _surroundings(
    spread: Numbers, edges: Sequence[int], sums: Sums
) -> Iterator[tuple[int, int, list[int]]]:
    """What to look at, and for which places: those whose surroundings overlap are one."""
    count = len(spread)
    whole, inside = (0, 0), list[int]()
    for number in range(1, len(edges) - 1):
        before, place, behind = edges[number - 1 : number + 2]
        step = abs(sums.mean(place, behind) - sums.mean(before, place))
        points = 2 * (_ENOUGH * spread[place] / step) ** 2 if step else MOST
        wide = int(np.clip(points, FEWEST, MOST))
        start, stop = max(0, place - wide), min(count, place + wide)
        if inside and start > whole[1]:
            yield *whole, inside
            inside = []
        whole = (min(whole[0], start), max(whole[1], stop)) if inside else (start, stop)
        inside.append(number)
    if inside:
        yield *whole, inside


def _wander(sums: Sums, before: int, place: int, behind: int) -> int:
    """How far noise may have moved a place."""
    gain = sums.split(before, behind)
    plausible = np.flatnonzero(gain >= gain.max() - _PLAUSIBLE) + before + 1
    return max(2, int(np.max(np.abs(plausible - place))))
