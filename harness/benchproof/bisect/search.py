"""A search of real commits: its ends, the stops between them, the insides of merges.

A stop is measured as a commit of a history is (`history.measure`): built, proved, counted in the
same processes. The loops are planned at the bad end and are the same everywhere, so that numbers
can be held against each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchproof import noise, suite
from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError, BisectError, SelectionError, few
from benchproof.history import measure
from benchproof.history.asv_files import load
from benchproof.progress import Teller

from . import line
from .line import Narrowed, Stop, most_builds, narrow

#: A branch that was merged is searched if it made at least this part of the merge's change.
_OF_A_BRANCH = 0.5
#: Where the history is kept.
RESULTS = "reports/results/asv"


@dataclass(frozen=True)
class Found:
    """Where the change is: the first commit behind it, and those before it that were lost."""

    culprit: str
    lost: list[str]
    narrowed: Narrowed


@dataclass
class Search:
    """A search while it runs.

    Attributes:
        measurer: builds and counts.
        case: the benchmark.
        meter: an exact one.
        impl: variant of the builds.
        limit: the smallest change worth searching.
        tell: hears of it.
        stops: those of the range, or of the part that the history names.
        ends: values of the good and of the bad end.
        expected: about how many builds it takes.
        values: by content, what was measured.
        tried: the same in order, for the document.
    """

    measurer: measure.Measurer
    case: suite.Case
    meter: str
    impl: str
    limit: noise.Limit
    tell: Teller
    stops: Sequence[Stop] = ()
    ends: tuple[float, float] = (0.0, 0.0)
    expected: int = 0
    values: dict[str, float | str] = field(default_factory=dict)
    tried: list[dict[str, Any]] = field(default_factory=list)

    @property
    def checkout(self) -> Checkout:
        """Whose commits are searched."""
        return self.measurer.place.checkout

    def find(self, stops: Sequence[Stop]) -> Found:
        """Search what the kept history names, or else all of it.

        Raises:
            BisectError: there is nothing to find, or an end cannot be measured.
        """
        results = self.checkout.root / RESULTS
        known = hint(results, self.checkout, stops, self.case.name, self.meter, self.impl)
        if known is not None:
            first, last = known
            inner = stops[first : last + 1]
            self.tell.line(
                f"the kept history names {inner[-1].first[:10]}: "
                f"looking at {len(inner)} builds first"
            )
            try:
                self.begin(inner)
            except BisectError as error:
                self.tell.line(f"that was no help ({error}): looking at all {len(stops)} builds")
            else:
                return self.among(inner, *self.ends)
        self.begin(stops)
        return self.among(stops, *self.ends)

    def begin(self, stops: Sequence[Stop]) -> None:
        """Build both ends and count the benchmark there, at the bad one first: it may be dearer.

        Raises:
            BisectError: one cannot be measured, or they are equal within the limit.
        """
        self.stops, self.expected = stops, len(self.values) + most_builds(len(stops))
        after, before = (self._end(stop) for stop in (stops[-1], stops[0]))
        self.ends = (before, after)
        if abs(after - before) <= max(self.limit.ratio * abs(before), self.limit.floor):
            raise BisectError(
                f"there is nothing to find: {self.meter} went from {before:,.10g} to "
                f"{after:,.10g}, which is within the limit of {self.limit.ratio * 100:g} %"
            )

    def _end(self, stop: Stop) -> float:
        """The value of an end.

        Raises:
            BisectError: it cannot be measured.
        """
        value = self.value(stop)
        if isinstance(value, str):
            raise BisectError(f"{stop.first[:10]} cannot be measured: {value}")
        return value

    def value(self, stop: Stop) -> float | str:
        """The value of a stop, measured once for each content."""
        if stop.content not in self.values:
            number = len(self.values) + 1
            self.tell.stage(
                f"build {number} of about {max(self.expected, number)}: {stop.first[:10]}"
            )
            self._note(stop, self._counted(stop.first))
        return self.values[stop.content]

    def _counted(self, commit: str) -> float | str:
        """What one call costs; in several layouts of memory where one could explain the change."""
        key = (self.case.name, self.meter)
        asked = measure.Asked(commit, self.impl, frozenset({key}))
        low, high = sorted(self.ends)
        accident = not low or high / low - 1 <= noise.ACCIDENT
        layouts = noise.LAYOUTS if self.meter == "instructions" and accident else 1
        measured = self.measurer.measure(asked, layouts)
        value = measured.values[key]
        if value.value is None or value.absent:
            why = measured.why.get(self.case.name) or measured.why.get("")
            return why or "it gave no number"
        return value.value

    def _note(self, stop: Stop, value: float | str) -> None:
        """Keep a value, and say it."""
        self.values[stop.content] = value
        subject = self.checkout.subject(stop.first)
        lost = value.splitlines()[0] if isinstance(value, str) else None
        self.tried.append({
            "commit": stop.first, "subject": subject, "content": stop.content,
            "value": None if isinstance(value, str) else value, "why": lost,
        })  # fmt: skip
        said = f"skipped: {lost}" if isinstance(value, str) else f"{value:,.10g}"
        self.tell.line(f"{stop.first[:10]}  {said}  {subject}")

    def among(self, stops: Sequence[Stop], before: float, after: float) -> Found:
        """Find the change among stops, and inside of the merge that brought it."""
        last = len(stops) - 1
        found = narrow((0, before), (last, after), lambda place: self.value(stops[place]))
        lost = [commit for stop in stops[found.low + 1 : found.high] for commit in stop.commits]
        culprit = stops[found.high].first
        inner = None if lost else self.inside(culprit, found)
        return inner or Found(culprit, lost, found)

    def inside(self, merge: str, outer: Narrowed) -> Found | None:
        """Find the change among the commits that a merge brought, if it is of one branch."""
        for stops in line.branches(self.checkout, merge):
            self.tell.line(f"{merge[:10]} is a merge: looking at the {len(stops) - 1} builds of it")
            self.expected += most_builds(len(stops))
            before, after = self.value(stops[0]), self.value(stops[-1])
            if isinstance(before, str) or isinstance(after, str):
                continue
            if (after - before) / (outer.after - outer.before) >= _OF_A_BRANCH:
                found = self.among(stops, before, after)
                share = found.narrowed.share * outer.share
                return replace(found, narrowed=replace(found.narrowed, share=share))
        return None


def one_of(cases: Sequence[suite.Case], bench: str) -> suite.Case:
    """The one benchmark that was meant.

    Raises:
        SelectionError: there is none, or more than one.
    """
    named = [case for case in cases if case.name == bench]
    chosen = named or suite.select(cases, suite.expression(bench))
    if len(chosen) > 1:
        names = few([case.name for case in chosen], 5)
        raise SelectionError(f"{bench!r} matches {len(chosen)} benchmarks, not one: {names}")
    return chosen[0]


def hint(
    results: Path, checkout: Checkout, stops: Sequence[Stop], bench: str, meter: str, impl: str
) -> tuple[int, int] | None:
    """The neighbours in the kept history between which a series changes most, as places of stops.

    It is a hint, never an answer: both ends of what it names are built and counted, and if they do
    not differ the whole range is searched.

    Args:
        results: asv's folder of results.
        checkout: that holds the commits.
        stops: of the range.
        bench: the benchmark's name.
        meter: its meter.
        impl: its implementation.

    Returns:
        Places in `stops`, closer together than its ends; None if the history does not know.
    """
    if not results.is_dir():
        return None
    try:
        history = load(results, checkout, stops[-1].commits[-1])
    except BenchproofError:
        return None
    places = {commit: at for at, stop in enumerate(stops) for commit in stop.commits}
    steps = [(0.0, 0, len(stops) - 1)]
    for key, series in history.series.items():
        if (key.benchmark, key.meter, key.impl) == (bench, meter, impl):
            commits = [history.commits[place].hash for place in series.index]
            known = [
                (places[commit], float(value))
                for commit, value in zip(commits, series.value, strict=True) if commit in places
            ]  # fmt: skip
            steps += [
                (abs(new - old), low, high)
                for (low, old), (high, new) in pairwise(known) if low < high
            ]  # fmt: skip
    _, low, high = max(steps, key=itemgetter(0))
    return None if (low, high) == (0, len(stops) - 1) else (low, high)
