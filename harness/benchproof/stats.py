"""From one number a process to a ratio with its interval, and one error budget for many cases.

The unit is the block: one process of each side, in the same minute. A block gives the logarithm
of right over left, and the blocks are independent draws: on the recorded runs of this project
neighbouring blocks are uncorrelated (-0.02), because what drifts is shared by both sides.

Their tails are not a normal distribution's. A neighbour on the same host takes the core for a
while, and one block in ten lies three to ten times further out than the rest. So the mean is
trimmed: a tenth of the blocks at each end is left out, and counts for the spread as if it lay where
the next one does (Tukey and McLaughlin 1963, `scipy.stats.mstats.trimmed_mean_ci`).
docs/statistics.md compares this with Student's t, which needs several times as many blocks on this
kind of machine, and with Wilcoxon's signed ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

#: Fewer blocks say nothing about their own spread that is worth printing.
FEWEST = 3
#: The part of the blocks that is trimmed at each end.
TRIMMED = 0.1
#: The least that a block can divide a probability by. Processes of one build may come in a fast
#: and a slow kind (where code and data happen to lie). Then the right one alone is slow in up to a
#: quarter of the blocks, and a few such blocks in a row look like a change without any spread.
LEAST_DOUBT = 0.25


@dataclass(frozen=True)
class Estimate:
    """A ratio right/left, from paired processes.

    Attributes:
        ratio: the trimmed geometric mean over blocks.
        low: lower end of the interval.
        high: upper end.
        confidence: of the interval, for this case alone.
        mean: of the blocks' logarithms, trimmed.
        error: the mean's standard error.
        freedom: degrees of freedom.
        blocks: how many there are.
    """

    ratio: float
    low: float
    high: float
    confidence: float
    mean: float
    error: float
    freedom: int
    blocks: int


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
    cut = int(TRIMMED * len(logs))
    kept = len(logs) - 2 * cut
    logs.sort()
    mean = float(logs[cut : cut + kept].mean())
    # What scipy.stats.mstats.trimmed_mean_ci does, thirty times as fast; a test compares them.
    winsorized = np.clip(logs, logs[cut], logs[-1 - cut])
    error = float(winsorized.std(ddof=1)) * math.sqrt(len(logs)) / kept
    freedom = kept - 1
    half = error * float(stdtrit(freedom, (1 + confidence) / 2))
    return Estimate(
        math.exp(mean), math.exp(mean - half), math.exp(mean + half),
        confidence, mean, error, freedom, len(logs),
    )  # fmt: skip


def p_beyond(estimate: Estimate, limit: float) -> float:
    """How compatible the data are with a change that stays within a limit.

    Two-sided: the smaller of the one-sided probabilities that a ratio of just ``1 + limit``, or
    of just ``1 / (1 + limit)``, gives blocks at least as far out, doubled; and never below what so
    few blocks can say (`LEAST_DOUBT`).

    Args:
        estimate: of the ratio.
        limit: as 0.05.
    """
    distance = abs(estimate.mean) - math.log1p(limit)
    if estimate.error == 0:
        tail = 0.0 if distance > 0 else 1.0
    else:
        tail = float(stdtr(estimate.freedom, -distance / estimate.error))
    return min(1.0, 2 * max(tail, LEAST_DOUBT**estimate.blocks))


def holm(p_values: Sequence[float], tests: int = 0) -> list[float]:
    """Holm's adjusted p-values: reject those up to alpha, and the chance of even one false
    rejection among all of them is at most alpha.

    Args:
        p_values: of the tests that can be shown.
        tests: how many there are in all; the others are taken to show nothing.
    """  # noqa: D205  (one sentence)
    # statsmodels' `multipletests` says the same (a test compares them), but collects garbage at
    # every call: a third of a second in a large process, and looks and calibrations make many.
    order = np.argsort(p_values)
    divisors = max(tests, len(p_values)) - np.arange(len(p_values))
    stepped = np.maximum.accumulate(np.asarray(p_values, float)[order] * divisors)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, stepped)
    return [float(p) for p in adjusted]


def spent(alpha: float, fraction: float) -> float:
    """How much of an error budget may be gone after a part of the sampling.

    Lan and DeMets (1983), with the function that gives O'Brien and Fleming's boundaries for a
    two-sided test: 2 - 2 * Phi(z / sqrt(fraction)).

    Args:
        alpha: the budget.
        fraction: of the sampling, from 0 to 1.
    """
    if fraction <= 0:
        return 0.0
    return float(min(alpha, 2 * ndtr(ndtri(alpha / 2) / math.sqrt(min(1.0, fraction)))))


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
