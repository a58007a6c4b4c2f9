"""The search: steps by series, one error budget for all of them.

The budget is a rate of false discoveries: of the changes that are listed, at most `alpha` are
expected to be none. Every place of every series is one test, whether or not a method proposed it.

Whether something else than a commit explains a change, two witnesses say. The canary runs the
interpreter and C alone: where it steps, the platform did, and a step of about that size beside it
is no commit's. And each point may name the platform that measured it: another interpreter or
compiler gives other numbers whether or not the canary feels it; another kernel or machine does only
if the canary does, or if there is no canary to ask.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchproof import noise
from benchproof.history.model import Commit, History, Series, SeriesKey
from benchproof.progress import Teller

from .sizes import Change, steps

#: A step that is larger than the canary's by more than this is not the canary's.
AS_LARGE = 3.0
#: Recorded facts that leave alone which instructions a process executes; every other may not.
_HARMLESS = frozenset({"arch", "cores", "cpu", "kernel", "machine", "num_cpu", "os", "ram"})


def _by_platform(history: History, change: Change, canaries: Sequence[Change]) -> bool:
    """Whether the platform explains a change."""
    if any(_explains(canary, change) for canary in canaries):
        return True
    differing = _differing(history, change)
    if not differing:
        return False
    if differing - _HARMLESS:
        return True
    exact = noise.floor_of(change.key.meter).exact
    return not exact and not _watched(history.canary(change.key), change)


def _explains(canary: Change, change: Change) -> bool:
    """Whether a canary stepped where a series did, to the same side, and about as far."""
    if (canary.key.meter, canary.key.machine) != (change.key.meter, change.key.machine):
        return False
    if canary.before >= change.after or change.before >= canary.after:
        return False
    one, other = (math.log(each.ratio) if each.ratio > 0 else -math.inf
                  for each in (canary, change))  # fmt: skip
    return one * other > 0 and abs(other) <= AS_LARGE * abs(one)


def _differing(history: History, change: Change) -> set[str]:
    """The names of what is recorded differently of the platforms before and after a change."""
    series = history.series[change.key]
    if len(series.platform) != len(series):
        return set()
    points = np.searchsorted(series.index, [change.before, change.after])
    before, after = (int(series.platform[point]) for point in points)
    if before < 0 or after < 0:
        return set()
    one, other = history.platforms[before], history.platforms[after]
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def _watched(canary: Series | None, change: Change) -> bool:
    """Whether a canary was measured on both sides of a change."""
    return canary is not None and bool(
        np.any(canary.index <= change.before) and np.any(canary.index >= change.after)
    )


#: The part of the listed changes that may be expected to be none.
ALPHA = 0.01


def find_all(history: History, alpha: float = ALPHA, *, tell: Teller | None = None) -> list[Change]:
    """The changes of all series of a history, oldest first.

    Args:
        history: what was measured.
        alpha: the part of the listed changes that may be expected to be none.
        tell: hears what is done.
    """
    if tell is not None:
        tell.stage(f"searching {len(history.series) + len(history.canaries)} series for changes")
    takers = _takers(history.commits)
    changes = _changes(history.series, takers, alpha)
    canaries = _changes(history.canaries, takers, alpha)
    return [
        replace(change, kind="platform") if _by_platform(history, change, canaries) else change
        for change in changes
    ]


def _changes(
    everything: Mapping[SeriesKey, Series], takers: Collection[int], alpha: float
) -> list[Change]:
    """The steps that survive, as changes between commits."""
    changes: list[Change] = []
    tests = 0
    for series in everything.values():
        tests += max(0, len(series.index) - 1)
        undone = np.flatnonzero(np.isin(series.index, list(takers))) if takers else ()
        changes += steps(series, [int(point) for point in undone])
    adjusted = _adjust([change.p for change in changes], tests)
    kept = [replace(change, p=p) for change, p in zip(changes, adjusted, strict=True) if p <= alpha]
    return sorted(kept, key=lambda change: (change.likely, change.key))


def _adjust(p_values: Sequence[float], tests: int) -> list[float]:
    """Benjamini's and Hochberg's adjusted p-values, where all other tests have p = 1.

    Those need not be listed: they stand behind all others, and only their number counts.
    """
    from scipy.stats import false_discovery_control  # noqa: PLC0415  (slow to import)

    if not p_values:
        return []
    adjusted = false_discovery_control(p_values) * (max(tests, len(p_values)) / len(p_values))
    return [min(1.0, float(p)) for p in adjusted]


def _takers(commits: Sequence[Commit]) -> set[int]:
    """The places of commits that say that they take back an earlier one."""
    return {
        place
        for place, commit in enumerate(commits)
        if commit.reverts or commit.subject.startswith(("Revert ", "Take back "))
    }
