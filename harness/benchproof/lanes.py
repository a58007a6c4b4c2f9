"""One variant of a comparison: both its sides built, proven and counted; then it is timed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import analysers, builds, controls, counting, imports, listing, package, results, suite
from .bench import Bench
from .collected import Collected, Sampled, Spot
from .errors import SelectionError, WorkerError, few
from .plan import SIDES, SideName
from .progress import Counter, Teller
from .settings import BEYOND_PLACE, Settings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from .checkout import Place
    from .compare import Request
    from .processes import Crew
    from .suite import Case
    from .targets import Target


class Named(Teller):
    """A teller for one of two that talk at the same time."""

    def __init__(self, tell: Teller, name: str) -> None:
        """The teller behind it, and whose words these are."""
        self._tell, self._name = tell, f"{name}: " if name else ""

    def stage(self, text: str) -> None:
        """A stage of this one."""
        self._tell.stage(f"{self._name}{text}")

    def expect(self, seconds: float) -> None:
        """As it is."""
        self._tell.expect(seconds)

    def line(self, text: str) -> None:
        """As it is."""
        self._tell.line(f"{self._name}{text}")


class Catalogue:
    """The benchmarks, found once for all variants."""

    def __init__(self, request: Request, settings: Settings) -> None:
        """What is asked, and whose patterns must match.

        Raises:
            SelectionError: the expression that chooses is none.
        """
        self.pattern, self.named = suite.expression(request.bench), request.processes
        self._settings, self._meters, self._tasks = settings, request.meters, request.tasks
        self._lock = threading.Lock()
        self._found = False
        self.known: list[Case] = list(self.named)
        self.excluded: list[dict[str, str | None]] = []
        self._broken: dict[str, str] = {}

    def take(self, rows: Sequence[Mapping[str, Any]] | None, place: str) -> None:
        """What was found before anything was built; None: only a build can tell.

        Raises:
            SelectionError: none of it matches.
            SettingsError: a limit's pattern matches none.
        """
        if rows is not None:
            self._know(rows, package.name(place))
            suite.select(self.known, self.pattern)

    def _know(self, rows: Sequence[Mapping[str, Any]], measured: str) -> None:
        """Remember them, and the case of import time."""
        self.known = suite.from_rows(rows, self._meters)
        if measured and {"instructions", "wall"} & set(self._tasks):
            self.known.append(imports.case(measured, "time"))
        if not self._broken:  # whose benchmarks a limit may name
            self._settings.check([case.name for case in self.known])

    def cases(self, bench: Bench, tell: Teller) -> list[Case]:
        """The chosen ones.

        Raises:
            SelectionError: none matches.
            SettingsError: a limit's pattern matches none.
            WorkerError: they cannot be listed, or none matches of those that can.
        """
        if self.named:
            return list(self.named)
        with self._lock:
            if not self._found:
                self._found = True
                tell.stage("finding the benchmarks")
                found = listing.discovered(bench)
                self._broken = {
                    row["excluded"]: row["why"] for row in found if row.get("broken")
                }  # fmt: skip
                self.excluded = suite.left_out(found, self.pattern, self._meters)
                if self.excluded:
                    tell.line(suite.told(self.excluded))
                self._know(found, bench.sides["right"].package)
        bench.got.failures |= self._broken
        try:
            return suite.select(self.known, self.pattern)
        except SelectionError as error:
            if self._broken:
                raise WorkerError(few([*self._broken.values()])) from error
            raise


@dataclass(kw_only=True)
class Lane(Sampled):
    """A variant that is measured.

    Attributes:
        targets: what is built.
        scratch: for workers.
        bench: runs the workers, once there are builds.
        controls: counted with it.
        lines: that benchmarks ran, by side and file, if that was asked for.
    """

    targets: dict[SideName, Target]
    scratch: Path
    bench: Bench | None = None
    controls: list[Sampled] = field(default_factory=list)
    lines: dict[str, dict[str, set[int]]] = field(default_factory=dict)

    @property
    def same_sources(self) -> bool:
        """Whether both sides are the same build, as can be told before there is any."""
        left, right = (self.targets[side] for side in SIDES)
        return (left.content, left.spec.impl) == (right.content, right.spec.impl)

    def build(
        self, place: Place, suites: Path, crew: Crew, core: int | None, number: int, tell: Teller
    ) -> Bench:
        """Build both sides, so often as was asked for.

        Raises:
            BenchproofError: one does not build.
        """
        names = " and ".join(dict.fromkeys(each.spec.text for each in self.targets.values()))
        tell.stage(f"building {names}")
        built = builds.build(self.targets, place, crew, range(number), tell)
        firsts = {side: each[0] for side, each in built.items()}
        left, right = firsts["left"], firsts["right"]
        for words in dict.fromkeys(
            f"{self.targets[side].spec.text} is measured in pure Python: {each.why_pure}"
            for side, each in firsts.items() if each.why_pure
        ):  # fmt: skip
            tell.line(words)
        self.same = left.same_as(right)
        self.name = self.name or (left.impl if left.impl == right.impl else "")
        self.sides = {
            side: results.describe(self.targets[side], each[0])
            | {"wheels": [one.wheel_sha256 for one in each]}
            for side, each in built.items()
        }
        if words := analysers.differ(self.sides):
            tell.line(words)
        self.scratch.mkdir(parents=True)
        self.bench = Bench(
            firsts, suites, crew, self.scratch, core, self.got,
            others={side: each[1:] for side, each in built.items()},
        )  # fmt: skip
        return self.bench

    def count(self, bench: Bench, tasks: Collection[str], number: int) -> None:
        """Prove every case, and run the exact meters in so many layouts of memory.

        Args:
            bench: of both sides.
            tasks: the exact meters'.
            number: of layouts.

        Raises:
            BenchproofError: workers do not run.
        """
        functions = imports.functions(self.cases)
        if functions:
            costs = dict.fromkeys((case.name for case in functions), counting.PROVING)
            proving = Counter("proving the path on both sides", costs, bench.tell, bench.after)
            bench.prove(functions, proving.done)
            spots = [Spot(each % bench.builds, each) for each in range(number)]
            counting.exact(bench, functions, tasks, spots)

    def refuse_broken(self) -> None:
        """Say which modules of benchmarks were not measured, once the others are.

        Raises:
            WorkerError: some do not import.
        """
        names = {case.name for case in self.cases}
        if broken := [why for name, why in self.got.failures.items() if name not in names]:
            raise WorkerError(few(broken))

    def elsewhere(self, bench: Bench, cases: Sequence[Case], place: Place) -> Bench:
        """Both sides in other builds, whose code lies elsewhere, to time some cases again.

        Raises:
            BenchproofError: one does not build.
        """
        others = bench.others
        if bench.builds == 1:
            bench.tell.stage("building both sides again, with their code elsewhere in memory")
            others = builds.build(self.targets, place, bench.crew, (1,), bench.tell)
        got = Collected(
            proofs={side: {case.name: self.got.proofs[side][case.name] for case in cases}
                    for side in SIDES},
            loops={case.name: self.got.loops[case.name] for case in cases},
        )  # fmt: skip
        return replace(
            bench, sides={side: others[side][0] for side in SIDES}, others={},
            scratch=bench.scratch / "elsewhere", got=got, settings=BEYOND_PLACE,
        )  # fmt: skip

    def trace(self, bench: Bench) -> None:
        """See which lines of the package the benchmarks run, on both sides.

        Raises:
            BenchproofError: workers do not run.
        """
        ready = counting.measurable(bench, self.cases)
        for side, answers in bench.ask("lines", ready, [{}] * len(ready)).items():
            found = self.lines.setdefault(side, {})
            for row in answers.values():
                for file, numbers in row.get("lines", {}).items():
                    found.setdefault(file, set()).update(numbers)

    def count_controls(self, bench: Bench) -> None:
        """Count a case of the candidate against itself, alone and slowed down on purpose.

        Raises:
            BenchproofError: workers do not run.
        """
        chosen = controls.choose(self.got, self.cases, bench.settings)
        if chosen is None:
            return
        case, turns = chosen
        bench.tell.stage(f"counting two controls, {case.name} against itself and slowed down")
        for kind, extra in zip(controls.MUST, (0, turns), strict=True):
            got = Collected(
                proofs={side: {case.name: self.got.proofs["right"][case.name]} for side in SIDES},
                loops={case.name: self.got.loops[case.name]},
                prices={case.name: self.got.prices[case.name]},
            )
            running = replace(
                bench, sides=dict.fromkeys(SIDES, bench.sides["right"]),
                others=dict.fromkeys(SIDES, bench.others.get("right", ())),
                scratch=bench.scratch / f"control{extra}", got=got, extra=extra,
            )  # fmt: skip
            running.count_instructions([case])
            counting.count_again(running, [case])
            self.controls.append(Sampled(name=self.name, cases=[case], got=got, control=kind))
