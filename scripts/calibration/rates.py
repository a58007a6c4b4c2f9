"""Rates of error with exact intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Of the intervals around rates.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Rate:
    """How often something happened.

    Attributes:
        k: times that it did.
        n: times that it could have.
        rate: k / n.
        low: lower end of the Clopper-Pearson interval.
        high: upper end.
    """

    k: int
    n: int
    rate: float
    low: float
    high: float

    def asdict(self) -> dict[str, Any]:
        """As summary.json holds it."""
        return asdict(self)


def rate(k: int, n: int) -> Rate | None:
    """A rate with its interval (Clopper and Pearson 1934, by scipy); None if nothing was tried."""
    from scipy.stats import binomtest  # noqa: PLC0415  (slow to import, and --help needs none)

    if not n:
        return None
    interval = binomtest(k, n).proportion_ci(CONFIDENCE, method="exact")
    return Rate(k, n, k / n, float(interval.low), float(interval.high))


def of(answers: Iterable[bool]) -> dict[str, Any] | None:
    """The rate of what is true among some answers, as summary.json holds it."""
    said = list(answers)
    found = rate(sum(said), len(said))
    return found.asdict() if found else None


def told(found: dict[str, Any] | None) -> str:
    """A rate in words: "3 of 100 (0.6 to 8.5 %)"."""
    if found is None:
        return "not measured"
    return f"{found['k']} of {found['n']} ({found['low'] * 100:.1f} to {found['high'] * 100:.1f} %)"
