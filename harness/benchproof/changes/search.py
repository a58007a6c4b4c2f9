"""The search: stretches one by one, steps by series, one error budget for all of them.

The budget is a rate of false discoveries: of the changes that are listed, at most `alpha` are
expected to be none. Every place of every series is one test, whether or not a method proposed it.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np

from . import causes, sizes
from .model import Change
from .stretch import Store, stretches

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from benchproof.history.model import Commit, History, Series, SeriesKey
    from benchproof.progress import Teller

    from .stretch import Found

#: The part of the listed changes that may be expected to be none.
ALPHA = 0.01


def prepare() -> None:
    """Import what a search needs in a thread of its own, while the caller reads what to search.

    The imports take a second. That is a fifth of publishing one commit more of a long history.
    """
    Thread(target=import_module, args=("ruptures",), daemon=True).start()


def find(series: Series, commits: Sequence[Commit] = (), alpha: float = ALPHA) -> list[Change]:
    """The changes of one series, oldest first; all of them are code's as far as one can tell.

    Args:
        series: of a history.
        commits: of that history: what a commit says that it takes back is not a blip.
        alpha: the part of the listed changes that may be expected to be none.
    """
    found = _found({series.key: series}, Store())
    return _changes({series.key: series}, found, _takers(commits), alpha)


def find_all(
    history: History,
    alpha: float = ALPHA,
    *,
    cache: Path | None = None,
    tell: Teller | None = None,
) -> list[Change]:
    """The changes of all series of a history, oldest first.

    Args:
        history: what was measured.
        alpha: the part of the listed changes that may be expected to be none.
        cache: file that remembers stretches between runs; None: nothing is remembered.
        tell: hears what is done.

    Raises:
        BenchproofError: the cache cannot be written.
    """
    store = Store.open(cache)
    everything = {**history.series, **history.canaries}
    if tell is not None:
        tell.stage(f"searching {len(everything)} series for changes")
    found = _found(everything, store)
    store.keep()
    takers = _takers(history.commits)
    changes = _changes(history.series, found, takers, alpha)
    canaries = _changes(history.canaries, found, takers, alpha)
    return causes.tell(history, changes, canaries)


def _found(everything: Mapping[SeriesKey, Series], store: Store) -> dict[SeriesKey, list[Found]]:
    """What the methods say of each series' stretches, remembered or searched."""
    return {
        key: [store.found(stretch) for stretch in stretches(series)]
        for key, series in everything.items()
    }


def _changes(
    everything: Mapping[SeriesKey, Series],
    found: Mapping[SeriesKey, Sequence[Found]],
    takers: Collection[int],
    alpha: float,
) -> list[Change]:
    """The steps that survive, as changes between commits."""
    changes: list[Change] = []
    tests = 0
    for key, series in everything.items():
        tests += max(0, len(series.index) - 1)
        undone = np.flatnonzero(np.isin(series.index, list(takers))) if takers else ()
        for step in sizes.steps(series, found[key], [int(point) for point in undone]):
            last, first, place = (
                int(series.index[point]) for point in (step.last, step.first, step.place)
            )
            changes.append(Change(
                key, last, first, place, step.ratio, step.low, step.high, step.p,
            ))  # fmt: skip
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
