"""What a request asks of its session and of the cluster behind it, which are of a layer above.

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

    from ..net.connection import Connection
    from ..net.timers import Timers
    from ..policies.load_balancing import LoadBalancingPolicy
    from ..pool.host_pool import HostPool
    from ..results.rows import RowFactory
    from ..statements.base import Statement
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from ..topology.metadata import Metadata
    from .listeners import RequestEvent
    from .metrics import Metrics
    from .options import Options
    from .request import Preparing


class Cluster(Protocol):
    """What is shared by sessions."""

    @property
    def metadata(self) -> Metadata:
        """The cluster as it is known."""

    @property
    def protocol_version(self) -> int:
        """Version of its connections."""

    @property
    def sends_tablets(self) -> bool:
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

    @property
    def preparing(self) -> dict[tuple[Host, bytes], Preparing]:
        """What hosts are asked to prepare again, by host and id. The loop's thread.

        Of a session, since names in a statement are relative to the keyspace of its connections.
        """

    def with_row_factory(self, options: Options, row_factory: RowFactory) -> Options:
        """Options with another shape of rows. Any thread."""

    def query_plan(
        self,
        query: Statement | None,
        load_balancer: LoadBalancingPolicy | None = None,
        host: Host | None = None,
        keyspace: str | None = None,
    ) -> Iterator[Host]:
        """Hosts to try, one after the other; only the given host if there is one.

        A statement without a keyspace is in the given one, or in that of the session.

        Called on the calling thread; the iterator is advanced there first, then on the loop's.
        """

    def pool_for(self, host: Host) -> HostPool | None:
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
