"""What the overview says: how each suite stands, what changed last, what is worst."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchproof.render.units import geometric_mean
from benchproof.verdict import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchproof.changes.model import Change
    from benchproof.history.model import History, Series, SeriesKey

#: Where a meter has no limit of its own.
_LIMIT = 0.01
#: A ratio beyond it stands for one that has no number: something where nothing was.
NOTHING = 1e9
#: The meter that suites are summed up in, if they have it.
SUMMED = "instructions"


@dataclass(frozen=True)
class Regression:
    """A regression that later changes did not undo.

    Attributes:
        change: the change for the worse.
        remaining: how much of it is left: the newest level / the level before it.
    """

    change: Change
    remaining: float


@dataclass(frozen=True)
class SuiteState:
    """How a suite stands.

    Attributes:
        name: of the suite.
        benchmarks: how many it has.
        newest: place of the newest commit at which any was measured.
        open: its open regressions, worst first.
        changes: how many changes it has had.
        since: by implementation, newest / oldest value of the meter that suites are summed up in,
            as the geometric mean over its benchmarks; None where it was not measured.
    """

    name: str
    benchmarks: int
    newest: int
    open: list[Regression]
    changes: int
    since: dict[str, float | None]


def suite_of(benchmark: str) -> str:
    """The suite that a benchmark belongs to."""
    return benchmark.partition(".")[0]


def newest_first(changes: Iterable[Change]) -> list[Change]:
    """Changes by commit, the newest first; of one commit, the greatest first."""
    return sorted(changes, key=lambda change: (-change.after, -change.size))


def open_regressions(changes: Iterable[Change]) -> list[Regression]:
    """The worst regression of each series that later changes left there, the worst first.

    What the platform did is no regression; it still moves the level, so it is not counted in.
    """
    by_series: dict[SeriesKey, list[Change]] = defaultdict(list)
    for change in changes:
        if change.kind == "code":
            by_series[change.key].append(change)
    found = []
    for key, own in by_series.items():
        limit = LIMITS[key.meter].ratio if key.meter in LIMITS else _LIMIT
        worst: Regression | None = None
        remaining = 1.0
        for change in sorted(own, key=lambda change: -change.after):
            remaining *= min(max(change.ratio, 1 / NOTHING), NOTHING)
            if change.ratio > 1 and remaining > 1 + limit:
                worst = max(worst or Regression(change, remaining), Regression(change, remaining),
                            key=lambda each: each.remaining)  # fmt: skip
        if worst:
            found.append(worst)
    return sorted(found, key=lambda each: -each.remaining)


def suites(
    history: History, changes: Sequence[Change], regressions: Sequence[Regression]
) -> list[SuiteState]:
    """Every suite's state, by name."""
    members: dict[str, list[Series]] = defaultdict(list)
    for series in history.series.values():
        if len(series):
            members[suite_of(series.key.benchmark)].append(series)
    impls = sorted({key.impl for key in history.series})
    many: dict[str, int] = defaultdict(int)
    for change in changes:
        many[suite_of(change.key.benchmark)] += 1
    return [
        SuiteState(
            name=name,
            benchmarks=len({series.key.benchmark for series in own}),
            newest=max(int(series.index[-1]) for series in own),
            open=[each for each in regressions if suite_of(each.change.key.benchmark) == name],
            changes=many[name],
            since={impl: _since([s for s in own if s.key.impl == impl]) for impl in impls},
        )
        for name, own in sorted(members.items())
    ]


def _since(own: Sequence[Series]) -> float | None:
    """Newest / oldest, over the series of the meter that sums up."""
    return geometric_mean([
        float(series.value[-1] / series.value[0])
        for series in own
        if series.key.meter == SUMMED and series.value[0] > 0 and series.value[-1] > 0
    ])  # fmt: skip
