"""The loop around the calls: the same for every meter, allocating nothing of its own."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from itertools import repeat
from types import FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
