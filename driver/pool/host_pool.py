"""The pool of one host: lends its connections, one for each shard, and replaces lost ones.

Lending happens on any thread, without waiting and without a lock: it reads tuples that are replaced
as a whole. Everything else happens on the loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar

from ..implementation import hand_over
from ..net.errors import ConnectionBusy, ConnectionShutdown, NoConnectionsAvailable
from ..policies.reconnection import ExponentialReconnectionPolicy
from ..protocol.errors import AuthenticationFailed, InvalidRequest
from ..topology.sharding import shard_of
from .sharding import ShardOpener

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence

    from ..net.connection import Connection
    from ..policies.reconnection import ReconnectionPolicy
    from ..topology.endpoint import EndPoint
    from ..topology.host import Host
    from ..wire.features import ShardingInfo

    #: Takes the host of a pool and what went wrong with a connection to it.
    FailureCallback = Callable[[Host, Exception], object]

log = logging.getLogger(__name__)

#: Seconds: how soon lost connections are replaced, if replacing them does not help for long.
_RECONNECTION: Final = ExponentialReconnectionPolicy(0.25, 60.0, max_attempts=None)
#: Seconds that a connection has to live for its loss to be news.
_STEADY: Final = 30.0
#: Seconds before the next attempt after the node refused who we are: passwords are seldom mended
#: within seconds, and accounts may be locked.
_AFTER_REFUSAL: Final = 60.0
#: Seconds between two looks at a connection that drains.
_DRAIN_LOOK: Final = 0.01

_T = TypeVar("_T")


class PoolState(TypedDict):
    """The numbers of a pool; of connections, one each."""

    shutdown: bool
    open_count: int
    in_flights: list[int]
    orphan_requests: list[int]
    shards: list[int | None]
    missing: int


class HostPool:
    """The connections to one host.

    Args:
        loop: where everything but lending happens.
        host: whose connections.
        distance: of the host, as the policies say.
        connect: opens a connection: ``connect(endpoint, on_closed=..., local_port=...)``.
        connections_per_host: how many to keep to a host without shards; one with shards has one
            for each.
        on_failure: called with host and exception, on the loop's thread, for every connection that
            was lost and every attempt to replace one that failed.
        reconnection_policy: how long to wait before a lost connection is replaced, if the last
            replacement was not long ago; the first is replaced at once.
        drain_timeout: seconds that ``close`` waits for answers.

    Attributes:
        host: whose connections.
        host_distance: of the host.
        is_shutdown: nothing is lent any more.
        keyspace: what all connections use; None before the first ``set_keyspace``.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_all",
        "_by_shard",
        "_connect_to",
        "_connections",
        "_connections_per_host",
        "_delays",
        "_drain_timeout",
        "_loop",
        "_mended_at",
        "_mending",
        "_on_failure",
        "_policy",
        "_sharding",
        "_shards",
        "_tasks",
        "host",
        "host_distance",
        "is_shutdown",
        "keyspace",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        host: Host,
        distance: int,
        connect: Callable[..., Awaitable[Connection]],
        *,
        connections_per_host: int = 1,
        on_failure: FailureCallback | None = None,
        reconnection_policy: ReconnectionPolicy = _RECONNECTION,
        drain_timeout: float = 5.0,
    ) -> None:
        """Without a connection; :meth:`open` opens them."""
        self.host = host
        self.host_distance = distance
        self.is_shutdown = False
        self.keyspace: str | None = None
        self._loop = loop
        self._connect_to = connect
        self._connections_per_host = connections_per_host
        self._on_failure = on_failure
        self._policy = reconnection_policy
        self._drain_timeout = drain_timeout
        self._connections: tuple[Connection, ...] = ()
        self._sharding: ShardingInfo | None = None
        self._by_shard: tuple[tuple[Connection, ...], ...] = ()
        self._shards = ShardOpener(host.endpoint, self._connect)
        #: Whatever is open, lent or not: also what came while a task was being cancelled.
        self._all: set[Connection] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._mending: asyncio.Task[None] | None = None
        self._delays: Iterator[float] | None = None
        self._mended_at = 0.0

    # --- lending, on any thread -----------------------------------------------------------------

    def borrow_connection(
        self, routing_token: int | None = None, shard: int | None = None
    ) -> tuple[Connection, int]:
        """A connection with a free stream, and that stream.

        Args:
            routing_token: token of the partition, by which a node with shards is asked at the
                shard that owns it; None if unknown.
            shard: the shard that a tablet names; it goes before the token's.

        Returns:
            The least busy connection of that shard; of all, if the shard has none to lend.

        Raises:
            ConnectionShutdown: the pool is closed.
            NoConnectionsAvailable: no connection is open at the moment.
            ConnectionBusy: every stream waits for an answer.
        """
        connections = self._connections
        if self._by_shard and (shard is not None or routing_token is not None):
            of_shard = self._of_shard(routing_token, shard)
            if of_shard:
                try:
                    return _lend(of_shard)
                except (NoConnectionsAvailable, ConnectionBusy):
                    pass  # another shard will pass the request on
        if not connections:
            raise self._nothing_to_lend()
        return _lend(connections)

    def _of_shard(self, routing_token: int | None, shard: int | None) -> tuple[Connection, ...]:
        """The connections of a shard, given by number or by a token that it owns."""
        by_shard, sharding = self._by_shard, self._sharding
        if shard is None and sharding is not None and routing_token is not None:
            shard = shard_of(routing_token, sharding.shards_count, sharding.sharding_ignore_msb)
        return by_shard[shard] if shard is not None and shard < len(by_shard) else ()

    def return_connection(self, connection: Connection) -> None:
        """Take a connection back, whatever became of its request."""
        if connection.orphaned_request_ids and connection.orphaned_threshold_reached:
            self._loop.call_soon_threadsafe(self._replace_orphaned, connection)

    def _nothing_to_lend(self) -> Exception:
        if self.is_shutdown:
            return ConnectionShutdown(
                f"The pool of {self.host} is closed", self.host.endpoint, was_sent=False
            )
        return NoConnectionsAvailable(
            f"No connection to {self.host} is open at the moment", self.host.endpoint
        )

    # --- opening --------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the connections. One is enough; those that fail are tried again in the background.

        Raises:
            Exception: of the first connection.
        """
        try:
            first = await self._connect(self.host.endpoint)
            self._sharding = self.host.sharding_info = first.features.sharding_info
            self._add([first])
            error = await self._fill() if self._missing else None
        except BaseException:
            self._close_all()
            raise
        if error is not None:
            log.warning("Not all connections to %s could be opened: %s", self.host, error)
            self._mend()

    async def _connect(self, endpoint: EndPoint, local_port: int | None = None) -> Connection:
        """A connection that uses the pool's keyspace, if there still is one of that name."""
        connection = await self._connect_to(
            endpoint, on_closed=self._on_connection_closed, local_port=local_port
        )
        self._all.add(connection)
        try:
            await connection.use_keyspace(self.keyspace)
        except InvalidRequest as error:
            # It was dropped. That is for the requests to find out that need it, and no reason to be
            # without a connection.
            log.warning("A new connection to %s has no keyspace: %s", self.host, error)
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def _missing(self) -> int:
        """How many connections there should be in addition."""
        if self._sharding is not None and self._sharding.shards_count > 1:
            return self._sharding.shards_count - len(
                {c.features.shard_id for c in self._connections}
            )
        return self._connections_per_host - len(self._connections)

    async def _fill(self) -> Exception | None:
        """Open what is missing, side by side; what went wrong if something still is."""
        sharding = self._sharding
        if sharding is not None and sharding.shards_count > 1:
            is_encrypted = any(c.is_encrypted for c in self._connections)
            have = {connection.features.shard_id for connection in self._connections}
            found, error = await self._shards.open(
                sharding, set(range(sharding.shards_count)) - have, is_encrypted=is_encrypted
            )
        else:
            results = await asyncio.gather(
                *(self._connect(self.host.endpoint) for _ in range(self._missing)),
                return_exceptions=True,
            )
            found = [r for r in results if not isinstance(r, BaseException)]
            error = next((r for r in results if isinstance(r, Exception)), None)
        self._add(found)
        return error

    def _add(self, found: Sequence[Connection]) -> None:
        """Lend new connections from now on, unless the pool or they were closed meanwhile."""
        if self.is_shutdown:
            for connection in found:
                connection.close()
            return
        self._lend_from([*self._connections, *(c for c in found if not c.is_closed)])

    def _lend_from(self, connections: Sequence[Connection]) -> None:
        """Replace the tuples that lending reads."""
        self._connections = tuple(connections)
        count = self.shards_count
        if count > 1:
            self._by_shard = tuple(
                tuple(c for c in connections if c.features.shard_id == shard)
                for shard in range(count)
            )

    # --- replacing ------------------------------------------------------------------------------

    def _on_connection_closed(self, connection: Connection, error: Exception | None) -> None:
        """One of ours closed; another takes its place."""
        self._all.discard(connection)
        if connection not in self._connections:
            return
        self._lend_from([c for c in self._connections if c is not connection])
        if self.is_shutdown:
            return
        if error is not None:
            self._tell(error)
        self._mend()

    def _replace_orphaned(self, connection: Connection) -> None:
        """Lend a connection no more that has few streams left, and open another one."""
        if connection not in self._connections or self.is_shutdown:
            return
        log.warning(
            "%d requests to %s timed out and were not answered since: replacing the connection",
            len(connection.orphaned_request_ids),
            self.host,
        )
        self._lend_from([c for c in self._connections if c is not connection])
        self._spawn(self._drain(connection))
        self._mend()

    def _tell(self, error: Exception) -> None:
        """Say that a connection failed."""
        if self._on_failure is not None:
            self._on_failure(self.host, error)

    def _mend(self) -> None:
        """See to it that missing connections are opened, now and again until they are."""
        if self._mending is None and not self.is_shutdown:
            self._mending = self._spawn(self._open_missing())

    async def _open_missing(self) -> None:
        """Open what is missing, with longer and longer pauses."""
        now = time.monotonic()
        if self._delays is None or now - self._mended_at > _STEADY:
            self._delays = None
        try:
            while self._missing > 0:
                if self._delays is None:
                    self._delays = iter(self._policy.new_schedule())
                else:
                    delay = next(self._delays, None)
                    if delay is None:
                        return
                    await asyncio.sleep(delay)
                error = await self._fill()
                if error is None:
                    self._mended_at = time.monotonic()
                    continue
                self._tell(error)
                if isinstance(error, AuthenticationFailed):
                    await asyncio.sleep(_AFTER_REFUSAL)
        finally:
            self._mending = None

    def _spawn(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Run in the background until it is done or the pool is closed."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # --- all of them ----------------------------------------------------------------------------

    async def set_keyspace(self, keyspace: str) -> list[Exception]:
        """Have all connections use a keyspace, those that will be opened as well.

        Returns:
            What went wrong, an exception for each connection that does not use it.
        """
        self.keyspace = keyspace
        results = await asyncio.gather(
            *(connection.use_keyspace(keyspace) for connection in tuple(self._all)),
            return_exceptions=True,
        )
        return [result for result in results if isinstance(result, Exception)]

    async def close(self, patience: float = math.inf) -> None:
        """Lend nothing any more, wait for the answers that are on their way, and close.

        Requests that have no answer within ``drain_timeout`` get ConnectionShutdown.

        Args:
            patience: seconds without an answer after which the others are given up.
        """
        self.is_shutdown = True
        self._connections, self._by_shard = (), ()
        for task in self._tasks:
            task.cancel()
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.gather(*(self._drain(each, patience) for each in tuple(self._all)))
        finally:
            # Whoever waits here may be cancelled, and draining with it, even before it began.
            self._close_all()

    def _close_all(self) -> None:
        """Close everything that is open, at once; nothing takes its place."""
        self._connections, self._by_shard = (), ()
        for connection in tuple(self._all):
            connection.close()

    async def _drain(self, connection: Connection, patience: float = math.inf) -> None:
        """Close a connection once its requests are answered, or the time is over."""
        now = self._loop.time()
        until, heard, waiting = now + self._drain_timeout, now, connection.in_flight
        try:
            while not connection.is_closed and now < min(until, heard + patience):
                if connection.in_flight <= len(connection.orphaned_request_ids):
                    break
                await asyncio.sleep(min(_DRAIN_LOOK, patience))
                now = self._loop.time()
                if connection.in_flight != waiting:
                    heard, waiting = now, connection.in_flight
        finally:
            connection.close()

    # --- numbers --------------------------------------------------------------------------------

    @property
    def open_count(self) -> int:
        """How many connections can be lent."""
        return len(self._connections)

    @property
    def in_flight(self) -> int:
        """How many requests wait for an answer."""
        return sum(connection.in_flight for connection in self._connections)

    @property
    def shards_count(self) -> int:
        """How many shards the node has; 1 if it has no such thing."""
        return 1 if self._sharding is None else self._sharding.shards_count

    def get_state(self) -> PoolState:
        """The numbers of this moment, for logs and monitoring."""
        connections = self._connections
        return {
            "shutdown": self.is_shutdown,
            "open_count": len(connections),
            "in_flights": [connection.in_flight for connection in connections],
            "orphan_requests": [len(c.orphaned_request_ids) for c in connections],
            "shards": [connection.features.shard_id for connection in connections],
            "missing": max(self._missing, 0),
        }

    def __repr__(self) -> str:
        """The host, and how many connections there are."""
        state = ", closed" if self.is_shutdown else ""
        return f"<{type(self).__name__} of {self.host}: {self.open_count} open{state}>"


def _lend(connections: Sequence[Connection]) -> tuple[Connection, int]:
    """The least busy of some connections, with a stream.

    Raises:
        NoConnectionsAvailable: all of them are closed.
        ConnectionBusy: every stream waits for an answer.
    """
    connection = connections[0]
    if len(connections) > 1:
        connection = min(
            (c for c in connections if not c.is_closed), key=_in_flight, default=connection
        )
    if connection.is_closed:
        raise NoConnectionsAvailable(
            f"Connection to {connection.endpoint} is closed", connection.endpoint
        )
    return connection, connection.get_request_id()


def _in_flight(connection: Connection) -> int:
    return connection.in_flight


hand_over(globals())
