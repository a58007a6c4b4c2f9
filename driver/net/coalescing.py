"""Coalescing: what is written within one iteration of the loop is handed on together.

What an answer leads to is written at the end of its read, and need not wait for the next iteration.
"""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING

from .after_read import call_after_read

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


class WriteCoalescer:
    """Bytes that wait for the end of the loop's iteration; for the loop's thread only."""

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
