"""What templates print: how each suite stands, changes and values in words, and where they lead."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from benchproof.errors import BenchproofError
from benchproof.gate.report import words
from benchproof.meters import METERS
from benchproof.noise import LIMITS
from benchproof.render import units

from .pack import SHORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchproof.changes.sizes import Change
    from benchproof.checkout import Checkout
    from benchproof.history.model import Commit, History, Series, SeriesKey

    from .pack import Group

#: Where a meter has no limit of its own.
_LIMIT = 0.01
#: The meter that suites are summed up in, if they have it.
SUMMED = "instructions"
#: Implementations, in the order of every table, and how people call them.
IMPLS = {"python": "pure", "cython": "Cython", "": "measured"}


class Open(NamedTuple):
    """A regression that is open, and what remains of it: the newest level / the level before."""

    change: Change
    remaining: float


class Suite(NamedTuple):
    """How a suite stands.

    Attributes:
        name: its name.
        benchmarks: how many it has.
        newest: place of the newest commit at which any was measured.
        open: its open regressions.
        changes: how many changes it has had.
        since: by implementation, newest / oldest value of the meter that suites are summed up in
            (None where it was not measured).
    """

    name: str
    benchmarks: int
    newest: int
    open: list[Open]
    changes: int
    since: dict[str, float | None]


class Pair(NamedTuple):
    """What was measured in both implementations.

    Attributes:
        group: the series.
        place: the newest at which both were measured.
        ratio: compiled / pure there; None without a number.
    """

    group: Group
    place: int
    ratio: float | None


def suite_of(benchmark: str) -> str:
    """The suite that a benchmark belongs to."""
    return benchmark.partition(".")[0]


def newest_first(changes: Iterable[Change]) -> list[Change]:
    """Changes by commit, the newest first; of one commit, the greatest first."""
    return sorted(changes, key=lambda change: (-change.after, -change.size))


def open_regressions(changes: Iterable[Change]) -> list[Open]:
    """The worst regression of each series that later changes left there, the worst first.

    What the platform did is no regression; it still moves the level, so it is not counted in.
    """
    worst: dict[SeriesKey, Open] = {}
    remaining: dict[SeriesKey, float] = defaultdict(lambda: 1.0)
    for change in sorted(changes, key=lambda change: -change.after):
        if change.kind == "code":
            key = change.key
            remaining[key] *= change.ratio
            least = worst[key].remaining if key in worst else 1 + limit_of(key.meter)
            if change.ratio > 1 and remaining[key] > least:
                worst[key] = Open(change, remaining[key])
    return sorted(worst.values(), key=lambda each: -each.remaining)


def suites(history: History, changes: Sequence[Change], regressions: Sequence[Open]) -> list[Suite]:
    """Every suite's state, by name."""
    members: dict[str, list[Series]] = defaultdict(list)
    for series in history.series.values():
        if len(series):
            members[suite_of(series.key.benchmark)].append(series)
    impls = sorted({key.impl for key in history.series})
    many = Counter(suite_of(change.key.benchmark) for change in changes)
    return [
        Suite(
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
    return units.geometric_mean([
        float(series.value[-1] / series.value[0])
        for series in own
        if series.key.meter == SUMMED and series.value[0] > 0 and series.value[-1] > 0
    ])  # fmt: skip


#: Hosts that show a commit below the address of its repository, and how.
HOSTS = {
    "github.com": "commit", "gitlab.com": "-/commit", "codeberg.org": "commit",
    "bitbucket.org": "commits",
}  # fmt: skip
_REMOTE = re.compile(
    r"(?:https?://(?:[^@/]*@)?|git@|ssh://git@)(?P<host>[^:/]+)[:/](?P<path>.+?)(?:\.git)?/?$"
)


def benchmark(name: str, **choice: str | None) -> str:
    """The permalink of a benchmark's page; what is not chosen, the page chooses.

    Args:
        name: The benchmark.
        choice: Of ``meter``, ``impl``, ``machine``, ``at``, ``from``, ``to``.
    """
    chosen = {key: value for key, value in choice.items() if value}
    return "benchmark.html#" + urlencode({"name": name} | chosen)


def of_change(found: Change, after: Commit) -> str:
    """The permalink of a change, which is at a commit."""
    key = found.key
    return benchmark(key.benchmark, meter=key.meter, impl=key.impl, machine=key.machine,
                     at=after.hash[:SHORT])  # fmt: skip


def comparison(left: str, right: str) -> str:
    """The page that compares two commits."""
    return "compare.html#" + urlencode({"left": left[:SHORT], "right": right[:SHORT]})


def of_commits(checkout: Checkout, configured: str = "") -> str:
    """The beginning of the address at which the host shows a commit; empty if none is known.

    Args:
        checkout: Its remote ``origin`` is asked, and believed if it is a host known to be public.
        configured: ``show_commit_url`` of asv's settings, which counts first.
    """
    if configured:
        return configured
    try:
        remote = checkout.ask("config", "--get", "remote.origin.url")
    except BenchproofError:
        return ""
    return of_remote(remote)


def of_remote(remote: str) -> str:
    """The same for the address of a remote."""
    match = _REMOTE.match(remote)
    if match is None or match["host"] not in HOSTS:
        return ""
    return f"https://{match['host']}/{match['path']}/{HOSTS[match['host']]}/"


def limit_of(meter: str) -> float:
    """The largest change of a meter that counts as none."""
    return LIMITS[meter].ratio if meter in LIMITS else _LIMIT


def in_order(meters: Iterable[str]) -> list[str]:
    """Meters in the order of every table; those that it does not know stand last."""
    return sorted(meters, key=_place)


def _place(meter: str) -> tuple[int, str]:
    """Where a meter stands in that order."""
    known = [*METERS]
    return known.index(meter) if meter in known else len(known), meter


def impl(name: str) -> str:
    """An implementation as people call it."""
    return IMPLS.get(name, name)


def case_of(benchmark: str) -> str:
    """A benchmark's short name: without its suite and asv's ``time_``."""
    return benchmark.rpartition(".")[2].removeprefix("time_")


def figure(name: str, value: float, unit: str = "") -> str:
    """A value of a meter with its unit."""
    if name in METERS:
        return METERS[name].write(value)
    return f"{units.count(value)} {unit}".strip()


def day(milliseconds: int) -> str:
    """The day of a commit, in UTC."""
    return dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC).date().isoformat()


def by_suite(groups: Iterable[Group]) -> dict[str, dict[str, list[Group]]]:
    """Groups by suite and benchmark, in the order of their names, and of the meters."""
    found: dict[str, dict[str, list[Group]]] = {}
    for group in sorted(groups, key=lambda each: (each.benchmark, _place(each.meter))):
        suite = found.setdefault(suite_of(group.benchmark), {})
        suite.setdefault(group.benchmark, []).append(group)
    return dict(sorted(found.items()))


def pairs(groups: Iterable[Group]) -> dict[str, list[Pair]]:
    """By suite, what was measured in both implementations, case by case."""
    both = by_suite(group for group in groups if {"python", "cython"} <= group.series.keys())
    return {
        suite: [_pair(group) for own in benchmarks.values() for group in own]
        for suite, benchmarks in both.items()
    }


def _pair(group: Group) -> Pair:
    """Both implementations of a series."""
    python, cython = group.series["python"], group.series["cython"]
    place = int(min(python.index[-1], cython.index[-1]))
    pure, compiled = python.at(place), cython.at(place)
    return Pair(group, place, compiled / pure if pure and compiled else None)


def means(own: Sequence[Pair]) -> str:
    """The geometric mean of the ratios of each meter."""
    found = []
    for each in in_order({pair.group.meter for pair in own}):
        ratios = [pair.ratio for pair in own if pair.group.meter == each and pair.ratio]
        if (mean := units.geometric_mean(ratios)) is not None:
            found.append(f"{words.label(each)} {units.ratio(mean)}")
    return f"geometric means: {', '.join(found)}" if found else "no ratio"
