"""Threads that take turns where a seed says, at any instruction of chosen modules.

    schedule = Schedule(seed=7, modules=[timers])
    with schedule.locks():            # what is made here gets locks that give way
        shared = Timers(loop)
    schedule.run(one, another)        # each in a thread of its own; the same seed, the same turns

One thread runs at a time. At each bytecode of the chosen modules, and where a lock is taken, the
seed decides who goes on: as the interpreter may, which switches between any two of them. Calls into
C (a method of a dict or deque) are one step, as they are under the interpreter's lock.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType, ModuleType

#: Turns after which nobody will come to an end any more.
MOST_TURNS = 100_000
_LOCK = threading.Lock


class StuckError(AssertionError):
    """The threads wait for each other, or for something that never happens."""


class Lock:
    """A lock whose waiting threads give way."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule, self._held = schedule, False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        while self._held:
            # The time is over sooner or later, as far as anybody can tell.
            if not blocking or (timeout >= 0 and self._schedule.random.random() < 0.2):
                return False
            if not (timeout >= 0 and self._schedule.alone):
                self._schedule.turn(gives_way=True)
        self._held = True
        return True

    def release(self) -> None:
        assert self._held
        self._held = False

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Schedule:
    """Whose turn it is, by a seed."""

    def __init__(self, seed: int, modules: Sequence[ModuleType]) -> None:
        self.random = random.Random(seed)
        #: A turn may end at every instruction, or at few: different races show.
        self._rate = self.random.choice((0.02, 0.1, 0.3))
        self._files = {module.__file__ for module in modules}
        self._turns: list[threading.Semaphore] = []
        self._runs: list[int] = []
        self._taken = 0
        self._mine = threading.local()
        self._failures: list[BaseException] = []

    @contextlib.contextmanager
    def locks(self) -> Iterator[None]:
        """Locks that are made meanwhile give way."""
        with mock.patch("threading.Lock", partial(Lock, self)):
            yield

    def run(self, *functions: Callable[[], object]) -> None:
        """Run functions side by side until all have ended; what the first of them raised."""
        self._runs = list(range(len(functions)))
        with mock.patch("threading.Lock", _LOCK):  # what makes turns does not take them
            self._turns = [threading.Semaphore(0) for _ in functions]
            threads = [
                threading.Thread(target=self._thread, args=(number, each), daemon=True)
                for number, each in enumerate(functions)
            ]
            for each in threads:
                each.start()
        self._turns[self.random.choice(self._runs)].release()
        for each in threads:
            each.join()
        if self._failures:
            raise self._failures[0]

    @property
    def alone(self) -> bool:
        """Whether no other thread runs any more."""
        return len(self._runs) == 1

    def turn(self, *, gives_way: bool = False) -> None:
        """Perhaps let another thread go on; surely, if this one has to wait."""
        number = getattr(self._mine, "number", None)
        if number is None:  # before and after the threads
            return
        self._taken += 1
        if self._taken > MOST_TURNS or (gives_way and self.alone):
            raise StuckError("waits for ever")
        others = [each for each in self._runs if each != number]
        if others and (gives_way or self.random.random() < self._rate):
            self._turns[self.random.choice(others)].release()
            self._turns[number].acquire()

    def _thread(self, number: int, function: Callable[[], object]) -> None:
        self._turns[number].acquire()
        self._mine.number = number
        sys.settrace(self._trace)
        try:
            function()
        except BaseException as error:  # noqa: BLE001  (raised again by run)
            self._failures.append(error)
        finally:
            sys.settrace(None)
            self._runs.remove(number)
            if self._runs:
                self._turns[self.random.choice(self._runs)].release()

    def _trace(self, frame: FrameType, _event: str, _argument: object) -> Callable | None:
        if frame.f_code.co_filename not in self._files:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, _frame: FrameType, event: str, _argument: object) -> Callable:
        if event == "opcode":
            self.turn()
        return self._step


class Handle:
    """What a loop was asked to call."""

    def __init__(self, when: float, fn: Callable[..., object], args: tuple[object, ...]) -> None:
        self.when, self._fn, self._args, self._cancelled = when, fn, args, False

    def cancel(self) -> None:
        self._cancelled = True

    def run(self) -> None:
        if not self._cancelled:
            self._fn(*self._args)


class Loop:
    """An event loop whose passes a test makes, and whose clock a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._soon: deque[Handle] = deque()
        self._later: list[Handle] = []
        self._readers: dict[int, Handle] = {}
        self._writers: dict[int, Handle] = {}

    def time(self) -> float:
        return self.now

    def is_closed(self) -> bool:
        return False

    def call_soon(self, fn: Callable[..., object], *args: object) -> Handle:
        self._soon.append(handle := Handle(self.now, fn, args))
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, seconds: float, fn: Callable[..., object], *args: object) -> Handle:
        self._later.append(handle := Handle(self.now + seconds, fn, args))
        return handle

    def add_reader(self, fd: int, fn: Callable[..., object], *args: object) -> None:
        self._readers[fd] = Handle(0, fn, args)

    def add_writer(self, fd: int, fn: Callable[..., object], *args: object) -> None:
        self._writers[fd] = Handle(0, fn, args)

    def remove_reader(self, fd: int) -> None:
        if (handle := self._readers.pop(fd, None)) is not None:
            handle.cancel()

    def remove_writer(self, fd: int) -> None:
        if (handle := self._writers.pop(fd, None)) is not None:
            handle.cancel()

    def turn(self) -> None:
        """One pass: what was to be called soon, what is due, what can be read and written."""
        due = [each for each in self._later if each.when <= self.now]
        self._later = [each for each in self._later if each.when > self.now]
        soon = [self._soon.popleft() for _ in range(len(self._soon))]
        for each in (*soon, *due, *self._readers.values(), *self._writers.values()):
            each.run()
