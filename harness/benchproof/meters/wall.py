"""Wall time: some short values in each of many short processes.

The collector is off inside the timed loops, so its cost is in no number. A value is the mean time
of a call over one loop. The two sides of a comparison take turns, value by value (`turns`), so that
each value has one of the other side beside it that met the same machine.

Clocks jump: a virtual machine is moved, a time service steps. So each value is held against two
other clocks. One that they contradict is taken once more, since the scheduler of a virtual machine
miscounts a fraction of a millisecond now and then, beside clocks that are steady; a process whose
clocks contradict one another twice in a row gives no number at all.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from time import perf_counter, thread_time
from typing import TypeVar

from .counts import fresh_loop, nothing, without_collector
from .turns import Turns

_T = TypeVar("_T")

#: Values that each process takes of each case, and the fewest of calls that last long.
VALUES, FEWEST_VALUES = 40, 2
#: Seconds that one value should last on the slower side: short against the time in which a shared
#: machine changes its speed, long against the clock's own and that of changing over between sides.
VALUE_TIME = 0.0001
#: Seconds after which no more values are taken, with what comes before each loop: of values as
#: short as the shortest, since a disturbance only adds.
LONGEST = 2 * VALUES * VALUE_TIME
#: So many loops come before the first value, or fewer that last as long.
WARM_UP = 10
#: The part of a process's calls that the tail's time is not less than; the fewest and the most
#: calls that it is taken of; and in between, as many as so many values of wall time have.
TAIL, TAIL_CALLS, TAIL_VALUES = 0.99, (200, 2000), 200
#: Seconds of calls before a calibration believes its clock.
CALIBRATION_TIME = 0.002
#: Of two clocks that see the same interval, what they may differ: a part of it, which is more than
#: a time service slews, and seconds, which are more than reading them takes.
SLEW, READING = 0.01, 0.0001
#: Seconds that another process may take the core for between reading one clock and the next.
AWAY = 0.02
#: Calibrations that a jumping clock may spoil before a process gives up, and tries of a value.
TRIES, TRIES_OF_VALUE = 5, 2


class ClockError(Exception):
    """The clocks of this process contradict one another."""


def calibrate(
    call: Callable[[], object], number: int = 0, renew: Callable[[], object] = nothing
) -> tuple[float, float]:
    """Roughly how long one warm call takes, and the processor with it, in seconds.

    Args:
        call: the case.
        number: the most calls of a loop, if there is a most.
        renew: is called before each loop, and not timed.
    """
    return _believed(lambda: _calibrate(call, number, renew), TRIES)


def _believed(take: Callable[[], _T], tries: int) -> _T:
    """What is taken, again where the clocks contradict it.

    Raises:
        ClockError: they contradict the last try, too.
    """
    for _ in range(tries - 1):
        try:
            return take()
        except ClockError:
            continue
    return take()


def _calibrate(
    call: Callable[[], object], number: int, renew: Callable[[], object]
) -> tuple[float, float]:
    loop = fresh_loop()
    times, elapsed = number or 1, 0.0
    while elapsed < CALIBRATION_TIME:
        times = number or times * 2
        renew()
        elapsed = _elapsed(loop, call, times)
        if number:
            break
    worked = []
    # The least of three: a disturbance only adds, and the loop counts should not follow it.
    for _ in range(2):
        renew()
        start = thread_time()
        elapsed = min(elapsed, _elapsed(loop, call, times))
        worked.append(thread_time() - start)
    return elapsed / times, min(worked) / times


def _elapsed(
    loop: Callable[[Callable[[], object], int], None], call: Callable[[], object], times: int
) -> float:
    """Seconds that a loop takes.

    Raises:
        ClockError: another clock says otherwise.
    """
    worked, around = thread_time(), _steady()
    start = perf_counter()
    loop(call, times)
    elapsed = perf_counter() - start
    check(elapsed, _steady() - around, thread_time() - worked)
    return elapsed


def check(elapsed: float, around: float, worked: float) -> None:
    """Hold an interval against two other clocks.

    Args:
        elapsed: seconds by the clock that measures.
        around: seconds by a clock that nobody sets, read before and after.
        worked: seconds that this thread was running, by the scheduler.

    Raises:
        ClockError: they contradict one another.
    """
    if elapsed <= 0:
        raise ClockError(f"the clock went back: a loop took {elapsed:.6f} s")
    if elapsed > around * (1 + SLEW) + READING:
        raise ClockError(f"the clock jumped: a loop took {elapsed:.6f} s within {around:.6f} s")
    if worked > elapsed * (1 + SLEW) + READING or around > 2 * elapsed + AWAY:
        raise ClockError(
            f"the clock went back or stood: {elapsed:.6f} s for a loop that ran for {worked:.6f} s "
            f"within {around:.6f} s"
        )


def _steady() -> float:
    """Seconds by a clock that no time service sets, where the system has one."""
    raw = getattr(time, "CLOCK_MONOTONIC_RAW", None)
    return time.monotonic() if raw is None else time.clock_gettime(raw)


def _slowest(call: Callable[[], object], calls: int, renew: Callable[[], object]) -> float:
    """Seconds of one of the slowest calls, each timed by itself."""
    loop, taken = fresh_loop(), []
    worked, around, start = thread_time(), _steady(), perf_counter()
    for _ in range(calls):
        renew()
        before = perf_counter()
        loop(call, 1)
        taken.append(perf_counter() - before)
    check(perf_counter() - start, _steady() - around, thread_time() - worked)
    return sorted(taken)[math.ceil(TAIL * calls) - 1]


def tail(call: Callable[[], object], loops: int, renew: Callable[[], object] = nothing) -> float:
    """Seconds of the call that one in a hundred of a process's calls is slower than.

    The collector runs as it does in a program: what it adds to a call now and then is of the tail.

    Args:
        call: the case, which has been warmed up.
        loops: calls of a value of wall time.
        renew: is called before each call, and not timed.

    Raises:
        ClockError: the clocks contradict one another, twice.
    """
    calls = min(max(TAIL_CALLS[0], TAIL_VALUES * loops), TAIL_CALLS[1])
    return _believed(lambda: _slowest(call, calls, renew), TRIES_OF_VALUE)


def loops_for(seconds: float) -> int:
    """How many calls make one value, for a call that takes some seconds."""
    return max(1, round(VALUE_TIME / seconds))


def measure(
    call: Callable[[], object], loops: int, renew: Callable[[], object] = nothing, most: int = 0,
    turns: Turns | None = None,
) -> list[float]:  # fmt: skip
    """Seconds a call, in many short values, after a warm-up.

    Args:
        call: the case.
        loops: calls of a value.
        renew: is called before each loop, and not timed.
        most: values that are wanted at most; 0 if nobody says.
        turns: with the other side; without them the values follow one another.

    Raises:
        ClockError: a value cannot be believed, and neither can the next one.
    """
    loop = fresh_loop()
    values: list[float] = []
    least = math.inf

    def value() -> float:
        renew()
        return _elapsed(loop, call, loops) / loops

    with without_collector():
        warm = perf_counter() + WARM_UP * VALUE_TIME
        for _ in range(WARM_UP):
            renew()
            loop(call, loops)
            if perf_counter() > warm:
                break
        with closing((turns or Turns()).take(min(VALUES, most or VALUES))) as taking:
            for _ in taking:
                start = perf_counter()
                values.append(_believed(value, TRIES_OF_VALUE))
                least = min(least, perf_counter() - start)
                if len(values) >= FEWEST_VALUES and len(values) * least > LONGEST:
                    break
    return values


def number(values: Sequence[float]) -> float:
    """The one number that a process contributes to a test."""
    return statistics.median(values)
