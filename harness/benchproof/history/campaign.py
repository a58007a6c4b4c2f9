"""`benchproof history`: measure many commits, and keep each as soon as it is measured.

Every value that is written is known from then on, so a run that was stopped goes on where it was
when the same command is given again.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from benchproof import listing, meters, provenance, pytest_files, results, suite
from benchproof.checkout import Place
from benchproof.errors import BenchproofError, HistoryError, few
from benchproof.processes import Crew
from benchproof.progress import Teller
from benchproof.suite import Case

from . import choice, writing
from .choice import Job, Known, Plan
from .loops import Loops
from .measure import PROOF, Key, Measured, Measurer
from .model import CANARY
from .running import Outcome, Runner


def discover(
    place: Place, wanted: Sequence[str], tell: Teller
) -> tuple[list[Case], list[dict[str, Any]]]:
    """The benchmarks that a history can be of, and the same as asv describes them.

    Where they can only be listed beside a driver, that is the first that builds.

    Raises:
        BenchproofError: none of them builds, or the suites cannot be imported.
    """
    if pytest_files.benchmarks(place.suites):
        raise HistoryError(
            f"a history is of asv's benchmarks, and those in {place.suites.name} are pytest's: "
            "compare and gate measure them"
        )
    variant = place.checkout.variants[-1].name
    first: BenchproofError | None = None
    for commit in dict.fromkeys(("HEAD", *wanted)):
        try:
            rows = listing.found(place, commit + f"@impl:{variant}" * bool(variant), tell)
        except BenchproofError as error:
            first = first or error
            continue
        broken = [row["why"] for row in rows if row.get("broken")]
        if broken:
            first = first or HistoryError(few(broken))
            continue
        found, left_out = kept(rows)
        if left_out:
            tell.line(suite.told(left_out))
        named = {case.name for case in found}
        return found, [row["asv"] for row in rows if row.get("name") in named]
    raise first or HistoryError(f"the benchmarks in {place.suites} cannot be found")


def kept(rows: Sequence[dict[str, Any]]) -> tuple[list[Case], list[dict[str, str | None]]]:
    """The benchmarks that a history can be of, and the others: asv's files are written for those.

    Args:
        rows: as a worker describes what it found.
    """
    why = "a history is of benchmarks without parameters"
    told = [
        row if row.get("index") is None else {"excluded": row["name"], "why": why} for row in rows
    ]
    return suite.from_rows(told), suite.left_out(told, suite.expression(""))


#: What of the provenance can move a number, and is kept for each measurement.
PLATFORM = ("python", "compiler", "cpu", "kernel", "valgrind")


class Keeper:
    """Writes what was measured into asv's files."""

    def __init__(self, place: Place, known: Known, about: Mapping[str, str], loops: Loops) -> None:
        """Where, beside what is known, on which machine, by which plan."""
        self._place, self._known, self._about, self._loops = place, known, about, loops
        facts = provenance.gather(place.toolchain)
        packages = facts.pop("packages")
        tools = {name: packages[name] for name in ("cython", "memray") if name in packages}
        self._platform = {name: str(facts[name]) for name in PLATFORM} | tools

    def share(self, todo: Plan) -> int:
        """Write numbers that another commit with the same driver has; for how many commits."""
        for (commit, impl), (donor, keys) in todo.shared.items():
            self._write(commit, impl, self._known.values(donor, impl, keys))
            self._note(commit, impl, {"from": donor})
        return len(todo.shared)

    def keep(self, job: Job, found: Measured) -> None:
        """Write what a measurement has found for all commits that it is of."""
        asked = job.asked
        reasons: dict[str, list[str]] = {}
        for name, why in found.why.items():
            reasons.setdefault(why, []).append(name)
        for commit, keys in job.commits.items():
            self._write(commit, asked.impl, {key: found.values[key] for key in keys})
            more: dict[str, Any] = {"why": reasons} if reasons else {}
            more |= {"host": found.host} if found.host else {}
            origin = {"from": asked.commit} if commit != asked.commit else {}
            about = {"content": job.content[:16], **origin, "platform": self._platform, **more}
            self._note(commit, asked.impl, about)
        self._loops.keep()

    def _write(self, commit: str, impl: str, values: Mapping[Key, writing.Value]) -> None:
        known = self._known
        named = {writing.stored(*key): value for key, value in values.items()}
        writing.write(
            known.results, self._about, (commit, self._place.checkout.date(commit)),
            known.environments[impl],
            {name: (known.versions[name], value) for name, value in named.items()},
        )  # fmt: skip

    def _note(self, commit: str, impl: str, more: Mapping[str, Any]) -> None:
        record = {"commit": commit, "impl": impl, "created": results.now(), **more}
        writing.note(self._known.results, self._known.machine, record)


@dataclass(frozen=True)
class Asked:
    """What a person asked for.

    Attributes:
        ranges: of commits, as git writes them; none for the whole first-parent line.
        every: each n-th commit of the range.
        meters: of the exact ones.
        impls: variants; ("",) of a project that names none.
        bench: expression that chooses benchmarks.
        machine: the name in asv's files; "" to find it.
        again: measure again what failed.
        jobs: how many builds are counted side by side; 0: one a core.
        processes: of wall time, for each build; 0: no wall time.
        quick: only prove that the benchmarks run, and keep nothing.
        scheduler: address of dask's, whose workers measure; "": this machine does.
    """

    ranges: tuple[str, ...] = ()
    every: int = 1
    meters: tuple[str, ...] = writing.EXACT
    impls: tuple[str, ...] = ("",)
    bench: str = ""
    machine: str = ""
    again: bool = False
    jobs: int = 0
    processes: int = 0
    quick: bool = False
    scheduler: str = ""


def run(asked: Asked, place: Place, folder: Path, tell: Teller) -> Outcome:
    """Measure what is not known yet.

    Args:
        asked: for what.
        place: the checkout, its suites and its builds.
        folder: asv's folder of results.
        tell: hears of it.

    Raises:
        BenchproofError: something that a person can mend.
        StoppedError: Ctrl-C before anything was measured.
    """
    if asked.scheduler:
        from benchproof import fleet  # noqa: F401, PLC0415  (an extra: before anything is built)

        if asked.processes or asked.quick:
            raise HistoryError(
                "--scheduler is for exact meters: --wall and --quick measure on this machine"
            )
    pattern = suite.expression(asked.bench)
    wanted = choice.chosen(place.checkout, asked.ranges, asked.every)
    usable = _usable(asked.meters, tell)
    variants = place.checkout.variants
    compiled = {each.name for each in variants if each.kind == "compiled"} & set(asked.impls)
    if compiled and not place.toolchain.compiles:
        rest = " or ".join(f"--impl {each.name}" for each in variants if each.name not in compiled)
        raise HistoryError(
            f"no C compiler works here ({place.toolchain.why_not})"
            + f": {rest} measures the rest" * bool(rest)
        )
    outcome = Outcome()
    with _alone(place.cache), Crew() as crew:
        cases, described = discover(place, wanted, tell)
        chosen = [case.name for case in suite.select(cases, pattern)]
        measurer = Measurer(place, cases, Loops(folder), crew)
        if asked.quick:
            keys = frozenset((name, PROOF) for name in chosen)
            todo = choice.plan(place.checkout, wanted, asked.impls, keys, None)
            Runner(todo, measurer, lambda *_: None, outcome, tell).count(measurer.prove, asked.jobs)
            return outcome
        about = writing.machine(folder, asked.machine)
        writing.describe(folder, [*described, writing.canary_entry()])
        # Also where everything is known: by this file a machine is known again.
        writing.describe_machine(folder, about)
        of_case = {case.name: case.version for case in cases} | {CANARY: writing.CANARY_VERSION}
        counted, timed = _keys(chosen, usable), _keys(chosen, ["wall"] if asked.processes else [])
        versions = {writing.stored(*key): writing.version(of_case[key[0]], key[1])
                    for key in counted | timed}  # fmt: skip
        environments = {
            impl: writing.environment(place.checkout.root, variants, impl) for impl in asked.impls
        }
        known = choice.Known(folder, about["machine"], environments, versions, asked.again)
        keeper = Keeper(place, known, about, measurer.loops)
        for keys in filter(None, (counted, timed)):
            todo = choice.plan(place.checkout, wanted, asked.impls, keys, known)
            outcome.known += todo.known
            outcome.numbers += todo.numbers
            outcome.shared += keeper.share(todo)
            runner = Runner(todo, measurer, keeper.keep, outcome, tell)
            if keys is counted:
                _count(runner, asked, todo)
            elif not outcome.left:
                runner.time(asked.processes)
    return outcome


def _count(runner: Runner, asked: Asked, todo: Plan) -> None:
    """Count what there is to do: here, or on the workers of a scheduler.

    Raises:
        BenchproofError: no more can be measured.
        StoppedError: Ctrl-C before anything was measured.
    """
    measurer = runner.measurer
    if not asked.scheduler or not todo.jobs:
        runner.count(measurer.measure, asked.jobs)
        return
    from benchproof import fleet  # noqa: PLC0415  (dask is an extra)

    parcel = fleet.Parcel.of(measurer.place, (job.asked.commit for job in todo.jobs))
    with fleet.Fleet(asked.scheduler, parcel, measurer.crew, runner.tell) as workers:
        runner.count(fleet.Counts(workers, measurer, todo).measure, workers.size)


def _keys(chosen: Iterable[str], wanted: Iterable[str]) -> frozenset[Key]:
    """Benchmarks, with the canary, in some meters."""
    found = (*chosen, CANARY)
    return frozenset((name, meter) for name in found for meter in wanted)


def _usable(wanted: Iterable[str], tell: Teller) -> tuple[str, ...]:
    """The meters that this machine has.

    Raises:
        HistoryError: it has none of them.
    """
    missing = {name: why for name in wanted if (why := meters.why_not(name))}
    for name, why in missing.items():
        tell.line(f"{name} cannot be counted: {why}")
    found = tuple(name for name in wanted if name not in missing)
    if not found:
        raise HistoryError("none of the meters that were asked for work on this machine")
    return found


def _alone(cache: Path) -> AbstractContextManager[object]:
    """A lock that two runs in one checkout cannot hold.

    Raises:
        HistoryError: another run holds it.
    """
    cache.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(cache / "history.lock").acquire(blocking=False)
    except Timeout as error:
        raise HistoryError("another `benchproof history` measures in this checkout") from error
