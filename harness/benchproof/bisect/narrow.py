"""The search over stops: the half that holds more of the change, until two neighbours hold it.

With one culprit that is a binary search. With several it ends at one whose step is a large part of
the whole, and says how large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Lost:
    """A stop that cannot be measured, and why."""

    why: str


@dataclass(frozen=True)
class Narrowed:
    """Where the change is.

    Attributes:
        low: the newest stop that was measured before it.
        high: the oldest that was measured behind it; all stops between the two are lost.
        before: the value at `low`.
        after: the value at `high`.
        share: the part of the whole change that lies between them.
    """

    low: int
    high: int
    before: float
    after: float
    share: float


def narrow(
    first: tuple[int, float], last: tuple[int, float], measure: Callable[[int], float | Lost]
) -> Narrowed:
    """Narrow a change down.

    Args:
        first: place and value of the good end.
        last: the same of the bad end.
        measure: tells the value of a stop, or that it has none; asked once for each.
    """
    (low, before), (high, after) = first, last
    whole = after - before
    lost: set[int] = set()
    while True:
        middle = (low + high) / 2
        free = [place for place in range(low + 1, high) if place not in lost]
        if not free:
            share = (after - before) / whole if whole else 0.0
            return Narrowed(low, high, before, after, share)
        place = min(free, key=lambda each: abs(each - middle))
        value = measure(place)
        if isinstance(value, Lost):
            lost.add(place)
        elif math.copysign(1.0, whole) * ((value - before) - (after - value)) >= 0:
            high, after = place, value
        else:
            low, before = place, value


def most_builds(stops: int) -> int:
    """How many builds a search over so many stops takes, its ends included, if none is lost."""
    return stops if stops < 3 else 2 + math.ceil(math.log2(stops - 1))
