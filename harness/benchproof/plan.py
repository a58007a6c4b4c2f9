"""Who runs when: blocks of one process a side, balanced, in random order.

The two processes of a block differ in nothing but the side: they share the hash seed, the order
of the cases, the size of the environment, the loop counts and, as they take turns, the moment.
Blocks differ in all of these. Which side goes first is drawn for each pair of blocks, so that every
two blocks hold both orders: what favours who goes first cancels.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .meters import allocations, instructions, wall
from .meters.counts import Counts

SideName = Literal["left", "right"]
SIDES: tuple[SideName, SideName] = ("left", "right")

#: The largest hash seed of the interpreter.
_MOST_HASH_SEED = 2**32 - 1
#: Bytes by which the environment's size varies, and with it the stack's alignment.
_MOST_PADDING = 4096


@dataclass(frozen=True)
class Block:
    """One process for each side, both alive at the same time.

    Attributes:
        index: from 0.
        sides: who goes first.
        hash_seed: of both processes.
        order: seed of the order of the cases in both.
        padding: bytes added to the environment of both.
    """

    index: int
    sides: tuple[SideName, SideName]
    hash_seed: int
    order: int
    padding: int


@dataclass(frozen=True)
class Loops:
    """How often a case is called, by each meter; the same on both sides."""

    wall: int
    instructions: Counts
    allocations: Counts


def loops(seconds: float, price: float, number: int = 0) -> Loops:
    """Loop counts from what a call takes on the slower side and what it costs on the dearer one.

    Args:
        seconds: roughly, by a clock: for wall time alone.
        price: instructions, counted; or what processor time makes of them (`counts.price_of`).
        number: calls of every loop, where the benchmark says how many there are between setups.
    """
    if number:
        return Loops(number, Counts(number, 0, number), Counts(number, 0, number))
    return Loops(wall.loops_for(seconds), instructions.plan(price), allocations.plan(price))


#: Of a process that is a case itself: it runs once.
ONCE = Loops(1, Counts(0, 0, 1), Counts(0, 0, 1))


def exact(planned: Loops, price: float) -> Loops:
    """The same for wall time; the exact meters' for a price that was counted."""
    return Loops(planned.wall, instructions.plan(price), allocations.plan(price))


def blocks(seed: int) -> Iterator[Block]:
    """Blocks without end."""
    rng = random.Random(seed)  # noqa: S311  (an order, not a secret)
    index = 0
    while True:
        first: tuple[SideName, SideName] = rng.choice([SIDES, (SIDES[1], SIDES[0])])
        for sides in (first, (first[1], first[0])):
            yield Block(
                index=index,
                sides=sides,
                hash_seed=rng.randint(1, _MOST_HASH_SEED),
                order=rng.getrandbits(32),
                padding=rng.randrange(_MOST_PADDING),
            )
            index += 1
