"""Runs blocks of wall time until a budget ends; cases that are decided or unchanged leave early."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import judge, plan, verdict
from .errors import ClockError

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
#: From the first look on, cases that seem unchanged make way for the others, which is asked anew
#: when there are so many times as many blocks.
AGAIN = 1.1
#: Blocks that a jumping clock may cost: so many, and this part of all.
THROWN, PART_THROWN = 2, 0.25


@dataclass
class Timed:
    """A bench whose cases are timed.

    Attributes:
        bench: with both sides built and their cases proven.
        undecided: cases of which no look has said anything.
        looks: what looking at them has spent of the error budget.
        running: those of the undecided that are timed now.
    """

    bench: Bench
    undecided: list[Case]
    looks: verdict.Looks = field(default_factory=verdict.Looks)
    running: list[Case] = field(init=False)

    def __post_init__(self) -> None:
        """All are timed at first."""
        self.running = self.undecided

    def look(self, fraction: float) -> None:
        """Leave out what is decided, after a part of the sampling."""
        judged = verdict.judge_wall(
            judge.times_of(self.bench.got, self.running), self.bench.settings, looks=self.looks,
            fraction=fraction,
        )  # fmt: skip
        decided = {name for name, row in judged.items() if row["verdict"] != "undecided"}
        # Tails are looked at once, at the end: few calls of a process are as slow.
        self.undecided, self.running = (
            [case for case in cases if case.tail or case.name not in decided]
            for cases in (self.undecided, self.running)
        )

    @property
    def changed(self) -> set[str]:
        """The running cases that seem to have changed so far."""
        times = judge.times_of(self.bench.got, self.running)
        return verdict.seem_changed(times, self.bench.settings)


def make_way(timed: Sequence[Timed]) -> None:
    """Go on with what seems to have changed; where nothing does, with all that is undecided.

    It costs nothing of the error budget: not to time a case any longer can only lose findings.
    """
    changed = [each.changed for each in timed]
    for each, names in zip(timed, changed, strict=True):
        if any(changed):
            each.running = [case for case in each.running if case.tail or case.name in names]
        else:
            each.running = each.undecided


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
    start = now()
    pending, next_way = list(LOOKS), math.inf
    fewest = QUICK_BLOCKS if quick else FEWEST_BLOCKS
    for block in plan.blocks(seed):
        left = [each for each in timed if each.running]
        number = sum(len(each.running) for each in left)
        tell.stage(f"timing {number} benchmarks, block {block.index + 1}")
        spent = sum(each.bench.time_block(block, each.running) for each in left)
        refuse_clocks(left)
        kept = min((each.bench.got.blocks - len(each.bench.got.thrown) for each in left), default=0)
        if kept < fewest:
            continue
        # Of the next block.
        end = now() + spent
        if end > deadline or kept >= MOST_BLOCKS or quick:
            return
        part = (end - start) / max(deadline - start, spent)
        if pending and part > pending[0]:
            fraction = pending.pop(0)
            for each in left:
                each.look(fraction)
            if not any(each.undecided for each in timed):
                return
            next_way = 0
        if block.index + 1 >= next_way:
            next_way = math.ceil(AGAIN * (block.index + 1))
            make_way(timed)


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
