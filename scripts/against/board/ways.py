"""The three ways of having many requests in flight: threads that wait, futures, tasks that await.

Each runs requests and gives the seconds that each took, from the call to the moment when the
program has its rows; answers can be kept, to look at them.
"""

# ruff: noqa: ANN401  (objects of whichever driver)

from __future__ import annotations

import asyncio
import threading
from collections import deque
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, Protocol

from . import cases, clients

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Kept = list[tuple[tuple[Any, ...], list[Any]]]
    Keep = Callable[[tuple[tuple[Any, ...], list[Any]]], Any]

#: Bytes of the stack of a thread, since there may be 1,024 of them.
STACK = 256 * 1024
#: Seconds between looks at requests that are held.
PAUSE = 0.5


class Way(Protocol):
    """A connected client, and how it asks."""

    client: Any

    def run(self, text: str) -> None:
        """Execute a text."""

    def prepare(self, kind: str) -> Any:
        """A statement of `cases.TEXTS`."""

    def ask(self, statement: Any, bound: Iterable[Any], flying: int, keep: Keep | None) -> Asking:
        """Get ready to send all requests, so many at once."""

    def hold(self, statement: Any, bound: Iterable[Any], look: Callable[[], bool]) -> None:
        """Start all requests, which nobody answers, and look at them until that is enough.

        The process ends with the last look: not every client can be closed with them in flight.
        """

    def close(self) -> None:
        """Disconnect."""


class Asking(Protocol):
    """Requests that are about to be sent."""

    def __call__(self) -> list[float]:
        """Send them; the seconds that each took."""


class Threads:
    """As many threads as requests in flight, each waiting for its own."""

    def __init__(self, driver: str, host: str, port: int) -> None:
        """Connect."""
        threading.stack_size(STACK)
        self.client = clients.BLOCKING[driver](host, port)
        self.run, self.close = self.client.run, self.client.close

    def prepare(self, kind: str) -> Any:
        """As `Way` says."""
        return self.client.prepare(kind, cases.TEXTS[kind])

    def ask(self, statement: Any, bound: Iterable[Any], flying: int, keep: Keep | None) -> Asking:
        """As `Way` says; one request in flight needs no thread."""
        request, take = statement
        rest, found, failed = iter(bound), [], []

        def work() -> None:
            mine: list[float] = []
            try:
                for values in _shared(rest, lock):
                    began = perf_counter()
                    rows = take(request(values))
                    mine.append(perf_counter() - began)
                    if keep:
                        keep((values, rows))
            except Exception as error:  # noqa: BLE001  (of whichever driver)
                failed.append(error)
            found.extend(mine)

        lock, go = threading.Lock(), threading.Event()
        if flying == 1:
            threads = []
        else:
            threads = [threading.Thread(target=lambda: (go.wait(), work())) for _ in range(flying)]
        for thread in threads:
            thread.start()

        def run() -> list[float]:
            go.set()
            if not threads:
                work()
            for thread in threads:
                thread.join()
            if failed:
                raise failed[0]
            return found

        return run


def _shared(rest: Iterator[Any], lock: threading.Lock) -> Iterator[Any]:
    """What is left of an iterator that threads share."""
    while True:
        with lock:
            values = next(rest, None)
        if values is None:
            return
        yield values


class Futures(Threads):
    """One thread that starts requests and waits for the oldest when enough are in flight."""

    def prepare(self, kind: str) -> Any:
        """As `Way` says."""
        return self.client.start(kind, cases.TEXTS[kind])

    def ask(self, statement: Any, bound: Iterable[Any], flying: int, keep: Keep | None) -> Asking:
        """As `Way` says."""
        start, take = statement

        def run() -> list[float]:
            found: list[float] = []
            waiting: deque[tuple[Any, float, Any]] = deque()

            def finish() -> None:
                values, began, future = waiting.popleft()
                rows = take(future.result())
                found.append(perf_counter() - began)
                if keep:
                    keep((values, rows))

            for values in bound:
                if len(waiting) == flying:
                    finish()
                waiting.append((values, perf_counter(), start(values)))
            while waiting:
                finish()
            return found

        return run

    def hold(self, statement: Any, bound: Iterable[Any], look: Callable[[], bool]) -> None:
        """As `Way` says."""
        start, _ = statement
        futures = [start(values) for values in bound]
        while futures and look():
            sleep(PAUSE)


class Tasks:
    """As many tasks of one event loop as requests in flight, each awaiting its own."""

    def __init__(self, driver: str, host: str, port: int) -> None:
        """Connect, on a loop that lives as long as the client."""
        self._runner = asyncio.Runner()
        self.client = clients.AWAITED[driver]()
        self._runner.run(self.client.connect(host, port))

    def run(self, text: str) -> None:
        """As `Way` says."""
        self._runner.run(self.client.run(text))

    def prepare(self, kind: str) -> Any:
        """As `Way` says."""
        return self._runner.run(self.client.prepare(kind, cases.TEXTS[kind]))

    def ask(self, statement: Any, bound: Iterable[Any], flying: int, keep: Keep | None) -> Asking:
        """As `Way` says."""
        request, take = statement
        rest, found = iter(bound), []

        async def work() -> None:
            for values in rest:
                began = perf_counter()
                rows = take(await request(values))
                found.append(perf_counter() - began)
                if keep:
                    keep((values, rows))

        async def all_of_them() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(flying):
                    group.create_task(work())

        def run() -> list[float]:
            try:
                self._runner.run(all_of_them())
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
            return found

        return run

    def hold(self, statement: Any, bound: Iterable[Any], look: Callable[[], bool]) -> None:
        """As `Way` says."""
        request, _ = statement

        async def one(values: tuple[Any, ...]) -> Any:
            return await request(values)

        async def all_of_them() -> None:
            tasks = [asyncio.create_task(one(values)) for values in bound]
            await asyncio.sleep(PAUSE)  # none has run before
            while tasks and look():  # noqa: ASYNC110  (memory tells nobody when it grows)
                await asyncio.sleep(PAUSE)

        self._runner.run(all_of_them())

    def close(self) -> None:
        """As `Way` says."""

        async def closed() -> None:
            await self.client.close()

        self._runner.run(closed())
        self._runner.close()


WAYS = {"threads": Threads, "futures": Futures, "asyncio": Tasks}
