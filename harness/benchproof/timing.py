"""Runs blocks of wall time until a budget ends, mostly of the cases that seem to have changed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import judge, plan, verdict
from .errors import ClockError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .bench import Bench
    from .progress import Teller
    from .suite import Case

#: Blocks that are timed whatever the budget, and the most that are worth it.
FEWEST_BLOCKS, MOST_BLOCKS = 6, 200
QUICK_BLOCKS = 4
#: Parts of the budget after which cases are looked at, beside its end.
LOOKS = (0.5, 0.75)
#: Blocks that a jumping clock may cost: so many, and this part of all.
THROWN, PART_THROWN = 2, 0.25


@dataclass
class Timed:
    """A bench whose cases are timed.

    Attributes:
        bench: with both sides built and their cases proven.
        cases: to time.
        looks: what looking at them has spent of the error budget.
        decided: names of those that a look has decided.
        paused: names of those that are not timed now.
    """

    bench: Bench
    cases: list[Case]
    looks: verdict.Looks = field(default_factory=verdict.Looks)
    decided: set[str] = field(default_factory=set)
    paused: set[str] = field(default_factory=set)

    @property
    def running(self) -> list[Case]:
        """Those that the next block times."""
        away = self.decided | self.paused
        return [case for case in self.cases if case.name not in away]

    @property
    def kept(self) -> int:
        """Blocks that count."""
        return self.bench.got.blocks - len(self.bench.got.thrown)

    def look(self, fraction: float) -> None:
        """Leave out what is decided, after a part of the sampling."""
        judged = verdict.judge_wall(
            judge.times_of(self.bench.got, self.running), self.bench.settings, looks=self.looks,
            fraction=fraction,
        )  # fmt: skip
        # Tails are looked at once, at the end: few calls of a process are as slow.
        self.decided |= {
            case.name for case in self.running
            if not case.tail and judged.get(case.name, {}).get("verdict") not in {None, "undecided"}
        }  # fmt: skip

    def changed(self) -> set[str]:
        """The running cases that seem to have changed so far, and have not been decided."""
        times = judge.times_of(self.bench.got, self.running)
        seem = verdict.seem_changed(times, self.bench.settings)
        return seem - self.looks.said.keys() - self.bench.got.failures.keys()


def pause_unchanged(timed: Sequence[Timed]) -> None:
    """Go on with what seems to have changed; where nothing does, with all that is undecided."""
    changed = [each.changed() for each in timed]
    for each, names in zip(timed, changed, strict=True):
        unchanged = {case.name for case in each.cases if not case.tail} - names
        each.paused = unchanged if any(changed) else set()


def run(
    timed: Sequence[Timed], seed: int, deadline: float, tell: Teller, *, quick: bool,
    now: Callable[[], float] = time.monotonic,
) -> None:  # fmt: skip
    """Time blocks of all benches in turn, so that they share the same minutes.

    Args:
        timed: what to time.
        seed: of the order of sides and cases.
        deadline: by `now`; a few blocks run whatever it is.
        tell: hears of it.
        quick: stop after a few blocks.
        now: the time, in seconds.

    Raises:
        ClockError: too many processes had clocks that cannot be believed.
    """
    start, pending, longest = now(), list(LOOKS), 0.0
    fewest = QUICK_BLOCKS if quick else FEWEST_BLOCKS
    for block in plan.blocks(seed):
        left = [each for each in timed if each.running]
        number = sum(len(each.running) for each in left)
        tell.stage(f"timing {counted(number, 'benchmark')}, block {block.index + 1}")
        spent = sum(each.bench.time_block(block, each.running) for each in left)
        longest = max(longest, spent)
        refuse_clocks(left)
        if min((each.kept for each in left), default=0) < fewest:
            continue
        # Of the next block.
        end = now() + spent
        timed = [each for each in timed if each.kept < MOST_BLOCKS]
        if end > deadline or quick or not timed:
            return
        part = (end - start) / max(deadline - start, spent)
        if pending and part > pending[0]:
            fraction = pending.pop(0)
            for each in timed:
                each.look(fraction)
        if len(pending) < len(LOOKS):
            pause_unchanged(timed)
        running = sum(len(each.running) for each in timed)
        # A block of cases that come back lasts as long as their first ones.
        if not running or (running > number and end - spent + longest > deadline):
            return


def refuse_clocks(timed: Sequence[Timed]) -> None:
    """Stop where thrown processes are no accident.

    Raises:
        ClockError: they are not.
    """
    for each in timed:
        thrown, blocks = each.bench.got.thrown, each.bench.got.blocks
        if len(thrown) > max(THROWN, PART_THROWN * blocks):
            raise ClockError(
                f"wall time cannot be measured here: {len(thrown)} of {blocks} blocks thrown "
                f"away, the last because {list(thrown.values())[-1]}"
            )
