"""One gate: both implementations of base and head, built, proven, counted, timed, judged."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchproof import (
    accepted,
    counting,
    error_rates,
    families,
    imports,
    listing,
    meters,
    package,
    provenance,
    results,
    suite,
    targets,
    timing,
    unmeasured,
    verdict,
)
from benchproof.compare import QUICK_BUDGET
from benchproof.errors import (
    BuildError,
    ClockError,
    NoSpaceError,
    StoppedError,
    TargetError,
    WorkerError,
    told,
)
from benchproof.plan import SIDES
from benchproof.processes import Crew
from benchproof.profile import explain

from . import builds, definitions, document
from .asked import Asked
from .side_by_side import Catalogue, Named, SideBySide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchproof.bench import Bench
    from benchproof.compare import Place
    from benchproof.plan import SideName
    from benchproof.progress import Teller
    from benchproof.suite import Case
    from benchproof.targets import Implementation, Target

__all__ = ["Asked", "GateOutcome", "run"]

#: What does not end a gate with a traceback or a bare line, but with a document that says so.
_TROUBLES = (BuildError, WorkerError, NoSpaceError, ClockError, OSError)


@dataclass(frozen=True)
class GateOutcome:
    """A judged gate.

    Attributes:
        document: as docs/gate.md describes it.
        benches: by implementation, with the raw samples.
    """

    document: dict[str, Any]
    benches: Mapping[Implementation, Bench]


def run(asked: Asked, place: Place, tell: Teller) -> GateOutcome:
    """Run a gate.

    A side that does not build or run, a full disk and a clock that jumps give a document whose
    verdict is "could not measure", with what was measured. Ctrl-C once measuring has begun gives
    one that is marked partial.

    Raises:
        BenchproofError: the gate cannot begin: a side names nothing, a setting is wrong.
        StoppedError: Ctrl-C before anything was measured.
    """
    with Crew() as crew:
        gate = _Gate(asked, place, tell, crew.scratch, crew)
        gate.measure()
        return gate.outcome()


class _Gate:
    """A gate while it runs."""

    def __init__(self, asked: Asked, place: Place, tell: Teller, scratch: Path, crew: Crew) -> None:
        """Resolve the sides, and read what the head's commit says about gates.

        Raises:
            BenchproofError: a side names nothing, or a setting is wrong.
        """
        self.asked, self.place, self.tell = asked, place, tell
        self.scratch, self.crew = scratch, crew
        pattern = suite.expression(asked.bench)
        specs = {"left": asked.base, "right": asked.head}
        self.impls = [
            SideBySide(
                impl,
                {side: targets.resolve(builds.spec(specs[side], impl), place.checkout)
                 for side in SIDES},
                scratch / impl,
            )
            for impl in asked.impls
        ]  # fmt: skip
        if not self.impls:
            raise TargetError("a gate needs an implementation to measure")
        self.sides: dict[SideName, Target] = self.impls[0].targets
        if not asked.committed:
            targets.refuse_dirty(tuple(self.sides.values()), place.checkout)
        self.head = definitions.read(
            self.sides["right"], self.sides["left"], place, scratch / "head"
        )
        tell.line(self.head.whose)
        self.settings = self.head.settings
        others = (
            [imports.case(package.name(place.checkout.package))]
            if imports.asked(self.wanted)
            else []
        )
        self.catalogue = Catalogue(pattern, self.settings, others, asked.meters)
        self.document = document.begin(asked, self.sides, self.settings, place.toolchain)
        self.looks: dict[str, verdict.Looks] = {}
        self.rows: list[dict[str, Any]] = []
        self.partial = False

    @property
    def wanted(self) -> set[str]:
        """The worker tasks of the meters that were asked for and that this machine has."""
        return {
            meters.METERS[name].task for name in self.asked.meters if not meters.why_not(name)
        }  # fmt: skip

    def measure(self) -> None:
        """Measure what can be, and note what cannot.

        Raises:
            BenchproofError: no benchmark was chosen, or a limit matches none.
            StoppedError: Ctrl-C before anything was measured.
        """
        for name in self.asked.meters:
            if meters.why_not(name):
                self.trouble(None, f"{name} cannot be measured here: {meters.why_not(name)}")
        self.catalogue.take(listing.early(self.head.suites, self.place.checkout))
        try:
            self.count_all()
            self.list_base()
            self.time_all()
            self.judge()
            if self.asked.profile:
                self.explain()
        except KeyboardInterrupt:
            if not any(
                each.bench and results.has_numbers(each.bench, each.cases) for each in self.impls
            ):
                raise StoppedError("stopped before anything was measured") from None
            self.partial = True
            self.crew.stop()

    def count_all(self) -> None:
        """Build, prove and count, both implementations side by side."""
        with ThreadPoolExecutor(max_workers=len(self.impls)) as pool:
            pending = [(each, pool.submit(self.count, each)) for each in self.impls]
            try:
                for each, future in pending:
                    try:
                        future.result()
                    except _TROUBLES as error:
                        self.trouble(each.impl, _words(error))
            except BaseException:
                # The threads wait for children, which end now.
                self.crew.stop()
                raise

    def count(self, each: SideBySide) -> None:
        """Build, prove and count one implementation."""
        if self.catalogue.known and each.same_sources and not self.asked.force:
            each.same = True
            return
        tell = Named(self.tell, each.impl)
        core = provenance.pinned_core()
        number = self.asked.builds or self.settings.builds
        bench = each.build(self.place, self.head.suites, self.crew, core, number, tell)
        chosen = self.catalogue.cases(bench, tell)
        if each.same and not self.asked.force:
            return
        each.cases = chosen
        each.count(bench, self.wanted, number, self.settings, tell, self.budget)

    @property
    def budget(self) -> float:
        """Seconds for wall time."""
        if "wall" not in self.wanted:
            return 0.0
        default = QUICK_BUDGET if self.asked.quick else self.settings.budget
        return self.asked.budget or default

    def list_base(self) -> None:
        """Name the benchmarks that only the base has."""
        bench = next((each.bench for each in self.impls if each.bench), None)
        place, folder = self.place, self.scratch / "base"
        old = definitions.of(self.sides["left"], place.checkout, place.suites, folder)
        if old is None or old == self.head.suites:
            return
        self.tell.stage("listing the base's benchmarks")
        try:
            rows = listing.early(old, place.checkout)
            if rows is None and bench is not None:
                rows = replace(bench, suites=old).discover("left")
            found = [case.name for case in suite.from_rows(rows or (), self.asked.meters)]
        except WorkerError as error:
            self.trouble(None, f"the base's benchmarks cannot be listed: {error}")
            return
        pattern = suite.expression(self.asked.bench)
        chosen = [name for name in found if pattern.search(name)]
        known = [case.name for case in self.catalogue.known]
        self.document["excluded"] += definitions.gone(chosen, known)

    def time_all(self) -> None:
        """Time both implementations in the same minutes, until the budget ends."""
        ready = {
            each.impl: (each.bench, counting.measurable(each.bench, each.cases, "wall"))
            for each in self.impls
            if each.bench and each.cases
        }
        family = sum(len(cases) for _, cases in ready.values())
        if "wall" not in self.wanted or not family:
            return
        self.looks = {impl: verdict.Looks(self.settings.alpha, family) for impl in ready}
        timed = [
            timing.Timed(bench, list(cases), self.looks[impl], self.settings)
            for impl, (bench, cases) in ready.items()
        ]
        self.tell.expect(self.budget)
        deadline = time.monotonic() + self.budget
        try:
            timing.run(timed, self.asked.seed, deadline, self.tell, quick=self.asked.quick)
        except _TROUBLES as error:
            self.trouble(None, _words(error))

    def judge(self) -> None:
        """Judge every case of every implementation."""
        self.rows = []
        for each in self.impls:
            if each.bench is not None and each.cases:
                looks = self.looks.get(each.impl)
                judged = results.judge(
                    each.bench, each.cases, self.asked.meters, self.settings, looks
                )
                if self.partial:
                    judged = results.reached(judged)
                more = {"impl": each.impl, "accepted": None, "profile": None}
                self.rows += [row | more for row in judged]

    def explain(self) -> None:
        """Say for each regression where its instructions went."""
        for each in self.impls:
            lost = {
                row["name"]: row
                for row in self.rows
                if row["impl"] == each.impl and row["verdict"] in {"regressed", "trade-off"}
            }
            if each.bench is None or not lost:
                continue
            self.tell.stage(f"{each.impl}: looking where {len(lost)} regressions went")
            cases = [case for case in each.cases if case.name in lost]
            for name, changes in explain(each.bench, cases).items():
                lost[name]["profile"] = changes

    def trouble(self, impl: str | None, why: str) -> None:
        """Note what kept the gate from measuring something."""
        self.document["trouble"].append(document.trouble(impl, why))
        self.tell.line(f"{impl}: {why}" if impl else why)

    def outcome(self) -> GateOutcome:
        """Judge what was measured."""
        benches = {each.impl: each.bench for each in self.impls if each.bench}
        if self.partial and not self.rows:
            self.judge()
        rows, today = self.rows, dt.datetime.now(dt.UTC).date()
        known = _names(self.catalogue.known)
        # What somebody accepted of a case is no part of its suite.
        accepted.apply(self.head.entries, rows, today, known)
        whole = families.judge(rows, self.settings)
        blocks = max((bench.got.blocks for bench in benches.values()), default=0)
        found = self.document
        found |= {
            "partial": self.partial,
            "sides": {each.impl: each.describe() for each in self.impls if each.built},
            "cases": rows,
            "suites": whole,
            "error_rates": error_rates.load(self.place.checkout.root / "reports"),
            "accepted": accepted.apply(
                self.head.entries, [*rows, *whole], today, known
            ),
        }  # fmt: skip
        found["excluded"] += self.catalogue.excluded + document.thrown(benches)
        document.tell_meters(found, blocks)
        found["verdict"] = document.conclude(
            rows, found["accepted"], found["trouble"], found["excluded"], whole,
            partial=self.partial, same=all(each.same for each in self.impls),
            trade_off=self.settings.trade_off, decide=self.settings.decide,
        )  # fmt: skip
        missed = unmeasured.between(
            self.sides["left"], self.sides["right"], self.place.checkout, self.asked.impls
        )
        found["verdict"] = missed.qualify(found["verdict"])
        return GateOutcome(found, benches)


def _names(known: Sequence[Case]) -> set[str]:
    """What an entry of accepted.toml may name: benchmarks, and suites judged as a whole."""
    suites = Counter(case.suite for case in known)
    whole = {name for name, number in suites.items() if number >= families.FEWEST}
    return {case.name for case in known} | whole


def _words(error: Exception) -> str:
    """What to say about a trouble."""
    return str(told(error) if isinstance(error, OSError) else error)
