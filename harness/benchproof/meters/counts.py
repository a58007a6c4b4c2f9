"""The loop around the calls of a case, and how often the exact meters run it.

That is two counts, so that everything but the calls cancels. They follow what one call costs in
instructions, counted, and never a clock: a busy machine makes a call slower, not costlier, and
counts that follow other loop counts are other counts.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from types import FunctionType

#: Calls before counting, where they are affordable: the interpreter specialises a function after
#: a few calls, and what it learns in the functions below settles later (docs/meters.md).
WARM = 64
#: Instructions that warming up may take: about a second under valgrind.
AFFORDABLE = 32_000_000
#: Of two rounds that agree, the larger one's share above the smaller one's: a third of the limit.
AGREE = 0.001
#: Rounds of a case at most; a call that costs more than this part of `AFFORDABLE` has fewer.
ROUNDS, FEW_ROUNDS, LARGE = 6, 2, 0.5
#: How near two successive calls must be to say what one costs, and after how many nobody waits.
NEAR, MOST_FIRST = 0.1, 8
#: Rounds that most cases take.
TYPICAL_ROUNDS = 2.5
#: Instructions a second of processor time, roughly; where they cannot be counted.
RATE = 5e9


@dataclass(frozen=True)
class Counts:
    """How often a case is called by an exact meter.

    Attributes:
        warm: calls before counting, for the adaptive interpreter and for caches.
        few: calls of the first counted loop; 0 for a call that is large beside an empty loop.
        many: calls of the second one.
    """

    warm: int
    few: int
    many: int

    def per_call(self, totals: Sequence[float]) -> float:
        """What one call costs, from the totals of the two loops."""
        few, many = totals
        return (many - few) / (self.many - self.few)


def counts_for(price: float, target: float, most: int) -> Counts:
    """Counts for a call of a price; powers of two, so that prices that are near give the same.

    Args:
        price: instructions of one call.
        target: instructions that the larger loop may take.
        most: upper bound of the larger loop.
    """
    many = 2 ** max(0, min(round(math.log2(target / max(price, 1))), round(math.log2(most))))
    return Counts(warm_for(price), many // 2, many)


def warm_for(price: float) -> int:
    """Calls before counting, for a call of a price."""
    return max(1, min(WARM, int(AFFORDABLE / max(price, 1))))


def price_of(worked: float) -> float:
    """A price from processor time, where instructions cannot be counted.

    A busy machine moves processor time too, by up to a half; in steps of 16 that seldom shows.

    Args:
        worked: seconds of one call.
    """
    return float(16 ** round(math.log(max(worked * RATE, 1.0), 16)))


def priced(first: Sequence[float]) -> bool:
    """Whether the counts of a case's first calls say what one costs.

    What is made when it is first needed can cost a hundred times what a call costs from then on.

    Args:
        first: counts of single calls, from the very first one on.
    """
    if len(first) < 2:
        return False
    return len(first) >= MOST_FIRST or abs(first[-1] - first[-2]) <= NEAR * first[-1]


def settled(rounds: Sequence[float], price: float) -> bool:
    """Whether to stop counting: two successive rounds agree, or no more are affordable.

    Args:
        rounds: what a call cost in each round so far.
        price: what it cost when it was first counted.
    """
    most = ROUNDS if price < LARGE * AFFORDABLE else FEW_ROUNDS
    if len(rounds) >= most:
        return True
    return len(rounds) > 1 and abs(rounds[-1] - rounds[-2]) <= AGREE * abs(rounds[-2]) + 1


def _loop(call: Callable[[], object], times: int) -> None:
    for _ in repeat(None, times):
        call()


def nothing() -> None:
    """Where a case needs nothing between two loops."""


def fresh_loop() -> Callable[[Callable[[], object], int], None]:
    """A loop of its own for one case.

    The interpreter specialises a call site for the function that it saw there. Were the code
    object shared, the first calls of each case would pay for unlearning the case before it:
    thousands of instructions, in the smaller of two loop counts only.
    """
    code = _loop.__code__.replace()
    return FunctionType(code, _loop.__globals__, "loop")


@contextmanager
def without_collector() -> Iterator[None]:
    """Switch the garbage collector off, from a clean start.

    What survives the collection is frozen, so that the next case's collection does not walk
    through it again: under valgrind that walk took longer than the case.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
