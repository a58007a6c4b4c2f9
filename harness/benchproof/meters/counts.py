"""Loop counts of the exact meters: two, so that everything but the calls cancels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Counts:
    """How often a case is called by an exact meter.

    Attributes:
        warm: calls before counting, for the adaptive interpreter and for caches.
        few: calls of the first counted loop.
        many: calls of the second one.
    """

    warm: int
    few: int
    many: int

    def per_call(self, totals: Sequence[float]) -> float:
        """What one call costs, from the totals of the two loops."""
        few, many = totals
        return (many - few) / (self.many - self.few)


def counts_for(seconds: float, target: float, most: int) -> Counts:
    """Counts for a call that takes some seconds.

    Powers of two of a rough time, so that a calibration that wobbles rarely changes them.

    Args:
        seconds: of one call, without the meter.
        target: seconds that the larger loop may take without the meter.
        most: upper bound of the larger loop.
    """
    many = 2 ** max(1, min(round(math.log2(target / seconds)), round(math.log2(most))))
    return Counts(warm=max(2, many), few=many // 2, many=many)
