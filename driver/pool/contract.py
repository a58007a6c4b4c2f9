"""What a pool asks of its connections, and of who opens them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..net.contract import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..topology.endpoint import EndPoint
    from ..topology.host import Host

    #: Takes the connection that closed, and what went wrong, if something did.
    ClosedCallback = Callable[[Connection, Exception | None], None]
    #: Takes the host of a pool and what went wrong with a connection to it.
    FailureCallback = Callable[[Host, Exception], object]


class PooledConnection(Connection, Protocol):
    """A connection that a pool keeps, beyond what requests ask of it."""

    @property
    def is_encrypted(self) -> bool:
        """Whether it speaks TLS."""

    async def use_keyspace(self, keyspace: str | None) -> None:
        """Use a keyspace.

        Raises:
            Exception: it cannot.
        """

    def close(self) -> None:
        """Close it; requests without an answer get ConnectionShutdown."""


class Connect(Protocol):
    """Opens a connection to an endpoint."""

    async def __call__(
        self,
        endpoint: EndPoint,
        *,
        on_closed: ClosedCallback,
        local_port: int | None = None,
    ) -> PooledConnection:
        """Connect, from a source port if one is given; ``on_closed`` is called once, later.

        Raises:
            DriverException: it cannot connect.
        """
