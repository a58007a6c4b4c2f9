"""A change: where a series took another level, by how much, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from benchproof.history.model import Commit, SeriesKey

Kind = Literal["code", "platform"]


@dataclass(frozen=True)
class Change:
    """A lasting step of one series.

    Attributes:
        key: the series.
        before: place (in the history's commits) of the last commit that surely has the old level.
        after: place of the first that surely has the new one. The culprit is `after` where it
            follows `before` directly, else one of the commits behind `before` up to `after`: those
            between were not measured, or noise hides at which of them it happened.
        likely: the likeliest place of the first measured commit with the new level.
        ratio: new level over old level; infinite where the old one is zero.
        low: lower end of the ratio's interval.
        high: upper end.
        p: chance of such data with no change beyond noise, adjusted for all places of all
            series that were searched together (Benjamini and Hochberg).
        kind: `code`, or `platform` where the canary or the recorded platform moved with it.
    """

    key: SeriesKey
    before: int
    after: int
    likely: int
    ratio: float
    low: float
    high: float
    p: float
    kind: Kind = "code"

    @property
    def exact(self) -> bool:
        """Whether it is one commit's."""
        return self.after == self.before + 1

    @property
    def size(self) -> float:
        """How large it is, whatever its direction: 0.02 for 2 % more, and for 1 / 1.02."""
        if not 0 < self.ratio < math.inf:
            return math.inf
        return max(self.ratio, 1 / self.ratio) - 1

    def told(self, commits: list[Commit]) -> dict[str, Any]:
        """It in JSON's types; None stands for a ratio that is infinite."""
        return {
            "benchmark": self.key.benchmark,
            "meter": self.key.meter,
            "impl": self.key.impl,
            "machine": self.key.machine,
            "before": commits[self.before].hash,
            "after": commits[self.after].hash,
            "likely": commits[self.likely].hash,
            "commits": self.after - self.before,
            "subject": commits[self.likely].subject,
            "claims": list(commits[self.likely].claims),
            "ratio": _finite(self.ratio),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "p": self.p,
            "kind": self.kind,
        }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
