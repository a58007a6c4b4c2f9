"""Stream ids of one connection: each request in flight has one, and answers carry it back."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

from ..implementation import hand_over
from .errors import ConnectionBusy

#: Stream ids are signed 16-bit numbers and negative ones belong to the server (v4, section 2.3).
MOST_STREAMS: Final = 2**15

_BLOCK: Final = 128


class StreamIds:
    """The ids that nobody uses; taken and given back from any thread.

    ``take`` and ``free.append`` are single operations of a deque, which need no lock. The id that
    has been free for longest is taken first: a second answer of a server that errs, or a late one,
    then meets nobody rather than the next request. The first ids are one block, so that a
    connection with few requests uses few ids all the same.

    Attributes:
        free: the ids to take; append one to give it back.
        limit: how many there are at most.
        endpoint: for the error's message.
    """

    __slots__ = ("_lock", "_made", "endpoint", "free", "limit")

    def __init__(self, limit: int = MOST_STREAMS, endpoint: object = None) -> None:
        """Begin with all ids free, 0 to ``limit - 1``.

        Raises:
            ValueError: the limit is not within 1 and ``MOST_STREAMS``.
        """
        if not 1 <= limit <= MOST_STREAMS:
            raise ValueError(f"a connection has 1 to {MOST_STREAMS} streams, not {limit}")
        self.limit = limit
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._made = 0
        self.free: deque[int] = deque()

    def take(self) -> int:
        """An id that nobody uses.

        Raises:
            ConnectionBusy: all are in use.
        """
        try:
            return self.free.popleft()
        except IndexError:
            return self._take_new()

    def _take_new(self) -> int:
        """Make more ids, a block at a time: most connections never need all of them."""
        with self._lock:
            first = self._made
            if first < self.limit:
                self._made = min(first + _BLOCK, self.limit)
                self.free.extend(range(first + 1, self._made))
                return first
        try:
            # Another thread may have given one back, or made a block just before.
            return self.free.popleft()
        except IndexError:
            raise ConnectionBusy(
                f"{self.limit} requests wait for an answer from {self.endpoint}", self.endpoint
            ) from None

    @property
    def taken(self) -> int:
        """How many ids are in use."""
        return self._made - len(self.free)


hand_over(globals())
