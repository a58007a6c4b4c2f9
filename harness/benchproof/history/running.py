"""Measure builds: counts a few side by side, times those of a batch in turn; and what was done.

A count does not feel what else the machine does; time does. A machine of this kind drifts by ten
percent between runs of the same code. So builds are timed in batches: each round has one process of
every build of the batch, in random order, and the rounds differ in hash seed, order of cases and
size of the environment. A build's number is the median over its processes, its interval that of the
median without any assumption on how they are distributed, from the order of the numbers. It holds
for those minutes; the canary, timed in the same processes, shows what another day did.
"""

import contextlib
import itertools
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from benchproof import files, plan, provenance
from benchproof.bench import Bench
from benchproof.errors import COULD_NOT_MEASURE, NO_REGRESSION, StoppedError, WorkerError
from benchproof.grids import tell_line
from benchproof.meters import wall
from benchproof.progress import Teller
from benchproof.suite import Case

from . import measure
from .choice import Job, Plan
from .measure import Asked, Measured, Measurer, clean
from .writing import FAILED, Value

#: Reasons that are listed; the rest is counted.
_MOST = 12
#: Seconds that counting a build takes, before one has shown it.
GUESS = 75.0
#: Builds of a batch that is timed; seconds that a process of one takes, before one has shown it.
BATCH, GUESS_OF_A_PROCESS = 6, 4.0
#: Of the interval.
CONFIDENCE = 0.99


@dataclass
class Outcome:
    """What a run has done; a *build* is a commit in a variant.

    Attributes:
        measured: builds that were measured.
        shared: builds that got the numbers of another commit with the same package.
        known: builds that lacked nothing.
        left: measurements that were not made, because the run was stopped.
        failed: by commit and implementation, why nothing of it has a number.
        reasons: how often a case had no number, by reason.
        numbers: of benchmarks, how many are known or were measured.
    """

    measured: int = 0
    shared: int = 0
    known: int = 0
    left: int = 0
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    numbers: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing that was asked for has a number, now or from before."""
        return not self.numbers and not self.left

    @property
    def status(self) -> int:
        """The exit status."""
        return COULD_NOT_MEASURE if self.left or self.is_empty else NO_REGRESSION

    def count(self, job: Job, found: Measured) -> None:
        """A build was measured."""
        self.measured += 1
        self.numbers += measure.count_numbers(found.values)
        self.shared += len(job.commits) - 1
        for name, why in found.why.items():
            if name:
                self.reasons[why] = self.reasons.get(why, 0) + 1
            else:
                self.failed[job.asked.commit, job.asked.impl] = why

    def document(self) -> dict[str, Any]:
        """It as data: what was measured, and what has no number and why."""
        return {
            "schema": 1, "kind": "history", "measured": self.measured, "shared": self.shared,
            "known": self.known, "left": self.left, "reasons": self.reasons,
            "failed": [{"commit": commit, "impl": impl, "why": why}
                       for (commit, impl), why in self.failed.items()],
        }  # fmt: skip

    def show(self, out: Console) -> None:
        """Print what was done and what has no number."""
        left = f", {self.left} left" if self.left else ""
        tell_line(out, f"builds: {self.measured} measured, {self.shared} "
                  "shared with a commit that has the same package, "
                  f"{self.known} known before{left}")  # fmt: skip
        for (commit, impl), why in self.failed.items():
            tell_line(out, f"  {_named(commit, impl)}: {why}")
        reasons = sorted(self.reasons.items(), key=lambda item: -item[1])
        for why, count in reasons[:_MOST]:
            tell_line(out, f"  {count} without a number: {why}")
        if rest := reasons[_MOST:]:
            count = sum(count for _, count in rest)
            tell_line(out, f"  {count} more, for {len(rest)} other reasons")
        if self.is_empty:
            tell_line(out, "could not measure: no benchmark of any of these commits gave a number")


@dataclass
class _Timed:
    """A build that is being timed.

    Attributes:
        bench: runs its workers.
        cases: those that proved their paths, and the canary.
        found: what there is to keep of it.
    """

    bench: Bench
    cases: list[Case]
    found: Measured

    def take(self, block: plan.Block) -> None:
        """One process. What it cannot say, others will; so with a clock that jumped.

        Raises:
            NoSpaceError: the disk is full.
        """
        try:
            self.bench.time_block(block, self.cases)
        except WorkerError as error:
            self.found.why.setdefault("", clean(str(error)))

    def keep(self) -> None:
        """Have what all processes gave among what is to be kept."""
        for case in self.cases:
            taken = self.bench.got.taken("wall", "right", case.name)
            numbers = [wall.number(values) for values in taken.values()]
            enough = len(numbers) > 2
            self.found.values[case.name, "wall"] = summary(numbers) if enough else FAILED
            if not enough:
                self.found.why[case.name] = "too few of its processes gave a number"


@dataclass
class Runner:
    """Measures the builds of a plan, and says how far it is.

    Attributes:
        todo: the builds.
        measurer: with the crew that is stopped when this is.
        keep: writes what was found.
        outcome: is told.
        tell: hears of it.
    """

    todo: Plan
    measurer: Measurer
    keep: Callable[[Job, Measured], None]
    outcome: Outcome
    tell: Teller
    _done: int = 0
    _spent: float = 0.0
    _workers: int = 1

    def count(self, look: Callable[[Asked], Measured], side_by_side: int) -> None:
        """Count what there is to do.

        Args:
            look: finds out about a build; the measurer's `measure`, or its `prove`.
            side_by_side: how many at a time; 0: one a core.

        Raises:
            BenchproofError: no more can be measured (the disk is full).
            StoppedError: Ctrl-C before anything was measured.
        """

        def timed(job: Job) -> tuple[Job, Measured, float]:
            start = time.monotonic()
            return job, look(job.asked), time.monotonic() - start

        workers = side_by_side or max(1, len(provenance.usable_cores()))
        self._begin(workers, GUESS)
        pool = ThreadPoolExecutor(max_workers=workers)
        with self._stoppable():
            try:
                for future in as_completed([pool.submit(timed, job) for job in self.todo.jobs]):
                    self._ended(*future.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.measurer.crew.stop()
                raise
            finally:
                pool.shutdown()

    def time(self, processes: int) -> None:
        """Time what there is to do, batch by batch; Ctrl-C loses the batch that is running.

        Raises:
            BenchproofError: no more can be measured.
            StoppedError: Ctrl-C before anything was measured.
        """
        self._begin(1, GUESS_OF_A_PROCESS * processes)
        for number in range(0, len(self.todo.jobs), BATCH):
            batch = self.todo.jobs[number : number + BATCH]
            start = time.monotonic()
            with self._stoppable() as stopped:
                done = self._batch(batch, processes, number)
            if stopped:
                return
            each = (time.monotonic() - start) / len(batch)
            for job, found in done:
                self._ended(job, found, each)

    @contextlib.contextmanager
    def _stoppable(self) -> Iterator[list[str]]:
        """What Ctrl-C ends, with what was measured kept; what is given holds a word then.

        Raises:
            StoppedError: before anything was measured.
        """
        stopped: list[str] = []
        try:
            yield stopped
        except KeyboardInterrupt:
            self.measurer.crew.stop()
            self.outcome.left += len(self.todo.jobs) - self._done
            if not self.outcome.measured:
                raise StoppedError("stopped before a commit was measured") from None
            stopped.append("stopped")
            self.tell.line("stopped: what was measured is kept; the same command goes on from here")

    def _begin(self, workers: int, guess: float) -> None:
        """Say what is to be done, and how long it may take."""
        self._workers, jobs = workers, len(self.todo.jobs)
        if jobs:
            self.tell.stage(f"measuring {jobs} builds")
            self.tell.expect(jobs * guess / min(workers, jobs))

    def _ended(self, job: Job, found: Measured, seconds: float) -> None:
        """A build was measured, in so many seconds: keep that, and say how long the rest takes."""
        self.keep(job, found)
        self.outcome.count(job, found)
        self._done, self._spent = self._done + 1, self._spent + seconds
        jobs = len(self.todo.jobs)
        left = jobs - self._done
        words = found.why.get("") or f"{measure.count_numbers(found.values)} numbers"
        build = _named(job.asked.commit, job.asked.impl)
        self.tell.line(f"{self._done}/{jobs} {build}: {words} in {seconds:.0f} s")
        self.tell.expect(self._spent / self._done * left / self._workers)
        self.tell.stage(f"measuring {left} more builds" if left else "writing")

    def _batch(self, jobs: Sequence[Job], processes: int, seed: int) -> list[tuple[Job, Measured]]:
        """Time a few builds in turn."""
        with files.scratch(self.measurer.crew.scratch) as folder:
            ready: list[_Timed] = []
            done: list[tuple[Job, Measured]] = []
            for at, job in enumerate(jobs):
                self.tell.stage(f"building and proving {job.asked.commit[:10]} {job.asked.impl}")
                bench, found = self.measurer.prepare(job.asked, folder / f"{at:03d}")
                done.append((job, found))
                if bench is not None:
                    cases = self.measurer.chosen(found, job.asked.names(["wall"]))
                    ready.append(_Timed(bench, cases, found))
            rng = random.Random(seed)  # noqa: S311  (an order, not a secret)
            for block in itertools.islice(plan.blocks(seed), processes):
                self.tell.stage(
                    f"timing {len(ready)} builds, process {block.index + 1} of {processes}"
                )
                for each in rng.sample(ready, len(ready)):
                    each.take(block)
            for each in ready:
                each.keep()
            return done


def _named(commit: str, impl: str) -> str:
    """A build, as a line names it."""
    return f"{commit[:10]} {impl}".rstrip()


def summary(numbers: Sequence[float]) -> Value:
    """The median over processes, with an interval from the order of their numbers.

    The k-th smallest and the k-th largest enclose the true median with a probability that only
    their number decides (the sign test); k is the largest for which that is 99 %, or 1.
    """
    from scipy.stats import quantile_test  # noqa: PLC0415  (slow to import)

    low, high = quantile_test(numbers, p=0.5).confidence_interval(CONFIDENCE)
    if math.isnan(low):
        low, high = min(numbers), max(numbers)
    return Value(statistics.median(numbers), float(low), float(high), tuple(numbers))
