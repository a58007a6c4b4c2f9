"""Wall time: a few values in each of many short processes.

The collector is off inside the timed loops, so its cost is in no number. A value is the mean time
of a call over one loop; a process gives a few values, and their median is the process's number.
"""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import TYPE_CHECKING

from .loop import fresh_loop, without_collector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Values that each process takes of each case, and of one whose single call lasts as long as a
#: value should. More processes say more than more of the same process: its values share its fate.
VALUES, VALUES_OF_LONG_CALLS = 5, 2
#: Seconds that one value should last on the slower side.
VALUE_TIME = 0.001
#: Seconds of calls before a calibration believes its clock.
CALIBRATION_TIME = 0.002


def calibrate(call: Callable[[], object]) -> float:
    """Roughly how long one warm call takes, in seconds."""
    loop = fresh_loop()
    times, elapsed = 1, 0.0
    while elapsed < CALIBRATION_TIME:
        times *= 2
        elapsed = _elapsed(loop, call, times)
    # The least of three: a disturbance only adds, and the loop counts should not follow it.
    return min(elapsed, _elapsed(loop, call, times), _elapsed(loop, call, times)) / times


def _elapsed(
    loop: Callable[[Callable[[], object], int], None], call: Callable[[], object], times: int
) -> float:
    """Seconds that a loop takes."""
    start = perf_counter()
    loop(call, times)
    return perf_counter() - start


def loops_for(seconds: float) -> int:
    """How many calls make one value, for a call that takes some seconds."""
    return max(1, round(VALUE_TIME / seconds))


def measure(call: Callable[[], object], loops: int) -> list[float]:
    """Seconds a call, a few times, after a warm-up of one value's length."""
    loop = fresh_loop()
    values = VALUES if loops > 1 else VALUES_OF_LONG_CALLS
    with without_collector():
        loop(call, loops)
        return [_elapsed(loop, call, loops) / loops for _ in range(values)]


def number(values: Sequence[float]) -> float:
    """The one number that a process contributes to a test."""
    return statistics.median(values)
