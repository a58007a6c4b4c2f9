"""A series in stretches: each is searched on its own, so that one more commit changes one of them.

A stretch is seen with some points of its surroundings on either side, enough for every window of
the scan. What is found depends on those points alone, so their hash names the answer in a file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchproof import files, noise

from . import segment
from .segment import LONGEST, Sums, propose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchproof.history.model import Series
    from benchproof.noise import Numbers

#: Points of a stretch, and of its surroundings on either side.
POINTS, AROUND = 512, LONGEST
#: Bump when the same points may give another answer.
_METHOD = b"2"


@dataclass(frozen=True)
class Found:
    """What a search of a stretch gives.

    Attributes:
        between: what its points differ by beyond their intervals, as a variance.
        places: where a level may begin, counted from the beginning of the stretch itself.
    """

    between: float
    places: tuple[int, ...] = ()


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
    return Found(between, tuple(
        int(kept[place]) - stretch.start
        for place in segment.fit(sums, proposed)
        if stretch.start <= kept[place] < stretch.stop
    ))  # fmt: skip


@dataclass
class Store:
    """Answers by hash, in a file; or in memory alone.

    Attributes:
        file: where they are kept, or None.
        read: what was in it.
        used: what was asked for or learnt since; the rest is forgotten when it is kept.
    """

    file: Path | None = None
    read: dict[str, Any] = field(default_factory=dict)
    used: dict[str, Found] = field(default_factory=dict)

    @classmethod
    def open(cls, file: Path | None) -> Store:
        """Read a file; one that is not there, or is not one of ours, is empty."""
        return cls(file, files.contents(file) if file else {})

    def found(self, stretch: Stretch) -> Found:
        """What a search of a stretch gives, remembered or searched."""
        digest = stretch.digest()
        if digest not in self.used:
            try:
                between, places = self.read[digest]
                self.used[digest] = Found(float(between), tuple(map(int, places)))
            except (TypeError, ValueError, KeyError):
                self.used[digest] = look(stretch)
        return self.used[digest]

    def keep(self) -> None:
        """Write what was used, if that is not what was read.

        Raises:
            BenchproofError: it cannot be written.
        """
        if self.file is not None and self.used.keys() != self.read.keys():
            answers = {name: [found.between, found.places] for name, found in self.used.items()}
            text = json.dumps(answers, allow_nan=False, separators=(",", ":"))
            files.write(text + "\n", self.file)
