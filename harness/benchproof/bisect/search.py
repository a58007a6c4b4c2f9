"""A search of real commits: its ends, the stops between them, the insides of merges."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from benchproof import suite
from benchproof.errors import BisectError, SelectionError

from . import line
from .narrow import Lost, Narrowed, most_builds, narrow
from .probe import LAYOUTS, Prober, or_lost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchproof.build import Built
    from benchproof.compare import Place
    from benchproof.progress import Teller
    from benchproof.suite import Case

    from .line import Stop

#: A branch that was merged is searched if it made at least this part of the merge's change.
_OF_A_BRANCH = 0.5


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
        place: with the checkout.
        prober: builds and counts.
        tell: hears of it.
        case: the benchmark, once it was found.
        ends: values of the good and of the bad end.
        expected: about how many builds it takes.
        values: by content, what was measured.
        tried: the same in order, for the document.
    """

    place: Place
    prober: Prober
    tell: Teller
    case: Case | None = None
    ends: tuple[float, float] = (0.0, 0.0)
    expected: int = 0
    values: dict[str, float | Lost] = field(default_factory=dict)
    tried: list[dict[str, Any]] = field(default_factory=list)

    def begin(self, stops: Sequence[Stop], bench: str) -> Case:
        """Build both ends, find the benchmark, plan its loops, count it at both ends.

        Raises:
            BenchproofError: an end cannot be measured.
        """
        self.values.clear()
        self.expected = len(self.prober.builds) + most_builds(len(stops))
        self.tell.stage(f"building both ends of {len(stops)} different builds")
        with ThreadPoolExecutor(max_workers=2) as pool:
            try:
                good, bad = pool.map(self.prober.build, (stops[0].first, stops[-1].first))
            except KeyboardInterrupt:
                # The threads wait for children, which end now.
                self.prober.crew.stop()
                raise
        case = self.case = one_of(suite.from_rows(self.prober.discover(bad)), bench)
        self.prober.plan((self._price(good, stops[0]), self._price(bad, stops[-1])))
        found = []
        for built, stop in ((good, stops[0]), (bad, stops[-1])):
            self.tell.stage(f"counting {case.name} at {stop.first[:10]}")
            value = self.prober.value(built, case, layouts=LAYOUTS)
            if isinstance(value, Lost):
                raise BisectError(f"{stop.first[:10]} cannot be counted: {value.why}")
            self._note(stop, value)
            found.append(value)
        self.ends = (found[0], found[1])
        return case

    def _price(self, built: Built, stop: Stop) -> float:
        """What a call costs at an end, once it has proven its path there."""
        if self.case is None:
            raise BisectError("nothing was chosen")
        self.tell.stage(f"proving the path of {self.case.name} at {stop.first[:10]}")
        price = self.prober.prove(built, self.case) or self.prober.price(built, self.case)
        if isinstance(price, Lost):
            raise BisectError(f"{self.case.name} does not run at {stop.first[:10]}: {price.why}")
        return price

    def value(self, stop: Stop) -> float | Lost:
        """The value of a stop, measured once for each content."""
        if stop.content not in self.values:
            number = len(self.prober.builds) + 1
            self.tell.stage(
                f"build {number} of about {max(self.expected, number)}: {stop.first[:10]}"
            )
            self._note(stop, self._measure(stop))
        return self.values[stop.content]

    def _measure(self, stop: Stop) -> float | Lost:
        """Build, prove, count."""
        built = or_lost(self.prober, stop.first)
        if isinstance(built, Lost) or self.case is None:
            return built if isinstance(built, Lost) else Lost("nothing was chosen")
        lost = self.prober.prove(built, self.case)
        if lost is not None:
            return lost
        return self.prober.believed(built, self.case, self.ends)

    def _note(self, stop: Stop, value: float | Lost) -> None:
        """Keep a value, and say it."""
        self.values[stop.content] = value
        subject = self.place.checkout.subject(stop.first)
        lost = value.why.splitlines()[0] if isinstance(value, Lost) else None
        self.tried.append({
            "commit": stop.first, "subject": subject, "content": stop.content,
            "value": None if isinstance(value, Lost) else value, "why": lost,
        })  # fmt: skip
        said = f"skipped: {lost}" if isinstance(value, Lost) else f"{value:,.10g}"
        self.tell.line(f"{stop.first[:10]}  {said}  {subject}")

    def among(self, stops: Sequence[Stop], before: float, after: float) -> Found:
        """Find the change among stops, and inside of the merge that brought it."""
        last = len(stops) - 1
        found = narrow((0, before), (last, after), lambda place: self.value(stops[place]))
        lost = [commit for stop in stops[found.low + 1 : found.high] for commit in stop.commits]
        culprit = stops[found.high].first
        if not lost and len(line.parents(self.place.checkout, culprit)) > 1:
            inner = self.inside(culprit, found)
            if inner is not None:
                return inner
        return Found(culprit, lost, found)

    def inside(self, merge: str, outer: Narrowed) -> Found | None:
        """Find the change among the commits that a merge brought, if it is of one branch."""
        for stops in line.branches(self.place.checkout, merge):
            self.tell.line(f"{merge[:10]} is a merge: looking at the {len(stops) - 1} builds of it")
            self.expected += most_builds(len(stops))
            before, after = self.value(stops[0]), self.value(stops[-1])
            if isinstance(before, Lost) or isinstance(after, Lost):
                continue
            if (after - before) / (outer.after - outer.before) >= _OF_A_BRANCH:
                found = self.among(stops, before, after)
                share = found.narrowed.share * outer.share
                return replace(found, narrowed=replace(found.narrowed, share=share))
        return None


def one_of(cases: Sequence[Case], bench: str) -> Case:
    """The one benchmark that was meant.

    Raises:
        SelectionError: there is none, or more than one.
    """
    named = [case for case in cases if case.name == bench]
    chosen = named or suite.select(cases, suite.expression(bench))
    if len(chosen) > 1:
        names = ", ".join(case.name for case in chosen[:5])
        more = f" and {len(chosen) - 5} more" if len(chosen) > 5 else ""
        raise SelectionError(f"{bench!r} matches {len(chosen)} benchmarks, not one: {names}{more}")
    return chosen[0]
