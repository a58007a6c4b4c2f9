"""A series in stretches: each is searched on its own, so that one more commit changes one of them.

A stretch is seen with some points of its surroundings on either side, enough for every window of
the scan. What is found depends on those points alone, so their hash names the answer in a cache.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import noise, potts, segment
from .scan import LONGEST, Sums, propose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchproof.history.model import Series

    from .noise import Numbers

#: Points of a stretch, and of its surroundings on either side.
POINTS, AROUND = 512, LONGEST
#: Bump when the same points may give another answer.
_METHOD = b"1"


@dataclass(frozen=True)
class Found:
    """What a search of a stretch gives.

    Attributes:
        between: what its points differ by beyond their intervals, as a variance.
        places: where a level may begin, counted from the beginning of the stretch itself, with the
            methods that say so.
    """

    between: float
    places: tuple[tuple[int, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Stretch:
    """A part of a series to search.

    Attributes:
        meter: of the series.
        value: of the stretch and its surroundings.
        low: lower ends of the intervals; `value` itself where the series has none.
        high: upper ends.
        start: where the stretch itself begins in them.
        stop: where it ends.
    """

    meter: str
    value: Numbers
    low: Numbers
    high: Numbers
    start: int
    stop: int

    def digest(self) -> str:
        """A name for everything that the answer depends on."""
        whole = hashlib.blake2b(
            b"%s %s %d %d" % (_METHOD, self.meter.encode(), self.start, self.stop), digest_size=16
        )
        whole.update(np.ascontiguousarray(self.value).data)
        for end in (self.low, self.high):
            whole.update(b"none" if end is self.value else np.ascontiguousarray(end).data)
        return whole.hexdigest()


def stretches(series: Series) -> Iterator[Stretch]:
    """The stretches of a series."""
    count = len(series.value)
    for start in range(0, max(count, 1), POINTS):
        stop = min(start + POINTS, count)
        first, last = max(0, start - AROUND), min(count, stop + AROUND)
        seen = slice(first, last)
        value = series.value[seen]
        low, high = (
            (series.low[seen], series.high[seen]) if series.has_intervals else (value, value)
        )
        yield Stretch(series.key.meter, value, low, high, start - first, stop - first)


def look(stretch: Stretch) -> Found:
    """Search a stretch."""
    floor = noise.floor_of(stretch.meter)
    x = noise.scale(stretch.value, floor)
    kept = np.flatnonzero(np.isfinite(x))
    own = noise.own_variance(stretch.low, stretch.high, floor)[kept]
    x = x[kept]
    between = noise.between(x, own, floor)
    spread = own + between
    sums = Sums.over(x, 1 / spread)
    proposed = propose(sums, floor.ratio)
    if not len(proposed):
        return Found(between)
    places = segment.fit(sums, proposed)
    second = set(potts.agreed(x, np.sqrt(spread), places, sums, exact=floor.exact))
    return Found(between, tuple(
        (int(kept[place]) - stretch.start,
         (segment.NAME, potts.NAME) if place in second else (segment.NAME,))
        for place in places
        if stretch.start <= kept[place] < stretch.stop
    ))  # fmt: skip
