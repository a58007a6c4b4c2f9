"""Runs blocks of wall time until a budget ends; cases that are decided leave early."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import judge, plan, verdict
from .errors import ClockError

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """A bench whose cases are timed, and what of it is still undecided.

    Attributes:
        bench: with both sides built and their cases proven.
        running: cases that are still timed.
        looks: what looking at them has spent of the error budget.
    """

    bench: Bench
    running: list[Case]
    looks: verdict.Looks = field(default_factory=verdict.Looks)

    def look(self, fraction: float) -> None:
        """Leave out what is decided, after a part of the sampling; go on with what may change."""
        judged = verdict.judge_wall(
            judge.times_of(self.bench.got, self.running), self.bench.settings, looks=self.looks,
            fraction=fraction,
        )  # fmt: skip
        # Tails are looked at once, at the end: few calls of a process are as slow.
        undecided = [
            case for case in self.running
            if case.tail or judged.get(case.name, {}).get("verdict", "undecided") == "undecided"
        ]  # fmt: skip
        promising = [
            case for case in undecided
            if case.tail or case.name not in judged or verdict.pays(judged[case.name])
        ]  # fmt: skip
        self.running = promising or undecided


def run(timed: Sequence[Timed], seed: int, deadline: float, tell: Teller, *, quick: bool) -> None:
    """Time blocks of all benches in turn, so that they share the same minutes.

    Args:
        timed: what to time.
        seed: of the order of sides and cases.
        deadline: by `time.monotonic`; a few blocks run whatever it is.
        tell: hears of it.
        quick: stop after a few blocks.

    Raises:
        ClockError: too many processes had clocks that cannot be believed.
    """
    start = time.monotonic()
    pending = list(LOOKS)
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
        now = time.monotonic()
        if now + spent > deadline or kept >= MOST_BLOCKS or quick:
            return
        part = (now + spent - start) / max(deadline - start, spent)
        if pending and part > pending[0]:
            fraction = pending.pop(0)
            for each in left:
                each.look(fraction)
            if not any(each.running for each in timed):
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
