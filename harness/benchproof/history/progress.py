"""What a run of `benchproof history` has done, and what it says while it does and at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof.errors import COULD_NOT_MEASURE, NO_REGRESSION

if TYPE_CHECKING:
    from rich.console import Console

    from benchproof.progress import Teller

    from .choice import Job
    from .measure import Measured

#: Reasons that are listed; the rest is counted.
_MOST = 12


def show(outcome: Outcome, out: Console) -> None:
    """Print what was done and what has no number."""
    words = [
        f"{outcome.measured} measured",
        f"{outcome.shared} shared with a commit that has the same driver",
        f"{outcome.known} known before",
    ]
    if outcome.left:
        words.append(f"{outcome.left} left")
    _line(out, f"commits in an implementation: {', '.join(words)}")
    for (commit, impl), why in outcome.failed.items():
        _line(out, f"  {commit[:10]} {impl}: {why}")
    reasons = sorted(outcome.reasons.items(), key=lambda item: -item[1])
    for why, count in reasons[:_MOST]:
        _line(out, f"  {count} without a number: {why}")
    if len(reasons) > _MOST:
        rest = sum(count for _, count in reasons[_MOST:])
        _line(out, f"  {rest} more, for {len(reasons) - _MOST} other reasons")
    if outcome.is_empty:
        _line(out, "could not measure: no benchmark of any of these commits gave a number")


def document(outcome: Outcome) -> dict[str, Any]:
    """The same as data: what was measured, and what has no number and why."""
    return {
        "schema": 1, "kind": "history", "measured": outcome.measured, "shared": outcome.shared,
        "known": outcome.known, "left": outcome.left, "reasons": outcome.reasons,
        "failed": [
            {"commit": commit, "impl": impl, "why": why}
            for (commit, impl), why in outcome.failed.items()
        ],
    }  # fmt: skip


def status(outcome: Outcome) -> int:
    """The exit status."""
    return COULD_NOT_MEASURE if outcome.left or outcome.is_empty else NO_REGRESSION


def _line(out: Console, text: str) -> None:
    out.print(text, highlight=False, markup=False, soft_wrap=True)


@dataclass
class Outcome:
    """What a run has done; a *build* is a commit in an implementation.

    Attributes:
        measured: builds that were measured.
        shared: builds that got the numbers of another commit with the same driver.
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

    def count(self, job: Job, found: Measured) -> None:
        """A build was measured."""
        self.measured += 1
        self.numbers += found.numbers
        self.shared += len(job.commits) - 1
        for name, why in found.why.items():
            if name:
                self.reasons[why] = self.reasons.get(why, 0) + 1
            else:
                self.failed[job.asked.commit, job.asked.impl] = why


class Clock:
    """Says what is done, and how long the rest takes."""

    def __init__(self, jobs: int, side_by_side: int, guess: float, tell: Teller) -> None:
        """How many builds, how many at a time, seconds for the first guess, and who hears."""
        self._jobs, self._workers, self._tell = jobs, side_by_side, tell
        self._done, self._spent = 0, 0.0
        if jobs:
            tell.stage(f"measuring {jobs} builds")
            tell.expect(jobs * guess / min(side_by_side, jobs))

    def ended(self, job: Job, found: Measured, seconds: float) -> None:
        """A build was measured, in so many seconds."""
        self._done, self._spent = self._done + 1, self._spent + seconds
        left = self._jobs - self._done
        rest = self._spent / self._done * left / self._workers
        words = found.why.get("") or f"{found.numbers} numbers"
        self._tell.line(
            f"{self._done}/{self._jobs} {job.asked.commit[:10]} {job.asked.impl}: {words} "
            f"in {seconds:.0f} s" + (f"; about {_told(rest)} left" if left else "")
        )
        self._tell.stage(f"measuring {left} more builds" if left else "writing")


def _told(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
