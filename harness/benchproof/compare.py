"""One comparison: resolve, build, prove, count, time, judge."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import (
    counting,
    families,
    imports,
    listing,
    meters,
    package,
    profile,
    programs,
    provenance,
    results,
    suite,
    targets,
    timing,
    unmeasured,
    verdict,
)
from .bench import Bench
from .errors import StoppedError
from .gate import builds, definitions
from .place import Place
from .plan import SIDES, SideName
from .processes import Crew
from .progress import Counter

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .build import Built
    from .progress import Teller
    from .settings import Settings
    from .suite import Case
    from .targets import Implementation, Target

__all__ = ["Outcome", "Place", "Request", "compare"]

#: Seconds of wall time unless a person says otherwise.
BUDGET, QUICK_BUDGET = 150.0, 40.0
#: Pairs of processes that count, where one side is pure Python and the other is not: the compiled
#: side waits for the other one, and a core with it.
LANES = 2
#: Why a case has no wall time though that was asked for.
NOTHING_TO_DECIDE = "not timed: both sides do the same work by every exact meter"


@dataclass(frozen=True)
class Request:
    """What a person asked for.

    Attributes:
        left: the base, as written.
        right: the candidate, as written.
        bench: expression that chooses benchmarks.
        meters: names of the meters to use.
        budget: seconds of wall time; exact meters always finish, and take what they take. (If wall
            time got what they leave, a suite of a hundred would have too few blocks to decide.)
        quick: stop wall time after a few blocks.
        seed: of the order of processes and cases.
        force: measure although both sides are the same build (an A/A run).
        committed: measure HEAD although the working tree differs from it.
        title: of the results.
        profile: say for each change of instructions where they went.
        only_changes: take wall time only of cases in which an exact meter is not equivalent.
        settings: limits and error budget of the project; the defaults without them.
        impls: of all comparisons that share the error budget with this one, its own included; none
            where it stands alone.
        commands: to measure instead of the project's benchmarks.
        imported: modules whose import is measured instead of them.
    """

    left: str
    right: str
    bench: str = ""
    meters: tuple[str, ...] = tuple(meters.METERS)
    budget: float = BUDGET
    quick: bool = False
    seed: int = 1
    force: bool = False
    committed: bool = False
    title: str = ""
    profile: bool = False
    only_changes: bool = False
    settings: Settings | None = None
    impls: tuple[Implementation, ...] = ()
    commands: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()

    @property
    def processes(self) -> list[Case]:
        """The commands and imports that a person named."""
        return [*map(programs.case, self.commands), *map(imports.case, self.imported)]


@dataclass(frozen=True)
class Outcome:
    """A judged comparison.

    Attributes:
        document: what the results file holds.
        bench: with the raw samples; None if nothing had to be measured.
    """

    document: dict[str, Any]
    bench: Bench | None

    def save(self, file: Path) -> list[Path]:
        """Write the results file and its raw wall samples; their paths.

        Raises:
            BenchproofError: they cannot be written.
        """
        results.write_json(self.document, file)
        raw = results.write_raw(self.bench, self.document, file) if self.bench else []
        return [file, *raw]


def compare(request: Request, place: Place, tell: Teller) -> Outcome:
    """Compare two sides.

    Ctrl-C once measuring has begun ends the workers and gives what was measured, marked partial.

    Raises:
        BenchproofError: something that a person can mend.
        StoppedError: Ctrl-C before anything was measured.
    """
    pattern = suite.expression(request.bench)
    sides: dict[SideName, Target] = {
        "left": targets.resolve(targets.parse(request.left), place.checkout),
        "right": targets.resolve(targets.parse(request.right), place.checkout),
    }
    if not request.committed:
        targets.refuse_dirty(tuple(sides.values()), place.checkout)
    with Crew() as crew:
        suites, named = place.suites, request.processes
        if not named:
            suites, whose = definitions.choose(
                (("the working tree", None), *((target.spec.text, target) for target in
                                               (sides["right"], sides["left"]))),
                place.checkout, place.suites, crew.scratch,
            )  # fmt: skip
            tell.line(whose)
        known = None if named else listing.early(suites, place.checkout)
        if known is not None:
            measured = package.name(place.checkout.package)
            chosen(suite.from_rows(known, request.meters), pattern, request, measured)
        if is_same(sides) and not request.force and (known is not None or not request.bench):
            return Outcome(skeleton(request, place, sides, {}) | same_build(), None)
        try:
            built = build_both(sides, place, crew, tell)
        except KeyboardInterrupt as stop:
            raise StoppedError("stopped before anything was measured") from stop
        document = skeleton(request, place, sides, built)
        core = provenance.pinned_core()
        bench = Bench(
            built, suites, crew, crew.scratch, core,
            lanes=LANES if built["left"].impl != built["right"].impl else 1,
        )  # fmt: skip
        cases: list[Case] = []
        looks = verdict.Looks(request.settings.alpha if request.settings else verdict.ALPHA)
        partial = False
        try:
            if named:
                cases += named
            else:
                tell.stage("finding the benchmarks")
                found = bench.discover()
                document["excluded"] = suite.left_out(found, pattern, request.meters)
                if document["excluded"]:
                    tell.line(suite.told(document["excluded"]))
                rows = suite.from_rows(found, request.meters)
                cases += chosen(rows, pattern, request, built["right"].package)
            if built["left"].same_as(built["right"]) and not request.force:
                return Outcome(document | same_build(), None)
            # Also of a look that shows fewer.
            looks.family = len(cases) * max(1, len(request.impls))
            measure(bench, cases, request, looks, tell)
        except KeyboardInterrupt:
            if not results.has_numbers(bench, cases):
                raise StoppedError("stopped before anything was measured") from None
            partial = True
            crew.stop()
        document = finish(document, bench, cases, looks, request.settings, partial=partial)
        missed = unmeasured.between(
            sides["left"], sides["right"], place.checkout,
            request.impls or {each.impl for each in built.values()},
        )  # fmt: skip
        document["verdict"] = missed.qualify(document["verdict"])
        document["unmeasured"] = missed.files
        if request.profile and not partial:
            explain(document, bench, cases, tell)
        return Outcome(document, bench)


def chosen(
    found: Sequence[Case], pattern: re.Pattern[str], request: Request, measured: str
) -> list[Case]:
    """The benchmarks that were asked for, the case of import time included.

    Raises:
        SelectionError: none matches.
        SettingsError: a limit is for one that does not exist.
    """
    known = list(found)
    if imports.asked(tasks_of(request)) and measured:
        known.append(imports.case(measured))
    if request.settings:
        request.settings.check([case.name for case in known])
    return suite.select(known, pattern)


def is_same(sides: Mapping[SideName, Target]) -> bool:
    """Whether both sides are the same build, as can be told before there is any."""
    left, right = sides["left"], sides["right"]
    return left.content == right.content and left.spec.impl == right.spec.impl


def explain(document: dict[str, Any], bench: Bench, cases: Sequence[Case], tell: Teller) -> None:
    """Give each case that changed the functions that did."""
    changed = {row["name"]: row for row in document["cases"] if row["verdict"] in verdict.MOVED}
    tell.stage(f"looking where {len(changed)} changes went")
    chosen = [case for case in cases if case.name in changed]
    for name, rows in profile.explain(bench, chosen).items():
        changed[name]["profile"] = rows


def build_both(
    sides: Mapping[SideName, Target], place: Place, crew: Crew, tell: Teller
) -> dict[SideName, Built]:
    """Build both sides before either runs, at the same time where they differ."""
    names = " and ".join(dict.fromkeys(target.spec.text for target in sides.values()))
    tell.stage(f"building {names}")
    found = builds.build(sides, place, crew, 1, tell)
    built: dict[SideName, Built] = {side: found[side][0] for side in SIDES}
    said = {f"{sides[n].spec.text} is measured in pure Python: {built[n].why_pure}": None
            for n in SIDES if built[n].why_pure}  # fmt: skip
    for words in said:
        tell.line(words)
    return built


def tasks_of(request: Request) -> set[str]:
    """The worker tasks of the meters that were asked for and that this machine has."""
    return {meters.METERS[name].task for name in request.meters if not meters.why_not(name)}


def measure(
    bench: Bench, cases: Sequence[Case], request: Request, looks: verdict.Looks, tell: Teller
) -> None:
    """Run every meter that was asked for and that this machine has."""
    wanted = tasks_of(request)
    functions = imports.functions(cases)
    wall = request.budget if "wall" in wanted else 0.0
    costs = dict.fromkeys((case.name for case in functions), counting.PROVING)
    bench.prove(functions, Counter("proving the path on both sides", costs, tell, wall).done)
    counting.exact(bench, functions, wanted, tell, request.settings, after=wall)
    imports.measure(bench, cases, wanted, tell, request.settings)
    programs.measure(bench, cases, wanted, tell, request.settings, wall / len(cases))
    ready = counting.measurable(bench, functions, "wall")
    if request.only_changes:
        same = [case for case in ready if counting.is_equivalent(bench, case, request.settings)]
        bench.got.untimed |= {case.name: NOTHING_TO_DECIDE for case in same}
        ready = [case for case in ready if case.name not in bench.got.untimed]
        looks.family = len(ready)
    if "wall" in wanted and ready:
        timed = timing.Timed(bench, ready, looks, request.settings)
        tell.expect(wall)
        timing.run([timed], request.seed, time.monotonic() + wall, tell, quick=request.quick)


def skeleton(
    request: Request,
    place: Place,
    sides: Mapping[SideName, Target],
    built: Mapping[SideName, Built],
) -> dict[str, Any]:
    """The results file's beginning."""
    return {
        "schema": results.SCHEMA,
        "kind": "comparison",
        "title": request.title or f"{request.left} against {request.right}",
        "created": results.now(),
        "partial": False,
        "seed": request.seed,
        "left": results.describe(sides["left"], built.get("left")),
        "right": results.describe(sides["right"], built.get("right")),
        "settings": request.settings.describe() if request.settings else None,
        "provenance": provenance.gather(place.toolchain),
        "meters": {
            name: {
                "measured": name in request.meters and not meters.why_not(name),
                "why": meters.why_not(name) or ("" if name in request.meters else "not asked for"),
                "unit": meter.unit,
                "processes": 1 if meter.exact else 0,
            }
            for name, meter in meters.METERS.items()
            if meter.task in meters.ALWAYS
        },
        "excluded": [],
    }


def same_build() -> dict[str, Any]:
    """The rest of it where both sides are the same build."""
    return {
        "cases": [],
        "suites": [],
        "verdict": {
            "status": "no regression",
            "exit": 0,
            "summary": "same build: equivalent by construction (--force measures it anyway)",
        },
    }


def finish(
    document: dict[str, Any],
    bench: Bench,
    cases: Sequence[Case],
    looks: verdict.Looks,
    settings: Settings | None = None,
    *,
    partial: bool,
) -> dict[str, Any]:
    """The rest of it where something was measured."""
    wanted = [name for name, about in document["meters"].items() if about["measured"]]
    wanted += [name for name, meter in meters.METERS.items() if meter.task not in meters.ALWAYS]
    rows = results.judge(bench, cases, wanted, settings, looks)
    if partial:
        rows = results.reached(rows)
    whole = families.judge(rows, settings)
    counted = {name: dict(about) for name, about in document["meters"].items()}
    counted["wall"]["processes"] = bench.got.blocks
    for name, about in counted.items():
        shown = name if meters.METERS[name].told_at_zero else "bytes"
        if about["measured"] and not any({name, shown} & row["meters"].keys() for row in rows):
            why = "stopped before it" if partial else "no case ran"
            if name == "wall" and bench.got.untimed and not partial:
                why = "nothing to decide: both sides do the same work by every exact meter"
            about |= {"measured": False, "why": why}
    return document | {
        "partial": partial,
        "meters": counted | meters.gave_values(rows),
        "cases": rows,
        "suites": whole,
        "verdict": verdict.judge_gate(
            rows,
            suites=whole,
            partial=partial,
            trade_off=settings.trade_off if settings else "pass",
            decide=settings.decide if settings else "",
        ),
    }
