"""Timers by the thousand: one tick of the loop for all of them, none of its wake-ups for each.

Nearly every request sets a timer and cancels it a millisecond later. The event loop's own timers
cost a heap entry each, stay in the heap until they are due, and wake the loop when another thread
sets one. Here time is cut into slots of a few milliseconds; a timer is an entry in the dict of its
slot, and cancelling takes it out. Timers are late by up to two ticks, never early;
one tick more after something held up the loop, such as decoding a large page.

All state changes are single operations of dicts, which need no lock. The thread that takes a timer
out of its slot is the one that owns what happens next, so that it runs once or not at all. Only the
loop's thread takes slots away.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from ..implementation import hand_over
from .loop import outlive
from .transport import send_postponed

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

log = logging.getLogger(__name__)

#: Seconds.
TICK: Final = 0.015
#: Ticks without a timer before the ticking stops: stopping too early would cost a wake-up.
_IDLE_TICKS: Final = 64
#: A tick that is later than this, in seconds, comes after something that held up the loop.
_HELD_UP: Final = 0.1


class Timer:
    """A function that will run, unless it is cancelled."""

    __slots__ = ("_slot", "fn")

    def __init__(self, fn: Callable[[], object], slot: dict[Timer, None]) -> None:
        """In a slot."""
        self.fn = fn
        self._slot = slot
        slot[self] = None

    def take(self) -> bool:
        """Take it out of its slot; whether it was in there."""
        return self._slot.pop(self, self) is None

    def cancel(self) -> None:
        """Do not run it, and forget it; nothing if it ran."""
        self._slot.pop(self, None)


class Timers:
    """The timers of one event loop.

    Args:
        loop: where they run.
        clock: seconds that never go back.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__weakref__",
        "_clock",
        "_closed",
        "_handle",
        "_idle",
        "_loop",
        "_next_tick",
        "_passed",
        "_slots",
        "_ticks",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """No timer, no tick."""
        self._loop = loop
        self._clock = clock
        self._slots: dict[int, dict[Timer, None]] = {}
        self._passed = self._slot_now()
        self._ticks = False
        self._idle = 0
        self._handle: asyncio.TimerHandle | None = None
        self._next_tick: float | None = None
        self._closed = False

    def call_later(self, seconds: float, fn: Callable[[], object]) -> Timer:
        """Run a function on the loop's thread, from any thread.

        Args:
            seconds: from now; the function runs after them, up to two ticks late.
            fn: what it raises is logged.

        Returns:
            The timer, for ``cancel``.
        """
        number = int((self._clock() + seconds) / TICK) + 1
        slot = self._slots.get(number)
        if slot is None:
            slot = self._slots.setdefault(number, {})
        timer = Timer(fn, slot)
        if number <= self._passed:
            self._set_too_late(timer, number)
        elif not self._ticks:
            self._start_ticking()
        return timer

    def _set_too_late(self, timer: Timer, number: int) -> None:
        """The slot passed while a thread was on its way to it, and may come back empty."""
        if timer.take() and not self._closed:
            self._loop.call_soon_threadsafe(self._run_late, number, timer.fn)

    def _start_ticking(self) -> None:
        if not self._closed:
            self._ticks = True
            self._loop.call_soon_threadsafe(self._tick)

    @property
    def pending(self) -> int:
        """How many timers wait."""
        return sum(map(len, list(self._slots.values())))

    def run_all(self) -> None:
        """Run what waits now, in the order of its time, since nobody will be there later.

        On the loop's thread. What is set meanwhile waits as usual: slots stay until they have
        passed, for another thread may be about to put a timer into one.
        """
        for number in sorted(self._slots):
            self._run_slot(self._slots.get(number, {}))

    def close(self) -> None:
        """Forget all timers without running them; on the loop's thread."""
        self._closed = True
        self._slots.clear()
        if self._handle is not None:
            self._handle.cancel()

    def _slot_now(self) -> int:
        return int(self._clock() / TICK)

    def _tick(self) -> None:
        """Run the slots that have passed, and come back if there is something to come back for."""
        if self._closed:
            return
        send_postponed()
        if self._handle is not None:
            self._handle.cancel()
        expected, self._next_tick = self._next_tick, None
        if expected is not None and self._clock() - expected > _HELD_UP:
            # What came meanwhile is read first: its requests have been answered in time.
            self._handle = self._loop.call_later(TICK, self._tick)
            return
        first, self._passed = self._passed + 1, self._slot_now()
        if self._passed - first > len(self._slots):
            # After a rest, or after the machine slept: fewer slots exist than have passed.
            due = sorted(number for number in list(self._slots) if number <= self._passed)
        else:
            due = [n for n in range(first, self._passed + 1) if n in self._slots]
        for number in due:
            self._run_slot(self._slots.pop(number, {}))
        self._idle = 0 if self._slots else self._idle + 1
        if self._idle > _IDLE_TICKS:
            self._ticks = False
            self._idle = 0
            if not self._slots:
                return
            self._ticks = True  # another thread set one meanwhile
        self._next_tick = self._clock() + TICK
        self._handle = self._loop.call_later(TICK, self._tick)

    def _run_late(self, number: int, fn: Callable[[], object]) -> None:
        """Run a timer whose slot had passed before it was set, and what else came too late for it.

        Slots leave only here and in the tick, on the loop's thread: a thread that took one away
        would take the timers of others along.
        """
        _run(fn)
        self._run_slot(self._slots.pop(number, {}))

    @staticmethod
    def _run_slot(slot: dict[Timer, None]) -> None:
        """Run what is left in a slot, in the order in which it was set."""
        for timer in list(slot):
            if timer.take():
                _run(timer.fn)


def _run(fn: Callable[[], object]) -> None:
    """Run a timer's function; what it raises is its author's to read."""
    try:
        fn()
    except BaseException as error:
        log.exception("A timer's function %r raised an exception", fn)
        outlive(error)


hand_over(globals())
