"""From one number a process to a ratio with its interval, and one error budget for many cases.

The unit is the block: one process of each side, in the same minute. A block gives the logarithm
of right over left; the blocks are treated as independent draws, by Student's t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Fewer blocks say nothing about their own spread that is worth printing.
FEWEST = 3


@dataclass(frozen=True)
class Estimate:
    """A ratio right/left, from paired processes.

    Attributes:
        ratio: the geometric mean over blocks.
        low: lower end of the interval.
        high: upper end.
        confidence: of the interval, for this case alone.
        mean: of the blocks' logarithms.
        error: the mean's standard error.
        freedom: degrees of freedom.
    """

    ratio: float
    low: float
    high: float
    confidence: float
    mean: float
    error: float
    freedom: int


def paired_ratio(left: Sequence[float], right: Sequence[float], confidence: float) -> Estimate:
    """Estimate right/left from processes that ran in pairs.

    Args:
        left: one positive number a process, in the order of the blocks.
        right: the same of the other side.
        confidence: of the interval, as 0.95.

    Raises:
        ValueError: the sides differ in length, there are too few, or a number is not positive.
    """
    if len(left) != len(right) or len(left) < FEWEST:
        raise ValueError(f"{len(left)} and {len(right)} processes: need {FEWEST} pairs or more")
    if min(*left, *right) <= 0:
        raise ValueError("times must be positive")
    logs = np.log(np.asarray(right, float) / np.asarray(left, float))
    mean, freedom = float(logs.mean()), len(logs) - 1
    error = float(logs.std(ddof=1)) / math.sqrt(len(logs))
    half = error * float(stdtrit(freedom, (1 + confidence) / 2))
    return Estimate(
        math.exp(mean), math.exp(mean - half), math.exp(mean + half),
        confidence, mean, error, freedom,
    )  # fmt: skip


def p_beyond(estimate: Estimate, limit: float) -> float:
    """How compatible the data are with a change that stays within a limit.

    Two-sided: the smaller of the one-sided probabilities that a ratio of just ``1 + limit``, or
    of just ``1 / (1 + limit)``, gives blocks at least as far out, doubled.

    Args:
        estimate: of the ratio.
        limit: as 0.05.
    """
    edge = math.log1p(limit)
    distance = abs(estimate.mean) - edge
    if estimate.error == 0:
        return 0.0 if distance > 0 else 1.0
    return min(1.0, 2 * float(stdtr(estimate.freedom, -distance / estimate.error)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: reject those below alpha, and the chance of even one false
    rejection among all of them is at most alpha.
    """  # noqa: D205  (one sentence)
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415  (slow to import)

    return [float(p) for p in multipletests(p_values, method="holm")[1]] if p_values else []


def detectable(estimate: Estimate, limit: float, alpha: float, tests: int) -> float:
    """The smallest true ratio above 1 that this run would more likely than not have called a
    regression: it stands beyond the limit by the half-width of the strictest interval.

    Args:
        estimate: of the ratio; only its error counts.
        limit: as 0.05.
        alpha: the error budget of the comparison.
        tests: how many cases share it.
    """  # noqa: D205  (one sentence)
    quantile = float(stdtrit(estimate.freedom, 1 - alpha / (2 * max(1, tests))))
    return (1 + limit) * math.exp(quantile * estimate.error)
