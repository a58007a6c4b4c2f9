"""From places to steps: how large each is, how sure, and where noise may have moved it.

The test is that a step lies beyond the noise floor, not merely beyond nothing: a layout that moves
a count by less than the noise floor for a hundred commits is still no change.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import stdtr

from benchproof import noise

from .segment import LONGEST, Sums, fit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from benchproof.history.model import Commit, Series, SeriesKey
    from benchproof.noise import Floor, Numbers

    Places = NDArray[np.int64]

#: The interval of a ratio, of 95 %, reaches so many standard errors to either side.
REACH = 1.96
#: A place is given up where its step has a larger p-value than this already on its own.
HOPELESS = 0.01
#: Drop of twice the logarithm of the likelihood that leaves a place of a step plausible, at 95 %
#: (Hansen, "Sample splitting and threshold estimation", 2000).
PLAUSIBLE = 7.35
#: Points of the longest blip: the layout of one commit, or some runs beside a busy neighbour.
BLIP, HICCUP = 1, 3
#: Points to either side of a step among which its place is looked for.
FAR = 2 * LONGEST
#: Points in a row that vary alike: a machine is not as noisy in one year as in another.
ALIKE = 512
#: Standard errors by which levels around a blip may differ; or a third of the noise floor, never
#: more than all of it.
_SAME = 4.0
#: Degrees of freedom where the noise is stated, not estimated.
_STATED = 1e6


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
            **asdict(self.key),
            "before": commits[self.before].hash,
            "after": commits[self.after].hash,
            "likely": commits[self.likely].hash,
            "commits": self.after - self.before,
            "subject": commits[self.likely].subject,
            "claims": list(commits[self.likely].claims),
            **self.figures(),
        }

    def figures(self) -> dict[str, Any]:
        """What of it is no place, in JSON's types."""
        ends = {"ratio": self.ratio, "low": self.low, "high": self.high}
        finite = {name: each if math.isfinite(each) else None for name, each in ends.items()}
        return {**finite, "p": self.p, "kind": self.kind}


@dataclass(frozen=True)
class _Points:
    """The points of a series that are on its scale.

    Attributes:
        x: on the scale.
        weight: 1 / variance; 0 for a blip.
        echo: factor of the variance of a mean.
        freedom: of its estimate.
        floor: of the meter.
    """

    x: Numbers
    weight: Numbers
    floor: Floor
    echo: float = 1.0
    freedom: float = _STATED

    @cached_property
    def sums(self) -> Sums:
        """Their cumulative sums."""
        return Sums.over(self.x, self.weight)


@dataclass(frozen=True)
class _Steps:
    """Of each of some places: the level before it, the step on the scale, its error and p-value."""

    left: Numbers
    size: Numbers
    error: Numbers
    p: Numbers


def steps(series: Series, undone: Collection[int] = ()) -> list[Change]:
    """The steps of a series.

    Args:
        series: the whole of it.
        undone: points whose commit says that it takes back an earlier one: what looks like a blip
            before them is none.
    """
    kept, points = _prepare(series)
    places = fit(points.sums, points.floor.ratio)
    returns = {int(np.searchsorted(kept, place)) for place in undone}
    places, points = _without_blips(places, points, returns)
    points = _with_echo(places, points)
    places = _without_weak(places, points)
    if not places:
        return []
    seen = _measure(places, points)
    edges = [0, *places, len(points.x)]
    return [_step(number, edges, seen, points, kept, series) for number in range(len(places))]


def _prepare(series: Series) -> tuple[Places, _Points]:
    """The points on the scale: their places in the series, and they themselves."""
    floor = noise.floor_of(series.key.meter)
    x = noise.scale(series.value, floor)
    kept = np.flatnonzero(np.isfinite(x))
    x, own = x[kept], noise.own_variance(series.low, series.high, floor)[kept]
    spread = own.copy()
    for start in range(0, len(x), ALIKE):
        stop = start + ALIKE
        # With those around them: the last few alone would be told no noise.
        near = slice(max(0, start - LONGEST), stop + LONGEST)
        spread[start:stop] += noise.between(x[near], own[near], floor)
    return kept, _Points(x, 1 / spread, floor)


def _without_blips(
    places: list[int], points: _Points, returns: Collection[int]
) -> tuple[list[int], _Points]:
    """Without a few points away from a level that goes on behind them as it was before them."""
    longest = BLIP if points.floor.exact else HICCUP
    while True:
        sums, weight = points.sums, points.weight.copy()
        edges = [0, *places, len(points.x)]
        gone: set[int] = set()
        for number in range(1, len(places)):
            before, start, stop, behind = edges[number - 1 : number + 3]
            if stop - start > longest or stop in returns or gone & {number - 1, number}:
                continue
            if max(start - before, behind - stop) <= longest:
                continue  # nothing lasts here: a change at every commit
            error = (1 / sums.weigh(before, start) + 1 / sums.weigh(stop, behind)) ** 0.5
            apart = abs(sums.mean(before, start) - sums.mean(stop, behind))
            if apart <= min(points.floor.ratio, max(_SAME * error, points.floor.ratio / 3)):
                gone |= {number - 1, number}
                weight[start:stop] = 0.0
        if not gone:
            return places, points
        points = replace(points, weight=weight)
        places = [place for number, place in enumerate(places) if number not in gone]


def _with_echo(places: Sequence[int], points: _Points) -> _Points:
    """With what the residuals of a noisy series tell about means of its points."""
    if points.floor.exact:
        return points
    edges = [0, *places, len(points.x)]
    levels = [points.sums.mean(start, stop) for start, stop in pairwise(edges)]
    level = np.repeat(levels, np.diff(edges))
    kept = points.weight > 0
    residuals = ((points.x - level) * np.sqrt(points.weight))[kept]
    freedom = max(1.0, float(kept.sum() - len(levels)))
    return replace(points, echo=noise.echo(residuals), freedom=freedom)


def _without_weak(places: list[int], points: _Points) -> list[int]:
    """Without places whose step is within the noise floor, the weakest of neighbours first."""
    while places:
        seen = _measure(places, points)
        weak = (seen.p > HOPELESS) | (np.abs(seen.size) <= points.floor.ratio)
        if not weak.any():
            return places
        # Of two neighbours only one goes at a time: without it the other may be strong.
        far = np.where(weak, np.abs(seen.size) / seen.error, np.inf)
        padded = np.concatenate(([np.inf], far, [np.inf]))
        gone = weak & (far <= padded[:-2]) & (far < padded[2:])
        if not gone.any():
            gone = np.arange(len(places)) == int(np.argmin(far))
        places = [place for place, out in zip(places, gone, strict=True) if not out]
    return places


def _measure(places: Sequence[int], points: _Points) -> _Steps:
    """What the levels next to each place say; of a long level, the part that is near."""
    sums = points.sums
    at = np.asarray(places)
    start = np.maximum(np.concatenate(([0], at[:-1])), at - LONGEST)
    stop = np.minimum(np.concatenate((at[1:], [len(points.x)])), at + LONGEST)
    left, right, one, two = sums.halves(start, at, stop)
    error = np.sqrt(points.echo * (1 / left + 1 / right))
    size = two / right - one / left
    beyond = np.maximum(0.0, np.abs(size) - points.floor.ratio) / error
    p = np.minimum(1.0, 2 * stdtr(points.freedom, -beyond))
    return _Steps(sums.middle + one / left, size, error, p)


def _step(
    number: int,
    edges: Sequence[int],
    seen: _Steps,
    points: _Points,
    kept: Places,
    series: Series,
) -> Change:
    """One of the steps."""
    place = edges[number + 1]
    before, behind = max(edges[number], place - FAR), min(edges[number + 2], place + FAR)
    gain = points.sums.split(before, behind)
    best = gain[place - before - 1]
    plausible = np.flatnonzero(gain >= best - PLAUSIBLE * points.echo) + before + 1
    left, size = float(seen.left[number]), float(seen.size[number])
    reach = REACH * float(seen.error[number])
    ratio, low, high = (
        _ratio(left, left + size + off, points.floor) for off in (0.0, -reach, reach)
    )
    last, first, likely = (
        int(series.index[kept[point]]) for point in (plausible.min() - 1, plausible.max(), place)
    )
    return Change(series.key, last, first, likely, ratio, low, high, float(seen.p[number]))


def _ratio(old: float, new: float, floor: Floor) -> float:
    """Of two places of the scale; infinite where the old one stands for nothing."""
    below, above = noise.unscale(old, floor), noise.unscale(new, floor)
    if below <= floor.unit / 2:
        return float("inf")
    return max(0.0, above) / below
