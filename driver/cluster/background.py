"""Background work: tasks of one event loop, started from any thread; none is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

_Value = TypeVar("_Value")

log = logging.getLogger(__name__)


class Background:
    """The tasks that a cluster has running on its loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have none yet."""
        self._loop = loop
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    def spawn(self, work: Callable[..., Coroutine[Any, Any, Any]], *args: object) -> None:
        """Start ``work(*args)`` soon; from any thread. What it raises is logged.

        After ``close`` nothing is started any more: there is no cluster left to work on.
        """
        if self._is_closed:
            return
        try:
            on_the_loop = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            on_the_loop = False
        if on_the_loop:
            self.start(work(*args))
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed, and the cluster with it
                self._loop.call_soon_threadsafe(self.spawn, work, *args)

    def start(
        self, work: Coroutine[Any, Any, _Value], name: str | None = None
    ) -> asyncio.Task[_Value]:
        """Start a coroutine now, on the loop's thread, and return its task."""
        task = self._loop.create_task(work, name=name or getattr(work, "__qualname__", None))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def finish(self, work: Iterable[Coroutine[Any, Any, None]]) -> Coroutine[Any, Any, None]:
        """Start coroutines now; what is returned waits until all have ended.

        They go on if whoever waits is cancelled. Those of ``asyncio.gather`` would be cancelled as
        well, some of them before their first line.
        """
        return _all_ended([self.start(one) for one in work])

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("%s failed", task.get_name(), exc_info=task.exception())

    async def close(self) -> None:
        """Cancel what still runs, and wait until it has ended."""
        self._is_closed = True
        # What was not begun could not clean up either: it would be cancelled before its first line.
        await asyncio.sleep(0)
        current = asyncio.current_task()
        tasks = [task for task in self._tasks if task is not current]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def __len__(self) -> int:
        """How many run."""
        return len(self._tasks)


async def _all_ended(tasks: list[asyncio.Task[None]]) -> None:
    if tasks:
        await asyncio.wait(tasks)
