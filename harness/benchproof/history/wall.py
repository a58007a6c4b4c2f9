"""Times builds: several processes each, those of a few builds in turn.

A machine of this kind drifts by ten percent between runs of the same code. So builds are timed in
batches: each round has one process of every build of the batch, in random order, and the rounds
differ in hash seed, order of cases and size of the environment. A build's number is the median over
its processes, its interval that of the median without any assumption on how they are distributed,
from the order of the numbers. It holds for those minutes; the canary, timed in the same processes,
shows what another day did.
"""

from __future__ import annotations

import itertools
import random
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof import bench, files, plan, worker
from benchproof.errors import StoppedError, WorkerError
from benchproof.meters import wall

from .measure import CANARY_ROW, Measured, clean, run
from .model import CANARY
from .progress import Clock
from .writing import FAILED, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchproof.build import Built
    from benchproof.progress import Teller

    from .choice import Job, Plan
    from .measure import Measurer
    from .progress import Outcome

#: Builds of a batch; seconds that a process of one takes, before one has shown it.
BATCH, GUESS = 6, 4.0
#: Of the interval.
CONFIDENCE = 0.99


@dataclass
class Timed:
    """A build that is being timed.

    Attributes:
        job: which.
        built: where it is.
        rows: what its workers are asked.
        found: what there is to keep of it.
        numbers: by case, one number a process.
    """

    job: Job
    built: Built
    rows: list[dict[str, Any]]
    found: Measured
    numbers: dict[str, list[float]] = field(default_factory=dict)


def time_all(
    todo: Plan,
    measurer: Measurer,
    processes: int,
    core: int | None,
    keep: Callable[[Job, Measured], None],
    outcome: Outcome,
    tell: Teller,
) -> None:
    """Time what there is to do, batch by batch; Ctrl-C loses the batch that is running.

    Raises:
        BenchproofError: no more can be measured.
        StoppedError: Ctrl-C before anything was measured.
    """
    clock = Clock(len(todo.jobs), 1, GUESS * processes, tell)
    for number in range(0, len(todo.jobs), BATCH):
        batch = todo.jobs[number : number + BATCH]
        start = time.monotonic()
        try:
            done = _batch(batch, measurer, processes, core, number, tell)
        except KeyboardInterrupt:
            measurer.crew.stop()
            outcome.left += len(todo.jobs) - number
            if not outcome.measured:
                raise StoppedError("stopped before a commit was measured") from None
            tell.line("stopped: what was measured is kept; the same command goes on from here")
            return
        each = (time.monotonic() - start) / len(batch)
        for job, found in done:
            keep(job, found)
            outcome.count(job, found)
            clock.ended(job, found, each)


def _batch(
    jobs: Sequence[Job],
    measurer: Measurer,
    processes: int,
    core: int | None,
    seed: int,
    tell: Teller,
) -> list[tuple[Job, Measured]]:
    """Time a few builds in turn."""
    with files.scratch(measurer.crew.scratch) as folder:
        ready: list[Timed] = []
        done: list[tuple[Job, Measured]] = []
        for at, job in enumerate(jobs):
            tell.stage(f"building and proving {job.asked.commit[:10]} {job.asked.impl}")
            built, found = measurer.prepare(job.asked, folder / f"prove-{at}")
            done.append((job, found))
            if built is not None:
                ready.append(Timed(job, built, _rows(job, found, measurer), found))
        rng = random.Random(seed)  # noqa: S311  (an order, not a secret)
        for block in itertools.islice(plan.blocks(seed), processes):
            tell.stage(f"timing {len(ready)} builds, process {block.index + 1} of {processes}")
            for at, each in rng.sample(list(enumerate(ready)), len(ready)):
                _process(each, measurer, block, core, folder / f"{block.index:03d}-{at}")
        for each in ready:
            _conclude(each)
        return done


def _rows(job: Job, found: Measured, measurer: Measurer) -> list[dict[str, Any]]:
    """What a worker is asked: the cases that proved their paths, and the canary."""
    rows = [
        case.row
        for case in measurer.cases
        if (case.name, "wall") in job.asked.keys and case.name not in found.why
    ]
    if (CANARY, "wall") in job.asked.keys:
        rows.append(CANARY_ROW)
    return [row | {"loops": measurer.wall_loops(row["name"], job.asked.impl)} for row in rows]


def _process(
    each: Timed, measurer: Measurer, block: plan.Block, core: int | None, folder: Path
) -> None:
    """One process of one build. What it cannot say, others will; a clock that jumped says nothing.

    Raises:
        NoSpaceError: the disk is full.
    """
    request = {
        "side": each.built.folder, "impl": each.built.impl, "task": "wall", "cases": each.rows,
        "suites": str(measurer.place.suites.resolve()), "core": core, "order": block.order,
    }  # fmt: skip
    env = bench.environment(each.built.impl, block)
    try:
        answers = run(measurer.crew, request, folder, worker.__file__, env)
    except WorkerError as error:
        each.found.why.setdefault("", clean(str(error)))
        return
    for row in answers:
        if "values" in row:
            each.numbers.setdefault(row["name"], []).append(wall.number(row["values"]))


def _conclude(each: Timed) -> None:
    """A build's numbers become values."""
    for row in each.rows:
        name = row["name"]
        numbers = each.numbers.get(name, [])
        value = summary(numbers) if len(numbers) > 2 else FAILED
        each.found.values[name, "wall"] = value
        if value is FAILED:
            each.found.why[name] = "too few of its processes gave a number"


def summary(numbers: Sequence[float]) -> Value:
    """The median over processes, with an interval from the order of their numbers.

    The k-th smallest and the k-th largest enclose the true median with a probability that only
    their number decides (the sign test); k is the largest for which that is 99 %, or 1.
    """
    from scipy.stats import binom  # noqa: PLC0415  (slow to import)

    ordered = sorted(numbers)
    count = len(ordered)
    k = max(1, int(binom.ppf((1 - CONFIDENCE) / 2, count, 0.5)))
    while k > 1 and 2 * binom.cdf(k - 1, count, 0.5) > 1 - CONFIDENCE:
        k -= 1
    return Value(statistics.median(ordered), ordered[k - 1], ordered[-k], tuple(numbers))
