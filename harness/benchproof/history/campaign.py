"""`benchproof history`: measure many commits, and keep each as soon as it is measured.

Every value that is written is known from then on, so a run that was stopped goes on where it was
when the same command is given again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from benchproof import listing, meters, provenance, suite
from benchproof.errors import HistoryError
from benchproof.processes import Crew
from benchproof.targets import IMPLEMENTATIONS

from . import choice, discovery, exact, machine, names, wall, writing
from .keeper import Keeper
from .loops import Loops
from .measure import PROOF, Measurer
from .model import CANARY
from .progress import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from benchproof.compare import Place
    from benchproof.progress import Teller
    from benchproof.targets import Implementation

    from .measure import Key


@dataclass(frozen=True)
class Asked:
    """What a person asked for.

    Attributes:
        range: of commits, as git writes it; "" for the whole first-parent line.
        claims: only commits with a claim, and their parents.
        every: each n-th commit of the range.
        meters: of the exact ones.
        impls: implementations.
        bench: expression that chooses benchmarks.
        machine: the name in asv's files; "" to find it.
        again: measure again what failed.
        jobs: how many builds are counted side by side; 0: one a core.
        processes: of wall time, for each build; 0: no wall time.
        quick: only prove that the benchmarks run, and keep nothing.
    """

    range: str = ""
    claims: bool = False
    every: int = 1
    meters: tuple[str, ...] = names.EXACT
    impls: tuple[Implementation, ...] = IMPLEMENTATIONS
    bench: str = ""
    machine: str = ""
    again: bool = False
    jobs: int = 0
    processes: int = 0
    quick: bool = False


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
    pattern = suite.expression(asked.bench)
    wanted = choice.chosen(place.checkout, asked.range, with_claims=asked.claims, every=asked.every)
    usable = _usable(asked.meters, tell)
    if "cython" in asked.impls and not place.toolchain.compiles:
        raise HistoryError(
            f"no C compiler works here ({place.toolchain.why_not}): --impl python measures the rest"
        )
    with _alone(place.cache), Crew() as crew:
        listed = listing.early(place.suites, place.checkout)
        if listed is not None:
            suite.select(discovery.kept(listed)[0], pattern)
        suites = discovery.discover(place, crew, wanted, tell)
        chosen = [case.name for case in suite.select(suites.cases, pattern)]
        measurer = Measurer(place, suites.cases, Loops(folder), crew)
        if asked.quick:
            return _prove(asked, wanted, chosen, measurer, tell)
        about = machine.describe(folder, asked.machine)
        writing.describe_machine(folder, about)
        writing.describe(folder, [*suites.timed, names.canary_entry()])
        counted = _keys(chosen, usable)
        timed = _keys(chosen, ["wall"]) if asked.processes else frozenset()
        keeper = Keeper(place, folder, about, asked.impls,
                        discovery.versions(suites, counted | timed), measurer.loops)  # fmt: skip
        outcome = Outcome()
        for keys in filter(None, (counted, timed)):
            known = keeper.known(again=asked.again)
            todo = choice.plan(place.checkout, wanted, asked.impls, keys, known)
            outcome.known += todo.known
            outcome.numbers += todo.numbers
            outcome.shared += keeper.share(todo, known)
            if keys is counted:
                exact.run(todo, measurer, measurer.measure, keeper.keep, outcome, asked.jobs, tell)
            elif not outcome.left:
                wall.time_all(todo, measurer, asked.processes, provenance.pinned_core(),
                              keeper.keep, outcome, tell)  # fmt: skip
    return outcome


def _prove(
    asked: Asked, wanted: list[str], chosen: Iterable[str], measurer: Measurer, tell: Teller
) -> Outcome:
    """Only look whether the benchmarks run."""
    outcome = Outcome()
    keys = frozenset((name, PROOF) for name in chosen)
    todo = choice.plan(measurer.place.checkout, wanted, asked.impls, keys, None)
    exact.run(todo, measurer, measurer.prove, lambda *_: None, outcome, asked.jobs, tell)
    return outcome


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
    lock = FileLock(cache / "history.lock")
    try:
        taken: AbstractContextManager[object] = lock.acquire(blocking=False)
    except Timeout as error:
        raise HistoryError("another `benchproof history` measures in this checkout") from error
    return taken
