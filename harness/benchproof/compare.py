"""The runner: two sides in every variant that was asked for, built, proven, counted, timed.

`compare`, `gate`, `run` and the end of a bisection all ask it. Variants are built and
counted side by side and timed in the same minutes. What it gives is judged by `judge`.
"""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from . import (
    accepted,
    builds,
    controls,
    counting,
    definitions,
    error_rates,
    imports,
    judge,
    listing,
    meters,
    noise,
    programs,
    provenance,
    records,
    results,
    suite,
    targets,
    timing,
    unmeasured,
    variants,
    verdict,
)
from .checkout import Place
from .collected import Sampled, Samples
from .errors import (
    BenchproofError,
    BuildError,
    ClockError,
    NoSpaceError,
    StoppedError,
    TargetError,
    WorkerError,
    told,
)
from .files import STDOUT, write_json
from .lanes import Catalogue, Lane, Named
from .plan import SIDES
from .processes import Crew
from .profile.explain import explain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .bench import Bench
    from .progress import Teller
    from .suite import Case

__all__ = ["Outcome", "Place", "Request", "compare"]

#: Seconds of wall time of a rough comparison, unless a person says otherwise.
QUICK_BUDGET = 40.0
#: Variants that are built and counted at a time.
AT_A_TIME = 2
#: Why a case has no wall time though that was asked for.
NOTHING_TO_DECIDE = "not timed: both sides do the same work by every exact meter"
SAME_CODE = "not timed: both sides run the same code, and do the same work by every exact meter"
#: What ends the measuring of a variant, and not with a traceback.
_TROUBLES = (BuildError, WorkerError, NoSpaceError, ClockError, OSError)


@dataclass(frozen=True)
class Request:
    """What is asked.

    Attributes:
        left: the base, as written.
        right: the candidate, as written.
        bench: expression that chooses benchmarks.
        meters: names of the meters to use.
        budget: seconds of wall time of all variants together; 0 for what the project set. Exact
            meters always finish, and take what they take. (If wall time got what they leave, a
            suite of a hundred would have too few blocks to decide.)
        quick: stop wall time after a few blocks.
        seed: of the order of processes and cases.
        force: measure although both sides are the same build (an A/A run).
        committed: measure HEAD although the working tree differs from it.
        title: of the results.
        profile: say for each change of instructions where they went.
        only_changes: take wall time only of cases in which an exact meter is not equivalent.
        impls: variants to measure both sides in; none where the sides name theirs.
        commands: to measure instead of the project's benchmarks.
        imported: modules whose import is measured instead of them.
        builds: how often each side is built; None for what the project set.
        gate: whether it decides: regressions can be accepted, and what cannot be measured is part
            of the answer.
        passed: regressions that were accepted when the gate passed at the base.
        todays: whether the working tree's rules and benchmarks hold, and not the candidate's.
        lines: see which lines of the package the benchmarks run.
    """

    left: str
    right: str
    bench: str = ""
    meters: tuple[str, ...] = tuple(meters.METERS)
    budget: float = 0.0
    quick: bool = False
    seed: int = 1
    force: bool = False
    committed: bool = False
    title: str = ""
    profile: bool = False
    only_changes: bool = False
    impls: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()
    builds: int | None = None
    gate: bool = False
    passed: tuple[accepted.Entry, ...] = ()
    todays: bool = False
    lines: bool = False

    @property
    def processes(self) -> list[Case]:
        """The commands and imports that a person named."""
        return [*map(programs.case, self.commands), *map(imports.case, self.imported)]

    @property
    def applicable(self) -> set[str]:
        """The meters that were asked for; of commands and imports, those that can measure them."""
        whole = meters.of(programs.KIND) if self.processes else meters.METERS
        return set(self.meters) & set(whole)

    @property
    def tasks(self) -> set[str]:
        """The worker tasks of the meters that were asked for and that this machine has."""
        return {meters.METERS[name].task for name in self.meters if not meters.why_not(name)}


@dataclass(frozen=True)
class Outcome:
    """A judged comparison.

    Attributes:
        document: what the results file holds.
        samples: from which it was computed.
        lanes: of the same, with what measured them.
    """

    document: dict[str, Any]
    samples: Samples
    lanes: Sequence[Lane]

    @property
    def bench(self) -> Bench | None:
        """Of the first variant that was measured."""
        return next((each.bench for each in self.lanes if each.cases), None)

    def save(self, file: Path) -> list[Path]:
        """Write the results file, and the raw wall samples beside it; their paths.

        Raises:
            BenchproofError: they cannot be written.
        """
        write_json(self.document, file)
        written = [file]
        for each in self.lanes if file != STDOUT else ():
            stem = file.name.removesuffix(".json")
            name = file if len(self.lanes) == 1 else file.with_name(f"{stem}.{each.name}.json")
            if each.bench is not None:
                written += results.write_raw(each, each.bench.core, name)
        return written

    def save_records(self, file: Path) -> None:
        """Write the samples, for `benchproof judge`.

        Raises:
            BenchproofError: they cannot be written.
        """
        records.write(self.samples, file)


def compare(request: Request, place: Place, tell: Teller) -> Outcome:
    """Compare two sides.

    A variant that does not build or run, a full disk and a clock that jumps are part of the
    answer, which is then "could not measure", beside what was measured. Ctrl-C once measuring has
    begun ends the workers and gives what was measured, marked partial.

    Raises:
        BenchproofError: it cannot begin; or, unless it is a gate, nothing could be measured.
        StoppedError: Ctrl-C before anything was measured.
    """
    with Crew() as crew:
        running = _Comparison(request, place, tell, crew)
        running.measure()
        samples = running.samples()
        document = judge.document(samples)
        if running.failed and not document["cases"] and not request.gate:
            raise running.refusal
        return Outcome(document, samples, running.lanes)


def usable(impls: Sequence[str], place: Place, tell: Teller) -> tuple[str, ...]:
    """The variants that can be built here.

    Raises:
        TargetError: none can.
    """
    compiled = {each.name for each in place.checkout.variants if each.kind == "compiled"}
    if place.toolchain.compiles or not compiled & set(impls):
        return tuple(impls)
    why = f"no C compiler works here ({place.toolchain.why_not})"
    found = tuple(impl for impl in impls if impl not in compiled)
    if not found:
        raise TargetError(f"what is compiled cannot be measured: {why}")
    tell.line(f"measured as {' and '.join(found)}, and not compiled: {why}")
    return found


class _Comparison:
    """A comparison while it runs."""

    def __init__(self, request: Request, place: Place, tell: Teller, crew: Crew) -> None:
        """Resolve the sides, and read the rules.

        Raises:
            BenchproofError: a side names nothing, a rule is wrong, no benchmark was chosen.
        """
        self.request, self.place, self.tell = request, place, tell
        self.crew = crew
        specs = {"left": request.left, "right": request.right}
        impls = request.impls if request.gate else usable(request.impls, place, tell)
        self.lanes = [
            Lane(
                name=impl,
                targets={
                    side: targets.resolve(
                        builds.spec(specs[side], impl) if impl else targets.parse(specs[side]),
                        place.checkout,
                    )
                    for side in SIDES
                },
                scratch=crew.scratch / (impl or "either"),
            )
            for impl in impls or ("",)
        ]
        self.left, self.right = (self.lanes[0].targets[side] for side in SIDES)
        if not request.committed:
            targets.refuse_dirty((self.left, self.right), place.checkout)
        named = bool(request.processes)
        self.rules = definitions.read(
            self.right, self.left, place, crew.scratch / "rules", todays=request.todays,
            accepts=request.gate, runs=not named,
        )  # fmt: skip
        if self.rules.whose:
            tell.line(self.rules.whose)
        self.settings = self.rules.settings
        self.catalogue = Catalogue(request, self.settings)
        self.failed: list[tuple[str | None, BenchproofError]] = []
        self.trouble: list[dict[str, str | None]] = []
        self.excluded: list[dict[str, str | None]] = []
        self.partial = False
        self.number = request.builds or self.settings.builds
        default = QUICK_BUDGET if request.quick else self.settings.budget
        self.budget = (request.budget or default) * ("wall" in request.tasks)
        self.about = self._about(specs)
        if not named:
            self.catalogue.take(
                listing.early(self.rules.suites, place.checkout), place.checkout.package
            )

    def _about(self, specs: dict[str, str]) -> dict[str, Any]:
        """What is known before anything is measured."""
        request, applicable = self.request, self.request.applicable
        reports = self.place.checkout.root / "reports"
        return {
            "schema": judge.SCHEMA,
            "kind": judge.KIND,
            "gate": request.gate,
            "title": request.title or f"{request.left} against {request.right}",
            "created": results.now(),
            "run": uuid.uuid4().hex,
            "seed": request.seed,
            "impls": [lane.name for lane in self.lanes],
            "builds": self.number,
            "provenance": provenance.gather(self.place.toolchain),
            "asked": list(request.meters),
            "meters": {
                name: {
                    "measured": False,
                    "why": meters.why_not(name) if name in applicable else judge.NOT_ASKED_FOR,
                    "unit": meter.unit,
                    "processes": 0,
                }
                for name, meter in meters.METERS.items()
                if meter.task in meters.ALWAYS
            },
            "error_rates": error_rates.load(reports) if request.gate else None,
        } | {
            side: results.describe(
                replace(self.lanes[0].targets[side], spec=targets.parse(specs[side])), None
            )
            for side in SIDES
        }

    def measure(self) -> None:
        """Measure what can be, and note what cannot.

        Raises:
            BenchproofError: no benchmark was chosen, or a limit matches none.
            StoppedError: Ctrl-C before anything was measured.
        """
        if self.request.gate:
            for name in self.request.meters:
                if meters.why_not(name):
                    self._fail(None, f"{name} cannot be measured here: {meters.why_not(name)}")
        try:
            self._count()
            self._run_processes()
            self._list_base()
            self._time()
            for each, bench in self._measured if self.request.lines else ():
                self.tell.stage("looking which lines the benchmarks run")
                each.trace(bench)
            if self.request.profile:
                self._explain()
        except KeyboardInterrupt:
            if not any(judge.has_numbers(each.got, each.cases) for each in self.lanes):
                raise StoppedError("stopped before anything was measured") from None
            self.partial = True
            self.crew.stop()

    def samples(self) -> Samples:
        """What was measured."""
        built = {about["kind"] for each in self.lanes for about in each.sides.values()}
        asked = {each.kind for each in self.place.checkout.variants
                 if each.kind and each.name in self.request.impls}  # fmt: skip
        missed = unmeasured.between(self.left, self.right, self.place.checkout, asked | built)
        return Samples(
            self.about | {
                "impls": [each.name for each in self.lanes],
                "unmeasured": asdict(missed),
                "excluded": [*self.excluded, *self.catalogue.excluded],
                "trouble": self.trouble,
            },
            self.settings, self.lanes,
            accepted.with_passed(self.rules.entries, self.request.passed),
            [case.name for case in self.catalogue.known], self.partial,
            [one for each in self.lanes for one in each.controls],
        )  # fmt: skip

    def _fail(self, lane: Lane | None, why: str | Exception) -> None:
        """Note what kept a variant, or all, from being measured."""
        if isinstance(why, OSError):
            why = told(why)
        name = lane.name if lane else None
        if isinstance(why, BenchproofError):
            self.failed.append((name, why))
        self.trouble.append({"impl": name, "why": str(why)})
        if self.request.gate or len(self.lanes) > 1:
            self.tell.line(f"{name}: {why}" if name else str(why))

    @property
    def refusal(self) -> BenchproofError:
        """Why nothing was measured; of several variants, which are told as they fail, in a line."""
        name, first = self.failed[0]
        if len(self.lanes) == 1:
            return first
        line = str(first).splitlines()[0].rstrip(":")
        return type(first)(f"{name}: {line}" if name else line)

    def _count(self) -> None:
        """Build, prove and count, some variants at a time."""
        with ThreadPoolExecutor(max_workers=AT_A_TIME) as pool:
            pending = [(each, pool.submit(self._count_one, each)) for each in self.lanes]
            try:
                for each, future in pending:
                    try:
                        future.result()
                    except _TROUBLES as error:
                        self._fail(each, error)
            except BaseException:
                # The threads wait for children, which end now.
                self.crew.stop()
                raise

    def _count_one(self, each: Lane) -> None:
        """Build, prove and count one variant."""
        told_early = self.catalogue.known or not self.request.bench
        if told_early and each.same_sources and not self.request.force and self._has(each):
            each.same = True
            return
        tell = Named(self.tell, each.name if len(self.lanes) > 1 else "")
        core = provenance.pinned_core()
        bench = each.build(self.place, self.rules.suites, self.crew, core, self.number, tell)
        chosen = self.catalogue.cases(bench, tell)
        tests = len(chosen) * len(self.lanes)
        bench = each.bench = replace(
            bench, layouts=noise.layouts(tests, self.settings.alpha), settings=self.settings,
            tell=tell, after=self.budget,
        )  # fmt: skip
        if not each.same or self.request.force:
            each.cases = chosen
            each.count(bench, self.request.tasks, self.number)
            if self.request.gate and "instructions" in self.request.tasks:
                each.count_controls(bench)
            each.refuse_broken()

    def _has(self, each: Lane) -> bool:
        """Whether the sources have a variant; the build of one that they lack says so."""
        right = each.targets["right"]
        if not each.name or right.repository:
            return True
        commit = None if right.is_working_tree else right.commit
        return each.name in variants.of(self.place.checkout, commit)

    @property
    def _measured(self) -> list[tuple[Lane, Bench]]:
        """The variants that have cases."""
        return [(each, each.bench) for each in self.lanes if each.bench and each.cases]

    def _run_processes(self) -> None:
        """Measure imports and whole commands, with nothing beside them."""
        number = sum(len(each.cases) for each, _ in self._measured)
        for each, bench in self._measured:
            try:
                imports.measure(bench, each.cases, self.request.tasks)
                programs.measure(bench, each.cases, self.request.tasks, self.budget / number)
            except _TROUBLES as error:
                self._fail(each, error)

    def _list_base(self) -> None:
        """Name the benchmarks that only the base has."""
        folder = self.crew.scratch / "base"
        old = definitions.of(self.left, self.place.checkout, self.place.suites, folder)
        if old in {None, self.rules.suites} or self.request.todays or self.catalogue.named:
            return
        self.tell.stage("listing the base's benchmarks")
        try:
            rows = listing.early(old, self.place.checkout)
            if rows is None and self._measured:
                rows = listing.of_base(self._measured[0][1], old, folder, self.place)
        except (BuildError, WorkerError) as error:
            self._fail(None, f"the base's benchmarks cannot be listed: {error}")
            return
        found = [case.name for case in suite.from_rows(rows or (), self.request.meters)]
        chosen = [name for name in found if self.catalogue.pattern.search(name)]
        known = [case.name for case in self.catalogue.known]
        self.excluded += definitions.gone(chosen, known)

    def _time(self) -> None:
        """Time all variants in the same minutes, until the budget ends."""
        if not {"wall", "tail"} & self.request.tasks:
            return
        # Where nothing is counted, clocks have the whole of the error budget.
        spent_by_clocks = 1 - noise.COUNTED if "instructions" in self.request.tasks else 1.0
        timed = []
        for each, bench in self._measured:
            found = counting.measurable(bench, each.cases, "wall")
            each.got.untimed |= self._decided(bench, found)
            ready = [case for case in found if case.name not in each.got.untimed]
            same = sum(why == SAME_CODE for why in each.got.untimed.values())
            if same:
                bench.tell.line(
                    f"timing {len(ready)} of {len(found)} benchmarks: "
                    f"{same} run the same code on both sides"
                )
            each.looks = verdict.Looks(self.settings.alpha * spent_by_clocks)
            timed.append(timing.Timed(bench, ready, each.looks))
        others = sum(len(each.cases) - len(imports.functions(each.cases)) for each in self.lanes)
        family = sum(1 + case.tail for each in timed for case in each.running) + others
        for one in timed:
            one.looks.family = family
        if not any(each.running for each in timed):
            return
        self.tell.expect(self.budget)
        deadline = time.monotonic() + self.budget
        try:
            timing.run(timed, self.request.seed, deadline, self.tell, quick=self.request.quick)
            self._time_elsewhere()
        except _TROUBLES as error:
            self._fail(None, error)

    def _decided(self, bench: Bench, cases: Sequence[Case]) -> dict[str, str]:
        """Those of some cases in which no clock has anything to decide, with the reason.

        What is left shares the budget, in time and in errors. A/A runs time everything: they ask
        how often the clock is wrong where nothing changed.
        """
        equal = [case for case in cases if counting.is_equivalent(bench, case)]
        found = {}
        if self.request.only_changes:
            found = {case.name: NOTHING_TO_DECIDE for case in equal if not case.tail}
        if not self.request.force and bench.alike_around:
            found |= {case.name: SAME_CODE for case in equal if bench.got.same_code(case.name)}
        return found

    def _time_elsewhere(self) -> None:
        """Time in other builds what the clock alone calls slower: chance may have placed its code.

        Raises:
            BenchproofError: it cannot be built or timed.
        """
        samples, again = self.samples(), []
        for each, bench in self._measured:
            if any(about["kind"] == "pure" for about in each.sides.values()):
                continue
            names = {row["name"] for row in judge.cases_of(samples, each)
                     if verdict.by_the_clock_alone(row["meters"])}  # fmt: skip
            ready = counting.measurable(bench, each.cases, "wall")
            cases = [case for case in ready if case.name in names]
            if cases:
                other = each.elsewhere(bench, cases, self.place)
                one = timing.Timed(other, cases)
                again.append(one)
                each.controls.append(
                    Sampled(name=each.name, cases=cases, got=other.got, looks=one.looks,
                            control=controls.ELSEWHERE)
                )  # fmt: skip
        if again:
            deadline = time.monotonic() + self.budget / 2
            timing.run(again, self.request.seed, deadline, self.tell, quick=self.request.quick)

    def _explain(self) -> None:
        """Say for each case that changed, or of a gate got worse, where its instructions went."""
        wanted = {"regressed", "trade-off"} if self.request.gate else {*verdict.MOVED}
        samples = self.samples()
        for each, bench in self._measured:
            names = {row["name"] for row in judge.cases_of(samples, each)
                     if row["verdict"] in wanted}  # fmt: skip
            if names:
                named = f"{each.name}: " * (len(self.lanes) > 1)
                self.tell.stage(f"{named}looking where {len(names)} changes went")
                chosen = [case for case in each.cases if case.name in names]
                each.profiles = explain(bench, chosen)
