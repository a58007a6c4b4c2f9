"""How much each meter wobbles though nothing changed: for gate, bisection and change points alike.

**A count** is what the code does plus what the layout of memory adds: where something happens to
lie decides which keys collide in a hash table. In one layout a count is the same to the digit. So
a number that looks like a change is counted in further layouts (`layouts`, `MOST_LAYOUTS`), always
the same ones in the same order, each with a hash seed of its own; what stands for all of them is
their median (`typical`), and the interval of a ratio reaches over them (`reach`). What is as large
as no accident (`ACCIDENT`) is believed at once, what is far within its limit (`NEAR`) too.

**Two sides of one run** are counted in the same layouts, and `LIMITS` says how much of a change is
none. **A series** has commits of different days, each counted once: its steps must be beyond
`FLOORS`, which are wider. Levels are compared on a scale where the noise floor is the same step
everywhere: the logarithm, bent to a straight line near zero for meters that may be zero (an inverse
hyperbolic sine), so that "0.1 %, but at least a twentieth of an allocation" is one number. A
point's variance is that of its own interval, plus that of the series: what points differ by that
no interval knows of. The series' part is read from the differences of neighbours, which changes
hardly touch as long as most neighbours have none. Where every commit has a change that fails; so an
exact meter's part has bounds that come from its noise floor.

Wall time, which is sampled, has its interval in `stats`.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: Layouts of memory in which a change of instructions must show to be believed, unless it is larger
#: than any accident: once a method cache's collision moved vectors by 27 %.
LAYOUTS, ACCIDENT = 3, 0.5
#: The chance that one layout moves a count beyond its limit though the code is equal: 3 of 448
#: counts did (docs/meters.md), and this is the upper end of that part's 95 % interval.
STRAY = 0.0195
#: Of the error budget of a gate, the part of its counts; the rest is that of its clocks, which find
#: less for each bit that they lack, where a count costs one more layout at worst.
COUNTED = 0.2
#: Of the limit, where a case that is within it is counted again, too.
NEAR = 0.5
#: The most layouts, for cases in which they disagree.
MOST_LAYOUTS = 8
#: From so many layouts on, the interval leaves out one at each end: an accident in a single layout
#: decides nothing. Of eight layouts that is a 93 % interval of their median.
TRIMMED_FROM = 6


def layouts(tests: int, alpha: float) -> int:
    """How many layouts have to agree on a change, so that counts keep to their error budget.

    Taken for granted is that layouts stray by themselves (`STRAY`): then so many agree on a change
    that is none, in any of the tests, with a chance of at most tests * STRAY ** layouts.

    Args:
        tests: that share the budget: cases, of all variants.
        alpha: the gate's whole error budget.
    """
    needed = math.log(COUNTED * alpha / max(1, tests)) / math.log(STRAY)
    return min(max(LAYOUTS, math.ceil(needed)), MOST_LAYOUTS)


def typical(counts: Sequence[float]) -> float:
    """What stands for counts, or ratios of counts, in several layouts."""
    return statistics.median(counts)


def reach(ratios: Sequence[float]) -> tuple[float, float, float | None]:
    """The interval of the ratio of two sides that were counted in the same layouts.

    Args:
        ratios: one a layout, in order of size.

    Returns:
        Both ends, and with which confidence the median over all layouts that could be lies between
        them (order statistics: each layout is above it or below with equal chances); None of a
        single layout, where there is no interval.
    """
    count = len(ratios)
    cut = 1 if count >= TRIMMED_FROM else 0
    outside = sum(math.comb(count, above) for above in range(cut + 1)) / 2 ** (count - 1)
    return ratios[cut], ratios[-1 - cut], 1 - outside if count > 1 else None


@dataclass(frozen=True)
class Limit:
    """How much of a change is none.

    Attributes:
        ratio: the largest change that counts as none, as a part of the left side's number.
        floor: and in the meter's unit a call, below which a change is the meter's own noise.
        least: the meter's known floor: no project can set a smaller ratio.
        why_least: the reason for it.
    """

    ratio: float
    floor: float
    least: float
    why_least: str


#: Above each, the reason for its first two numbers.
LIMITS: dict[str, Limit] = {
    # Equal code that lies elsewhere moves by a third of this, with few exceptions.
    "instructions": Limit(
        0.003, 1.0, 0.001, "one case in forty of equal code differs by this much in some layout"
    ),
    # A whole allocation more is a change, but one of two thousand; a fraction is a buffer's.
    "allocations": Limit(0.0005, 0.05, 0.0, "counts are exact"),
    # The same, and sizes follow the interpreter's rounding.
    "bytes": Limit(0.01, 1.0, 0.0, "counts are exact"),
    # Less than half a pointer a call is a table that grew once, and no leak.
    "retained": Limit(0.01, 4.0, 0.0, "counts are exact"),
    # Sizes of objects follow the interpreter's rounding.
    "memory": Limit(0.01, 8.0, 0.0, "sizes are exact"),
    # A process of equal code takes some pages more or less.
    "peakmemory": Limit(0.02, 262144.0, 0.005, "what a process takes is not the same twice"),
    # Where the code of a build lies explains half of this.
    "tail": Limit(0.1, 0.0, 0.05, "where the code of a build lies explains it"),
    # As wall time.
    "processor": Limit(0.01, 0.0, 0.005, "as wall time"),
    # A whole call more is a change.
    "syscalls": Limit(0.0, 0.5, 0.0, "counts are exact"),
    # What it means only the benchmark knows; this much is rounding.
    "track": Limit(0.001, 0.0, 0.0, "the value is the benchmark's own"),
    # What this kind of machine can tell apart in minutes.
    "wall": Limit(
        0.01, 0.0, 0.005, "no machine of this kind tells less apart, however long it measures"
    ),
}

#: A point's interval reaches so many standard deviations to either side: asv's are of 99 %.
REACH = 2.576
#: Bounds of an exact series' own standard deviation, as parts of the noise floor.
LEAST, MOST = 1 / 20, 1 / 4
#: |z| of a normal variable stays below these in a quarter and in half of all draws.
_QUARTER, _HALF = 0.3186, 0.6745
#: What a noisy series of a few points is taken to wobble by, whatever it shows.
FEW, _WOBBLE_OF_FEW = 8, 0.01
#: The least variance, for values that are equal to the last digit.
_TINY = 1e-12


@dataclass(frozen=True)
class Floor:
    """How large a step must be to be one.

    Attributes:
        ratio: as a part of the level.
        unit: and in the meter's unit; 0 for a meter that is never zero.
        exact: whether nothing but wobble within the noise floor moves the meter.
        why: the reason.
    """

    ratio: float
    unit: float
    exact: bool
    why: str

    @property
    def bend(self) -> float:
        """The level at which the noise floor's two parts are equal; the scale bends there."""
        return self.unit / self.ratio


#: These are wider than a gate's limits: a gate counts both sides in one go, with the same loops
#: and layouts, and a history compares runs of different days.
FLOORS: dict[str, Floor] = {
    "instructions": Floor(0.005, 1.0, True, "another layout of equal code moves less than this"),
    "allocations": Floor(0.001, 0.05, True, "a fraction is a buffer that grew once"),
    "bytes": Floor(0.002, 1.0, True, "sizes follow the interpreter's rounding"),
    "wall": Floor(0.02, 0.0, False, "what runs of different days can tell apart"),
}


def floor_of(meter: str) -> Floor:
    """A meter's noise floor; that of wall time for a meter that is not ours."""
    return FLOORS.get(meter, FLOORS["wall"])


def scale(values: Numbers, floor: Floor) -> Numbers:
    """Values on the scale where the noise floor is `floor.ratio`; NaN if it has none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Numbers = np.arcsinh(values / (2 * floor.bend)) if floor.unit else np.log(values)
    found[~np.isfinite(found)] = np.nan
    return found


def unscale(level: float, floor: Floor) -> float:
    """The value at a place of the scale."""
    return 2 * floor.bend * math.sinh(level) if floor.unit else math.exp(level)


def own_variance(low: Numbers, high: Numbers, floor: Floor) -> Numbers:
    """What each point's interval says about its variance, on the scale; 0 where it says nothing."""
    if low is high:  # no interval at all, as in most series: thousands of logarithms are saved
        return np.zeros(len(low))
    half = (scale(high, floor) - scale(low, floor)) / (2 * REACH)
    found: Numbers = np.where(np.isfinite(half) & (half > 0), half, 0.0) ** 2
    return found


def between(x: Numbers, own: Numbers, floor: Floor) -> float:
    """The series' part of the variance: what neighbours differ by beyond their intervals.

    Args:
        x: a stretch, on the scale.
        own: variances by the points' intervals.
        floor: of the meter.
    """
    if floor.exact:
        # A quarter of the neighbours is enough to go by: histories exist in which most have a step.
        seen = _quantile(x, 0.25) / _QUARTER
        return min(max(seen, LEAST * floor.ratio), MOST * floor.ratio) ** 2
    if len(x) < FEW:
        return _WOBBLE_OF_FEW**2
    return max(_TINY, (_quantile(x, 0.5) / _HALF) ** 2 - float(np.median(own)))


def _quantile(x: Numbers, part: float) -> float:
    """A quantile of the distances of neighbours, for one of the two."""
    if len(x) < 2:
        return 0.0
    apart = np.abs(np.diff(x))
    at = int(part * (len(apart) - 1))
    return float(np.partition(apart, at)[at]) / math.sqrt(2)


def echo(residuals: Numbers) -> float:
    """By how much noise that lasts longer than a commit widens the variance of a mean.

    From the correlation of neighbours, as for a process of the first order; 1 without any.
    """
    if len(residuals) < FEW:
        return 1.0
    # Not by a scalar product: BLAS would start threads for it, which takes longer than the sum.
    total = float(np.sum(residuals**2))
    if total <= _TINY:
        return 1.0
    rho = min(max(float(np.sum(residuals[1:] * residuals[:-1])) / total, 0.0), 0.9)
    return (1 + rho) / (1 - rho)
