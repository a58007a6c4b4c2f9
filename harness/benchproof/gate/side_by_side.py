"""One implementation of a gate: build both sides, prove, count; then it waits to be timed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof import counting, imports, results, suite
from benchproof.bench import Bench
from benchproof.collected import Spot
from benchproof.plan import SIDES
from benchproof.progress import Counter

from . import builds

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from benchproof.build import Built
    from benchproof.compare import Place
    from benchproof.plan import SideName
    from benchproof.processes import Crew
    from benchproof.progress import Teller
    from benchproof.settings import Settings
    from benchproof.suite import Case
    from benchproof.targets import Implementation, Target


class Named:
    """A teller for one of two that talk at the same time."""

    def __init__(self, tell: Teller, name: str) -> None:
        """The teller behind it, and whose words these are."""
        self._tell, self._name = tell, name

    def stage(self, text: str) -> None:
        """A stage of this one."""
        self._tell.stage(f"{self._name}: {text}")

    def expect(self, seconds: float) -> None:
        """As it is."""
        self._tell.expect(seconds)

    def line(self, text: str) -> None:
        """As it is."""
        self._tell.line(f"{self._name}: {text}")


class Catalogue:
    """The benchmarks, found once for all implementations."""

    def __init__(
        self,
        pattern: re.Pattern[str],
        settings: Settings,
        others: Sequence[Case] = (),
        meters: Collection[str] = suite.TIMED,
    ) -> None:
        """Which are chosen, whose patterns must match, cases that are no functions, and meters."""
        self._pattern, self._settings, self._others = pattern, settings, others
        self._meters = meters
        self._lock = threading.Lock()
        self._found = False
        self.known: list[Case] = []
        self.excluded: list[dict[str, str | None]] = []

    def take(self, known: Sequence[Mapping[str, Any]] | None) -> None:
        """What was found before anything was built; None: only a build can tell.

        Raises:
            SelectionError: none of it matches.
            SettingsError: a limit's pattern matches none.
        """
        if known is not None:
            self.known = [*suite.from_rows(known, self._meters), *self._others]
            self._settings.check([case.name for case in self.known])
            suite.select(self.known, self._pattern)

    def cases(self, bench: Bench, tell: Teller) -> list[Case]:
        """The chosen ones.

        Raises:
            SelectionError: none matches.
            SettingsError: a limit's pattern matches none.
            WorkerError: they cannot be listed.
        """
        with self._lock:
            if not self._found:
                self._found = True
                tell.stage("finding the benchmarks")
                found = bench.discover()
                self.excluded = suite.left_out(found, self._pattern, self._meters)
                if self.excluded:
                    tell.line(suite.told(self.excluded))
                self.known = [*suite.from_rows(found, self._meters), *self._others]
                self._settings.check([case.name for case in self.known])
        return suite.select(self.known, self._pattern)


@dataclass
class SideBySide:
    """Both sides of one implementation.

    Attributes:
        impl: the implementation.
        targets: what is built.
        scratch: for workers.
        built: every build of each side, once they are there.
        bench: runs the workers, once there are builds.
        cases: those that were chosen.
        same: whether both sides are the same build.
    """

    impl: Implementation
    targets: dict[SideName, Target]
    scratch: Path
    built: dict[SideName, list[Built]] = field(default_factory=dict)
    bench: Bench | None = None
    cases: list[Case] = field(default_factory=list)
    same: bool = False

    @property
    def same_sources(self) -> bool:
        """Whether both sides are the same build, as can be told before there is any."""
        return self.targets["left"].content == self.targets["right"].content

    def build(
        self, place: Place, suites: Path, crew: Crew, core: int | None, number: int, tell: Teller
    ) -> Bench:
        """Build both sides, so often as was asked for.

        Raises:
            BenchproofError: one does not build.
        """
        tell.stage(f"building {' and '.join(t.spec.text for t in self.targets.values())}")
        self.built = builds.build(self.targets, place, crew, number, tell)
        self.same = self.built["left"][0].same_as(self.built["right"][0])
        self.scratch.mkdir(parents=True)
        self.bench = Bench(
            {side: self.built[side][0] for side in SIDES}, suites, crew, self.scratch, core,
            others={side: self.built[side][1:] for side in SIDES},
        )  # fmt: skip
        return self.bench

    def count(
        self,
        bench: Bench,
        tasks: Collection[str],
        number: int,
        settings: Settings,
        tell: Teller,
        after: float = 0.0,
    ) -> None:
        """Prove every case, and run the exact meters in so many layouts of memory.

        Args:
            bench: of both sides.
            tasks: the exact meters'.
            number: of layouts.
            settings: limits.
            tell: hears of it.
            after: seconds that follow.

        Raises:
            BenchproofError: workers do not run.
        """
        functions = imports.functions(self.cases)
        costs = dict.fromkeys((case.name for case in functions), counting.PROVING)
        bench.prove(functions, Counter("proving the path on both sides", costs, tell, after).done)
        spots = [Spot(each % bench.builds, each) for each in range(number)]
        counting.exact(bench, functions, tasks, tell, settings, spots, after)
        imports.measure(bench, self.cases, tasks, tell, settings)

    def describe(self) -> dict[str, dict[str, object]] | None:
        """Both sides, as the document describes them; None before they are built."""
        if not self.built:
            return None
        return {
            side: results.describe(self.targets[side], self.built[side][0])
            | {"wheels": [each.wheel_sha256 for each in self.built[side]]}
            for side in SIDES
        }
