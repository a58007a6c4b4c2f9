"""Counts many builds, a few side by side: a count does not feel what else the machine does."""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from benchproof import provenance
from benchproof.errors import StoppedError

from .progress import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchproof.progress import Teller

    from .choice import Job, Plan
    from .measure import Asked, Measured, Measurer
    from .progress import Outcome

#: Seconds that a build takes, before one has shown it.
GUESS = 75.0


def run(
    todo: Plan,
    measurer: Measurer,
    look: Callable[[Asked], Measured],
    keep: Callable[[Job, Measured], None],
    outcome: Outcome,
    side_by_side: int,
    tell: Teller,
) -> None:
    """Measure what there is to do.

    Args:
        todo: the builds.
        measurer: with the crew that is stopped when this is.
        look: finds out about a build; its `measure`, or its `prove`.
        keep: writes what was found.
        outcome: is told.
        side_by_side: how many at a time; 0: one a core.
        tell: hears of it.

    Raises:
        BenchproofError: no more can be measured (the disk is full).
        StoppedError: Ctrl-C before anything was measured.
    """
    workers = side_by_side or max(1, len(provenance.usable_cores()))
    clock = Clock(len(todo.jobs), workers, GUESS, tell)
    pool = ThreadPoolExecutor(max_workers=workers)
    waiting = list(todo.jobs)
    running: dict[Future[Measured], tuple[Job, float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                job = waiting.pop(0)
                running[pool.submit(look, job.asked)] = (job, time.monotonic())
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                job, start = running.pop(future)
                found = future.result()
                keep(job, found)
                outcome.count(job, found)
                clock.ended(job, found, time.monotonic() - start)
    except KeyboardInterrupt:
        outcome.left += len(waiting) + len(running)
        measurer.crew.stop()
        if not outcome.measured:
            raise StoppedError("stopped before a commit was measured") from None
        tell.line("stopped: what was measured is kept; the same command goes on from here")
    except BaseException:
        measurer.crew.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
