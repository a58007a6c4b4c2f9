"""What a request asks of the session that made it, of its pools, and of the cluster behind them.

Threads. Everything of the driver happens on the thread of one event loop ("the loop's thread"),
but for the first sending of a request, or of its next page, which happens on whichever thread asks
for it ("the calling thread"). In ``driver.aio`` they are the same. Each method says where it is
called; where it says "any", both may call it, also at the same time.

A connection that was borrowed is given back exactly once, by ``return_connection``, whatever became
of its stream::

    borrow_connection -> send_msg -> answer, or exception            -> return_connection
    borrow_connection -> send_msg raises -> release_request_id       -> return_connection
    borrow_connection -> send_msg -> nobody waits any more: abandon  -> return_connection
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..net.contract import Connection
    from ..results.rows import RowFactory
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from ..topology.metadata import Metadata
    from .listeners import RequestEvent
    from .metrics import Metrics


class Timer(Protocol):
    """One call that is due later."""

    def cancel(self) -> None:
        """Do not call. Any thread; a second time, and after the call, it does nothing."""


class Timers(Protocol):
    """Calls functions later; ``driver.net.timers`` holds the real one."""

    def call_later(self, seconds: float, fn: Callable[[], object], /) -> Timer:
        """Call a function once, on the loop's thread, not before so many seconds. Any thread."""


class Pool(Protocol):
    """Lends the connections to one host."""

    @property
    def host(self) -> Host:
        """Whose connections these are."""

    @property
    def is_shutdown(self) -> bool:
        """Whether it lends nothing any more. Any thread."""

    def borrow_connection(
        self, routing_token: int | None = None, shard: int | None = None
    ) -> tuple[Connection, int]:
        """A connection with a free stream, and that stream. Any thread; it never waits.

        Args:
            routing_token: token of the partition, for a node that has shards; None if unknown.
            shard: the shard that a tablet names; it goes before the token's.

        Raises:
            ConnectionException: every stream is taken, or there is no connection (any more).
        """

    def return_connection(self, connection: Connection) -> None:
        """Take a connection back: once for each time that it was borrowed. Any thread."""


class Cluster(Protocol):
    """What is shared by sessions."""

    @property
    def metadata(self) -> Metadata:
        """The cluster as it is known."""

    @property
    def protocol_version(self) -> int:
        """Version of its connections."""

    @property
    def tablets_routing_v1(self) -> bool:
        """Whether its servers send tablets."""

    @property
    def prepared_statements(self) -> Mapping[bytes, PreparedStatement]:
        """By the server's id."""

    def schema_changed(
        self,
        connection: Connection,
        event: Mapping[str, Any],
        done: Callable[[bool], None],
    ) -> None:
        """Take over a schema change that a request made. The loop's thread; it must not wait.

        Args:
            connection: where the change was answered.
            event: fields of the SCHEMA_CHANGE (``driver.wire.responses.schema_change``).
            done: to be called once, on the loop's thread, at once or later: with whether all hosts
                agree on the schema. Failing to refresh means calling it with False.
        """


class Session(Protocol):
    """What sends requests for its user."""

    @property
    def cluster(self) -> Cluster:
        """The cluster that it belongs to."""

    @property
    def keyspace(self) -> str | None:
        """The keyspace in use; None before the first USE."""

    @property
    def row_factory(self) -> RowFactory:
        """Default shape of rows."""

    @property
    def loop(self) -> AbstractEventLoop | None:
        """The event loop; None for a session that answers on the calling thread."""

    @property
    def timers(self) -> Timers:
        """What wakes requests: time-outs, speculative executions, delayed retries."""

    @property
    def metrics(self) -> Metrics | None:
        """Where requests are counted; None counts nothing."""

    @property
    def request_listeners(self) -> Sequence[Callable[[RequestEvent], object]]:
        """Called with each request before its first page is asked for, on the calling thread."""

    def query_plan(
        self,
        query: Any,  # noqa: ANN401  (a statement, or None for a message of the driver's own)
        load_balancer: Any = None,  # noqa: ANN401  (a load balancing policy, or None for the session's)
        host: Host | None = None,
        keyspace: str | None = None,
    ) -> Iterator[Host]:
        """Hosts to try, one after the other; only the given host if there is one.

        A statement without a keyspace is in the given one, or in that of the session.

        Called on the calling thread; the iterator is advanced there first, then on the loop's.
        """

    def pool_for(self, host: Host) -> Pool | None:
        """The connections to a host; None if there are none: it is down, or ignored. Any thread."""

    def set_keyspace_for_all_pools(
        self, keyspace: str, callback: Callable[[Mapping[Any, Any]], None]
    ) -> None:
        """Use a keyspace on all connections. The loop's thread; it must not wait.

        Args:
            keyspace: its name, as SET_KEYSPACE gave it.
            callback: to be called once, on the loop's thread, at once or later: with the errors of
                every host that failed (host -> errors); empty if none did.
        """
