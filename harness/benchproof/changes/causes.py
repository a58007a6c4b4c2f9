"""Code or platform: whether something else than a commit explains a change.

Two witnesses. The canary runs the interpreter and C alone: where it steps, the platform did, and a
step of about that size beside it is no commit's. And each point may name the platform that measured
it: another interpreter or compiler gives other numbers whether or not the canary feels it; another
kernel or machine does only if the canary does, or if there is no canary to ask.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from . import noise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchproof.history.model import History, Series

    from .model import Change

#: A step that is larger than the canary's by more than this is not the canary's.
AS_LARGE = 3.0
#: Recorded facts that leave alone which instructions a process executes; every other may not.
_HARMLESS = frozenset({"arch", "cores", "cpu", "kernel", "machine", "num_cpu", "os", "ram"})


def tell(history: History, changes: Iterable[Change], canaries: Sequence[Change]) -> list[Change]:
    """The changes, each with its kind.

    Args:
        history: that they are of.
        changes: of its series.
        canaries: changes of its canaries.
    """
    return [
        replace(change, kind="platform" if _by_platform(history, change, canaries) else "code")
        for change in changes
    ]


def _by_platform(history: History, change: Change, canaries: Sequence[Change]) -> bool:
    """Whether the platform explains a change."""
    if any(_explains(canary, change) for canary in canaries):
        return True
    differing = _differing(history, change)
    if not differing:
        return False
    if differing - _HARMLESS:
        return True
    if noise.floor_of(change.key.meter).exact:
        return False
    canary = history.canary(change.key)
    return canary is None or not _watched(canary, change)


def _explains(canary: Change, change: Change) -> bool:
    """Whether a canary stepped where a series did, to the same side, and about as far."""
    if (canary.key.meter, canary.key.machine) != (change.key.meter, change.key.machine):
        return False
    if canary.before >= change.after or change.before >= canary.after:
        return False
    one, other = (_logarithm(each.ratio) for each in (canary, change))
    return one * other > 0 and abs(other) <= AS_LARGE * abs(one)


def _logarithm(ratio: float) -> float:
    if ratio <= 0:
        return -math.inf
    return math.log(ratio)


def _differing(history: History, change: Change) -> set[str]:
    """The names of what is recorded differently of the platforms before and after a change."""
    series = history.series.get(change.key)
    if series is None or len(series.platform) != len(series.index):
        return set()
    before = _at(series, int(np.searchsorted(series.index, change.before, side="right")) - 1)
    after = _at(series, int(np.searchsorted(series.index, change.after)))
    if before < 0 or after < 0 or before == after:
        return set()
    one, other = history.platforms[before], history.platforms[after]
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def _at(series: Series, point: int) -> int:
    """The platform of a point, -1 where there is none."""
    return int(series.platform[point]) if 0 <= point < len(series.platform) else -1


def _watched(canary: Series, change: Change) -> bool:
    """Whether a canary was measured on both sides of a change."""
    return bool(np.any(canary.index <= change.before) and np.any(canary.index >= change.after))
