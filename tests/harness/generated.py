"""Generated histories: series whose changes are known, because they were put there."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from benchproof.changes.search import find_all
from benchproof.history.model import UNITS, Commit, History, Series, SeriesKey


def key(number=0, meter="instructions", impl="cython", benchmark=None):
    return SeriesKey(benchmark or f"suite.time_{number:04d}", meter, impl, "box")


def series_of(key, values, *, half=0.0, index=None, platform=None):
    """A series of values, each with an interval of the same relative half-width."""
    values = np.asarray(values, float)
    index = np.arange(len(values)) if index is None else np.asarray(index)
    platform = np.full(len(values), -1) if platform is None else np.asarray(platform)
    half = np.broadcast_to(np.asarray(half, float), values.shape)
    return Series(
        key, UNITS[key.meter], index, values, values * (1 - half), values * (1 + half), platform
    )


def find(series, commits=()):
    """The changes of one series, in a history that has no other."""
    return find_all(History(list(commits), {series.key: series}))


def commits(count):
    return [Commit(f"{number:040x}", 1_700_000_000_000 + number * 3_600_000, f"commit {number}")
            for number in range(count)]  # fmt: skip


@dataclass
class Drawn:
    """A history, and by series the places at which it changes, with the ratios."""

    history: History
    truth: dict[SeriesKey, dict[int, float]] = field(default_factory=dict)


class Generator:
    """Draws series by a seed."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def ratios(self, count, least=0.02, most=0.5):
        """Changes, small ones as likely as large ones on a log scale; they never lead far away."""
        sizes = np.log1p(np.exp(self.random.uniform(np.log(least), np.log(most), count)))
        level, found = 0.0, []
        for size, draw in zip(sizes, self.random.random(count), strict=True):
            # The further from home, the likelier the way back.
            step = size if draw < 0.5 - level / 4 else -size
            level += step
            found.append(np.exp(step))
        return np.array(found)

    def level(self, count, places, ratios):
        """A base, times every ratio from its place on."""
        logs = np.zeros(count)
        for place, ratio in zip(places, ratios, strict=True):
            logs[place:] += np.log(ratio)
        return np.exp(logs + self.random.uniform(np.log(2_000), np.log(200_000)))

    def places(self, count, changes, apart=1):
        """Places of changes, at least so far apart, and from both ends."""
        steps = self.random.permutation(np.arange(apart, count - apart, apart))[:changes]
        return sorted(int(place) for place in steps)

    def exact(self, key, count, changes, *, apart=1, blips=0, wobble=0.0004, least=0.02):
        """Instructions: levels, the wobble of layouts, and single points out of place."""
        places = self.places(count, changes, apart)
        ratios = self.ratios(len(places), least=least)
        values = self.level(count, places, ratios)
        values *= 1 + np.clip(self.random.standard_t(3, count) * wobble, -0.002, 0.002)
        taken = [place + off for place in places for off in (-2, -1, 0, 1)]
        free = np.setdiff1d(np.arange(2, count - 2), taken)
        for place in self.random.permutation(free[free % 3 == 0])[:blips]:
            values[place] *= 1 + self.random.uniform(0.01, 0.3)
        return series_of(key, np.round(values)), dict(zip(places, ratios.tolist(), strict=True))

    def wall(self, key, count, changes, *, apart=40, noise=0.01, least=0.1):
        """Seconds: intervals of different width, and noise that they tell of."""
        places = self.places(count, changes, apart)
        ratios = self.ratios(len(places), least=least)
        spread = noise * np.exp(self.random.normal(0, 0.4, count))
        values = self.level(count, places, ratios) * 1e-9
        values *= np.exp(self.random.normal(0, 1, count) * spread)
        return series_of(key, values, half=2.576 * spread), dict(
            zip(places, ratios.tolist(), strict=True)
        )


def drawn(series_and_truth, count, **more):
    """A history of drawn series."""
    series = {one.key: one for one, _ in series_and_truth}
    return Drawn(History(commits(count), series, **more),
                 {one.key: truth for one, truth in series_and_truth})  # fmt: skip
