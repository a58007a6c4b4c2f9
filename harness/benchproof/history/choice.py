"""Which commits are measured, in which order, and what of them is known already.

Commits with the same driver (`targets.content_of`) are one measurement: its numbers are written for
each of them.
"""

import heapq
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchproof.checkout import Checkout
from benchproof.targets import content_of

from . import model, writing
from .measure import Asked, Key, count_numbers

#: Where asv keeps a value and its interval.
_CELLS = ("result", "stats_ci_99_a", "stats_ci_99_b")


@dataclass(frozen=True)
class Job:
    """One driver in one implementation, and the commits that have it.

    Attributes:
        asked: what is to be found out, at one of the commits.
        content: hash of what is built; empty for a commit without a driver.
        commits: all of those that were chosen, with what each of them lacks.
    """

    asked: Asked
    content: str
    commits: Mapping[str, frozenset[Key]]


@dataclass
class Plan:
    """What there is to do.

    Attributes:
        jobs: in order.
        shared: by commit and implementation: the commit whose numbers it gets, and which.
        known: how many commits and implementations lack nothing.
        numbers: how many numbers of benchmarks are known.
    """

    jobs: list[Job] = field(default_factory=list)
    shared: dict[tuple[str, str], tuple[str, frozenset[Key]]] = field(default_factory=dict)
    known: int = 0
    numbers: int = 0


@dataclass(frozen=True)
class Known:
    """What asv's files of one machine hold of the exact meters.

    Attributes:
        results: asv's folder of results.
        machine: its name.
        environments: by implementation.
        versions: by asv's name, the newest; values of other versions are not known.
        again: whether what failed counts as not known.
    """

    results: Path
    machine: str
    environments: Mapping[str, writing.Environment]
    versions: Mapping[str, str]
    again: bool = False

    def values(self, commit: str, impl: str, keys: Collection[Key]) -> dict[Key, writing.Value]:
        """Those of some values that a commit has."""
        rows, _ = writing.held(
            writing.path(self.results, self.machine, commit, self.environments[impl])
        )
        found = {}
        for key in keys:
            name = writing.stored(*key)
            row = rows.get(name, {})
            if not row or row.get("version") != self.versions[name]:
                continue
            number, low, high = (_first(row.get(column)) for column in _CELLS)
            samples = (row.get("samples") or [()])[0] or ()
            if number is not None or not self.again:
                found[key] = writing.Value(number, low, high, tuple(samples))
        return found


def _first(cell: list[float | None] | None) -> float | None:
    """The one value of a benchmark without parameters."""
    return None if not cell or cell[0] is None else float(cell[0])


def spread(found: Sequence[str], every: int) -> list[str]:
    """Each n-th commit of a range and its two ends, the widest gaps first.

    A run that is stopped has then looked everywhere a little rather than somewhere closely.
    """
    places = sorted({*range(0, len(found), every), len(found) - 1})
    order, gaps = [places[0], places[-1]], [(1 - len(places), 0)]
    while gaps:
        width, low = heapq.heappop(gaps)
        if width < -1:
            half = -width // 2
            order.append(places[low + half])
            heapq.heappush(gaps, (-half, low))
            heapq.heappush(gaps, (width + half, low + half))
    return [found[place] for place in dict.fromkeys(order)]


def chosen(checkout: Checkout, ranges: Sequence[str] = (), every: int = 1) -> list[str]:
    """The commits that were asked for, in the order in which they are measured.

    Args:
        checkout: whose commits.
        ranges: as git writes them; none for the whole line.
        every: each n-th commit of one range; several are measured one after the other, whole.

    Raises:
        HistoryError: a range names nothing.
    """
    inside = [model.chosen(checkout, text) for text in ranges or ("HEAD",)]
    if len(inside) == 1:
        return spread(inside[0], every)
    return list(dict.fromkeys(itertools.chain.from_iterable(inside)))


def plan(
    checkout: Checkout,
    wanted: Iterable[str],
    impls: Iterable[str],
    keys: frozenset[Key],
    known: Known | None,
) -> Plan:
    """What has to be measured of some commits.

    Args:
        checkout: with the commits.
        wanted: hashes, in order.
        impls: variants.
        keys: benchmarks and meters.
        known: what is there already; None for nothing.
    """
    made = Plan()
    contents_of = {commit: content_of(checkout, commit) for commit in wanted}
    impls = tuple(impls)
    grouped: dict[tuple[str, str], dict[str, frozenset[Key]]] = {}
    has: dict[tuple[str, str], frozenset[Key]] = {}
    for commit, content in contents_of.items():
        for impl in impls:
            held = known.values(commit, impl, keys) if known else {}
            made.numbers += count_numbers(held)
            has[commit, impl] = frozenset(held)
            if keys <= has[commit, impl]:
                made.known += 1
            group = grouped.setdefault((content, impl), {})
            group[commit] = keys - has[commit, impl]
    for (content, impl), group in grouped.items():
        everywhere: frozenset[Key] = frozenset().union(*(has[commit, impl] for commit in group))
        for commit, lacking in group.items():
            if lacking & everywhere:
                donor = max(group, key=lambda each: len(has[each, impl] & lacking))
                made.shared[commit, impl] = (donor, lacking & has[donor, impl])
        if keys - everywhere:
            first = next(iter(group))
            asked = Asked(first, impl, keys - everywhere)
            lacks = {commit: lacking - everywhere for commit, lacking in group.items()}
            made.jobs.append(Job(asked, content, {c: k for c, k in lacks.items() if k}))
    order = {commit: at for at, commit in enumerate(contents_of)}
    made.jobs.sort(key=lambda job: (order[job.asked.commit], job.asked.impl))
    return made
