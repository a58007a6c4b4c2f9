"""After a read: tasks and threads that its answers wake, and writes of those tasks.

An asyncio future wakes its task by ``loop.call_soon``: a handle, a copy of the context and another
pass of the loop for each answer, and one more for what the task writes then. Here the tasks that
answers woke are stepped by the read itself, when all of its answers are handed out, and what they
write leaves when all of them were stepped, if they are one: what several tasks write to several
nodes leaves with the next pass, in one piece a node.

A task is stepped only where the loop itself would step it: on the thread of the loop, with no other
task on the way. Where that is not so, it is woken by ``call_soon`` as ever; in debug mode as well,
which tells slow steps by their task. So is a task that is written in Python: some of them run the
loop in the middle of a step. Who is woken by such a step waits for the next pass, so that no task
keeps the loop to itself.

Threads go on one after the other, each waking the next one: all at once they would queue for the
interpreter's lock, and each be put to sleep and woken once more for it. The loop's thread comes
after them, and so finds as many answers again. They are woken at once where threads that compute
would come in between, each with the lock for as long as it may, and where there is no such lock.
"""

from __future__ import annotations

import asyncio
import math
import sys
import threading
from asyncio.events import _get_running_loop
from collections import deque
from contextvars import copy_context
from threading import get_ident
from types import MethodType
from typing import TYPE_CHECKING, Final, NoReturn

from ..implementation import hand_over
from .loop import SLICE

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context

#: Whether one thread at a time runs Python.
TAKES_TURNS: Final[bool] = getattr(sys, "_is_gil_enabled", lambda: True)()
#: Seconds, and how many threads go on within them at least: if they do not, then others compute, or
#: have given up waiting, and nobody should wait for them.
_SOON: Final = 0.005
_AT_LEAST: Final = 3
#: Reads after that, whose threads are woken at once.
_REST: Final = 50


class _Read(threading.local):
    """The read that this thread is handing out, and what follows it.

    Attributes:
        is_open: whether there is one.
        takes_waiters: whether tasks are still collected.
        rest: reads to come whose threads do not take turns.
    """

    is_open = takes_waiters = False
    rest = 0
    waiters: list[Waiter]
    functions: list[Callable[[], object]]
    latches: list[Latch]

    def __init__(self) -> None:
        """Nothing follows yet, on each thread."""
        self.waiters, self.functions, self.latches = [], [], []


_read = _Read()


def begin_read() -> bool:
    """Collect what follows, on the loop's thread; False within a read, which goes on collecting."""
    if _read.is_open:
        return False
    _read.is_open = _read.takes_waiters = True
    return True


def end_read(answers: int) -> None:
    """Step the tasks that were woken since ``begin_read``, send what they wrote, wake threads.

    Args:
        answers: how many there were in the read.
    """
    _read.takes_waiters = False
    try:
        if waiters := _read.waiters:
            _read.waiters = []
            step_all(waiters)
    finally:
        _read.is_open = False
        try:
            if functions := _read.functions:
                _read.functions = []
                _call_all(functions, answers)
        finally:
            if latches := _read.latches:
                _read.latches = []
                open_in_turn(latches)


def _call_all(functions: list[Callable[[], object]], answers: int) -> None:
    for function in functions:
        try:
            if answers == 1:
                function()
            else:
                asyncio.get_running_loop().call_soon(function)
        except BaseException as error:  # noqa: BLE001  (the loop is told, as of any callback)
            _raise_soon(error)


def call_after_read(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    """Call after the read that this thread is handing out; without one, in the loop's next pass."""
    if _read.is_open:
        _read.functions.append(function)
    else:
        loop.call_soon(function)


def step_all(waiters: list[Waiter]) -> None:
    """Have those who wait go on: now if this is the place, else in the loop's next pass."""
    loop = _get_running_loop()
    is_here = loop is not None and not loop.get_debug() and asyncio.current_task(loop) is None
    for waiter in waiters:
        if is_here and waiter.loop is loop:
            waiter.step()
        else:
            waiter.step_soon()


def _raise_soon(error: BaseException) -> None:
    """Have the loop deal with an error, as it does with those of all that it calls."""
    asyncio.get_running_loop().call_soon(_raise, error)


def _raise(error: BaseException) -> NoReturn:
    raise error


class Latch:
    """What threads wait for: closed until there is an outcome.

    Attributes:
        lock: held until it is opened.
        turns: who goes on after whoever waits here; None for nobody.
    """

    __slots__ = ("lock", "turns")

    def __init__(self) -> None:
        """Closed."""
        self.lock = threading.Lock()
        self.lock.acquire()
        self.turns: deque[Latch] | None = None

    def wait(self, timeout: float | None) -> bool:
        """Wait until it is open, and have the next thread go on, too.

        Args:
            timeout: seconds; None waits for ever.

        Returns:
            False if it was not opened in time.
        """
        try:
            left = math.inf if timeout is None else timeout
            # In slices: a signal that comes in the moment before a wait begins does not end it.
            while not (is_open := self.lock.acquire(timeout=min(left, SLICE))) and left > SLICE:
                left -= SLICE
            if is_open:
                self.lock.release()  # for others who wait here
            return is_open
        finally:
            if self.turns is not None:
                open_next(self.turns)

    def open(self) -> None:
        """Have those who wait go on: in turn, after the read that brings the outcome."""
        if TAKES_TURNS and _read.is_open:
            _read.latches.append(self)
        else:
            self.lock.release()


def open_in_turn(latches: list[Latch]) -> None:
    """Have threads go on one after the other, and then this one."""
    if len(latches) == 1 or _read.rest:
        _read.rest = max(_read.rest - 1, 0)
        for latch in latches:
            latch.lock.release()
        return
    own = Latch()
    turns = deque([*latches, own])
    for latch in latches:
        latch.turns = turns
    left = len(turns)
    open_next(turns)
    while not own.lock.acquire(timeout=_SOON):
        if left - len(turns) < _AT_LEAST:
            _read.rest = _REST
            while turns:
                open_next(turns)
            return
        left = len(turns)


def others_compute() -> bool:
    """Whether threads take no turns for some time; on the loop's thread."""
    return _read.rest > 0


def open_next(turns: deque[Latch]) -> None:
    """Have the next one go on, if there is one."""
    try:
        latch = turns.popleft()
    except IndexError:
        return
    latch.lock.release()


class WriteCoalescer:
    """Bytes that are handed on together, at the end of the loop's iteration or of a read.

    For the loop's thread only.
    """

    __slots__ = ("_deliver", "_loop", "_thread", "_waiting")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, deliver: Callable[[list[bytes]], None]
    ) -> None:
        """Hand on to ``deliver``; on the loop's thread."""
        self._loop = loop
        self._thread = get_ident()
        self._deliver = deliver
        self._waiting: list[bytes] = []

    @property
    def is_possible(self) -> bool:
        """Whether the caller is on the loop's thread."""
        return get_ident() == self._thread

    def add(self, data: bytes) -> None:
        """Hand on soon, together with what else is added until then."""
        self._waiting.append(data)
        if len(self._waiting) == 1:
            call_after_read(self._loop, self.deliver)

    def deliver(self) -> None:
        """Hand on now what waits."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._deliver(waiting)


class Waiter:
    """What tasks wait for: as much of an asyncio future as they ask for.

    Attributes:
        loop: of the tasks.
    """

    __slots__ = (
        "_asyncio_future_blocking",
        "_callbacks",
        "_message",
        "_state",
        "_was_asked",
        "loop",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Nobody waits yet; on the loop's thread, as everything here."""
        self.loop = loop
        self._asyncio_future_blocking = False
        self._callbacks: tuple[tuple[Callable[[Waiter], object], Context], ...] = ()
        self._state = ""
        self._was_asked = False
        self._message: object = None

    def blocks(self) -> None:
        """Say that a task which gets this from ``__await__`` has to wait for it."""
        self._asyncio_future_blocking = True

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop, as tasks ask for it."""
        return self.loop

    def add_done_callback(
        self, fn: Callable[[Waiter], object], *, context: Context | None = None
    ) -> None:
        """Have a task woken, in its context."""
        waits = (fn, copy_context() if context is None else context)
        self._callbacks = (*self._callbacks, waits)
        if self._state:
            self.step_soon()

    def done(self) -> bool:
        """Whether nobody has to wait any more."""
        return bool(self._state)

    def cancelled(self) -> bool:
        """Whether it ended by ``cancel``."""
        return self._state == "cancelled"

    def result(self) -> None:
        """Nothing, where a task asks whether it is to go on.

        Raises:
            CancelledError: it was cancelled.
            InvalidStateError: it has not ended.
        """
        self._was_asked = True
        if self._state == "cancelled":
            raise asyncio.CancelledError(*(() if self._message is None else (self._message,)))
        if not self._state:
            raise asyncio.InvalidStateError("the answer is not here yet")

    def cancel(self, msg: object = None) -> bool:
        """End without an answer; those who wait are cancelled. False if it had ended."""
        if self._state:
            return False
        self._state, self._message = "cancelled", msg
        self.step_soon()
        return True

    def wake(self) -> None:
        """End: have those who wait go on, after the read that brings the answer."""
        if self._state:
            return
        self._state = "answered"
        if _read.takes_waiters:
            _read.waiters.append(self)
        else:
            self.step_soon()

    def step(self) -> None:
        """Have those who wait go on now."""
        callbacks, self._callbacks = self._callbacks, ()
        for fn, context in callbacks:
            if isinstance(fn, MethodType):  # of a task that is written in Python
                self.loop.call_soon(fn, self, context=context)
                continue
            self._was_asked = False
            try:
                context.run(fn, self)
            except BaseException as error:  # noqa: BLE001  (the loop is told, as of any callback)
                if self._was_asked:  # as a task does first
                    _raise_soon(error)
                else:  # whoever called has entered the context of the task
                    self.loop.call_soon(fn, self, context=context)

    def step_soon(self) -> None:
        """Have those who wait go on in the loop's next pass."""
        callbacks, self._callbacks = self._callbacks, ()
        for fn, context in callbacks:
            self.loop.call_soon(fn, self, context=context)


hand_over(globals())
