"""What a request waits for: answers, delays, and what has to be done before it may end.

A request is alive as long as it waits for something. What ends it gives up the rest, on the loop's
thread, after all of the sending: so what is removed from the set of things waited for is the one
that counts, and everything else comes too late and is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..net.contract import Connection
    from ..topology.host import Host
    from .contract import Pool, Timer
    from .request import RequestExecution


class Pending(Protocol):
    """Something that a request waits for."""

    def give_up(self) -> None:
        """Nobody waits for it any more. The loop's thread."""


class Attempt:
    """A message on its way to a host, and back: what the connection calls with the answer.

    One object for all that a request has on the way: what it waits for, and what wakes it. It is
    of one sending; a retry and a speculative execution have their own.

    Attributes:
        request: what waits.
        host: who shall answer.
        connection: what carries it.
        pool: where the connection was borrowed.
        stream: which stream of the connection is taken.
        callback: takes host, connection, pool and the answer; None for the request itself.
    """

    __slots__ = ("callback", "connection", "host", "pool", "request", "stream")

    def __init__(
        self,
        request: RequestExecution,
        host: Host,
        connection: Connection,
        pool: Pool,
        stream: int,
        callback: Callable[[Host, Connection, Pool, Any], object] | None,
    ) -> None:
        """Describe what is about to be sent."""
        self.request = request
        self.host = host
        self.connection = connection
        self.pool = pool
        self.stream = stream
        self.callback = callback

    def __call__(self, response: object) -> None:
        """Hand the answer on, unless it was given up."""
        self.request._answered(self, response)  # noqa: SLF001  (its other half)

    def give_up(self) -> None:
        """Leave the stream to its late answer, and give the connection back."""
        self.connection.abandon(self.stream)
        self.pool.return_connection(self.connection)


class Delay:
    """A retry that waits for its time.

    Attributes:
        timer: what will wake it.
    """

    __slots__ = ("timer",)

    timer: Timer

    def give_up(self) -> None:
        """Do not wake."""
        self.timer.cancel()


class FollowUp:
    """Work that an answer asked for and that comes before the end, such as a new schema."""

    __slots__ = ()

    def give_up(self) -> None:
        """Let the work go on: it is for everybody."""
