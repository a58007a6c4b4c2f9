"""Event loops: which kind, and a thread that runs one for callers that have none."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import weakref
from concurrent.futures import CancelledError
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from .fork import ForkedError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

log = logging.getLogger(__name__)

_T = TypeVar("_T")

#: Seconds that a thread waits before it looks around.
SLICE = 0.5
#: Loops that threads of the driver run, so that other threads wait for what they do.
_own: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()


def new_event_loop() -> asyncio.AbstractEventLoop:
    """An event loop of uvloop if that is installed, else asyncio's own."""
    try:
        uvloop = import_module("uvloop")
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def is_own(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a ``LoopThread`` runs a loop, and no application."""
    return loop in _own


def call_on_loop(
    loop: asyncio.AbstractEventLoop, thread: int, fn: Callable[..., None], *args: object
) -> None:
    """Call a function on a loop's thread: now if this is it, else soon.

    Args:
        loop: where to. If it is closed, nobody is there any more: the function is called here.
        thread: identifier of the loop's thread.
        fn: what to call.
        args: of the function.
    """
    if threading.get_ident() == thread:
        fn(*args)
        return
    try:
        loop.call_soon_threadsafe(fn, *args)
    except RuntimeError:
        fn(*args)


def outlive(error: BaseException) -> None:
    """Keep what the application's code raised from the loop's other work; somebody heard of it.

    On threads of the driver everything ends here. What wants to end the program and was raised on
    the main thread goes on: to the loop that runs there, after what it has to do in this pass.

    Raises:
        BaseException: no loop runs on the main thread, so the caller hears of it.
    """
    if isinstance(error, Exception) or threading.current_thread() is not threading.main_thread():
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise error from None
    loop.call_soon(_raise, error)


def _raise(error: BaseException) -> NoReturn:
    raise error


def _wait(future: Future[_T], timeout: float | None) -> _T:
    """The result of a future, with a look around every now and then.

    A signal that arrives in the moment before a thread begins to wait does not end the waiting.

    Raises:
        TimeoutError: it took longer.
    """
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        left = SLICE if until is None else min(SLICE, until - time.monotonic())
        try:
            return future.result(max(left, 0))
        except TimeoutError:
            if future.done() or (until is not None and time.monotonic() >= until):
                raise


class LoopThread:
    """A daemon thread that runs an event loop, and the way into it from other threads.

    Attributes:
        name: of the thread.
    """

    def __init__(self, name: str = "driver-loop") -> None:
        """Nothing runs before ``start``."""
        self.name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ends = threading.Event()
        self._pid = 0

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop.

        Raises:
            RuntimeError: it does not run.
            ForkedError: it runs in the process that this one was forked from.
        """
        if self._loop is None:
            raise RuntimeError(f"the event loop of {self.name!r} does not run")
        if self.is_inherited:
            raise ForkedError
        return self._loop

    def start(self) -> None:
        """Start the thread; nothing if it runs."""
        if self._thread is not None:
            return
        self._pid = os.getpid()
        self._loop = loop = new_event_loop()
        _own.add(loop)
        runs, self._ends = threading.Event(), threading.Event()
        loop.call_soon(runs.set)
        self._thread = threading.Thread(
            target=self._run, args=(loop, self._ends), name=self.name, daemon=True
        )
        self._thread.start()
        runs.wait()

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop, ends: threading.Event) -> None:
        """Run until stopped, whatever is raised; then cancel what is left and close."""
        asyncio.set_event_loop(loop)
        try:
            while not ends.is_set():
                try:
                    loop.run_forever()
                except BaseException:
                    # SystemExit, say. Everybody waits for this thread: it goes on with the rest.
                    log.exception("Something tried to end an event loop of the driver")
        finally:
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            asyncio.set_event_loop(None)
            loop.close()

    @property
    def is_inherited(self) -> bool:
        """Whether it runs in the process that this one was forked from."""
        return self._pid != os.getpid()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on the loop's thread."""
        return threading.current_thread() is self._thread and not self.is_inherited

    def run(self, coro: Coroutine[Any, Any, _T], timeout: float | None = None) -> _T:
        """Run a coroutine on the loop and wait for its value.

        Args:
            coro: what to run.
            timeout: seconds to wait; None waits for ever. What takes longer is cancelled.

        Raises:
            RuntimeError: called on the loop's own thread, which would wait for itself; or the
                loop does not run.
            TimeoutError: it took longer.
            BaseException: what the coroutine raises; Ctrl-C cancels it.
        """
        try:
            future = asyncio.run_coroutine_threadsafe(coro, self._loop_to_wait_for())
        except RuntimeError:
            coro.close()
            raise
        try:
            return _wait(future, timeout)
        except CancelledError:
            raise RuntimeError(f"the event loop of {self.name!r} was stopped") from None
        finally:
            future.cancel()

    def _loop_to_wait_for(self) -> asyncio.AbstractEventLoop:
        """The loop, for a thread that may wait for it."""
        if self.is_current:
            raise RuntimeError(
                f"a callback on the event loop of {self.name!r} must not wait for a result: "
                "it would wait for itself"
            )
        return self.loop

    def stop(self) -> None:
        """Cancel what runs, close the loop and wait for the thread; nothing if it does not run."""
        thread, loop, self._thread, self._loop = self._thread, self._loop, None, None
        if thread is None or loop is None or self.is_inherited:
            return
        self._ends.set()
        loop.call_soon_threadsafe(loop.stop)
        if threading.current_thread() is not thread:
            thread.join()
