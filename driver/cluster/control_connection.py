"""The control connection: one connection over which the cluster is watched.

Over it the driver reads which nodes there are, which tokens they own and which schema they have,
and hears the server's events about all of that. When it is lost, another one is opened, to the same
node or to another, in the order of the default profile's policy; until that works it is tried again
as the reconnection policy says.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from ..net.errors import ConnectionException, ConnectionShutdown
from ..protocol.errors import NoHostAvailable, OperationTimedOut, UnresolvableContactPoints
from ..wire.features import NO_FEATURES
from .events import Events
from .node_list import NodeReader
from .node_refresh import NodeRefresh
from .reconnection import for_ever, new_schedule, try_again
from .schema_agreement import NodeSchema, check_scope, wait_for_schema_agreement
from .schema_refresh import read_schema
from .system_tables import SystemTables, time_limit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from ..net.connection import Connection
    from ..topology.host import Host
    from ..wire.features import ProtocolFeatures
    from .core import ClusterCore
    from .system_tables import Row

log = logging.getLogger(__name__)

#: A connection that lived shorter than this many seconds is not replaced at once, but as after a
#: failed attempt: a node that accepts and drops connections would keep us busy.
SHORT_LIFE = 1.0


#: Every row of ``system.local`` of ScyllaDB has this column, and none of Cassandra.
_SCYLLA_COLUMN = "supported_features"


class ControlConnection:
    """Watches a cluster. Everything is called, and runs, on the core's loop.

    Attributes:
        features: what the node that was connected to last announced in SUPPORTED.
        release_version: of the same node; None while unknown.
        is_scylla: whether it is ScyllaDB.
    """

    def __init__(self, core: ClusterCore) -> None:
        """Watch for a core; nothing is connected before ``connect``."""
        self.features: ProtocolFeatures = NO_FEATURES
        self.release_version: str | None = None
        self.is_scylla = False
        self._core = core
        self._nodes = NodeRefresh(core)
        self._events = Events(core, self)
        self._tables: SystemTables | None = None
        self._host: Host | None = None
        self._connected_at = 0.0
        self._reconnecting: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._nodes_lock = asyncio.Lock()
        self._schema_lock = asyncio.Lock()
        self._is_closed = False

    @property
    def connection(self) -> Connection | None:
        """The connection; None while there is none."""
        return self._tables.connection if self._tables else None

    @property
    def host(self) -> Host | None:
        """The host that it is connected to; None while there is none."""
        return self._host if self._tables else None

    # --- connecting ----------------------------------------------------------------------------

    async def connect(self) -> None:
        """Connect to the first host that answers, and read nodes and schema from it.

        Raises:
            NoHostAvailable: none does, with the reason of each, by endpoint.
        """
        self._core.hosts.watch(self._on_host_up, self._on_host_lost)
        await self._connect_to_one()

    async def _connect_to_one(self) -> None:
        errors: dict[object, Exception] = {}
        async with contextlib.aclosing(self._candidates()) as candidates:
            async for host in candidates:
                try:
                    await self._take(host)
                except Exception as error:  # noqa: BLE001  (whatever it was, the next host may do)
                    log.warning("No control connection to %s: %s", host, error)
                    errors[str(host.endpoint)] = error
                    if isinstance(error, ConnectionException):
                        self._core.hosts.signal_connection_failure(host, error)
                else:
                    return
        raise NoHostAvailable("no node could be connected to", errors)

    async def _candidates(self) -> AsyncGenerator[Host, None]:
        """Hosts in the order in which they are to be tried, each endpoint once.

        The contact points come after the plan: when all nodes have moved, they may know where. So
        may the name service, which is asked anew then.
        """
        tried = set()
        if self._core.is_open:
            for host in self._core.control_plan():
                if host.endpoint not in tried:
                    tried.add(host.endpoint)
                    yield host
            try:
                await self._core.resolve_contact_hosts()
            except UnresolvableContactPoints as error:
                log.warning("%s; trying the addresses that they had", error)
        for host in self._core.contact_hosts:
            if host.endpoint not in tried:
                tried.add(host.endpoint)
                yield host

    async def _take(self, host: Host) -> None:
        """Connect to a host and read everything from it; only then it is the control connection.

        Events are asked for first, so that no change falls between reading and listening.
        """
        connection = await self._core.connect_to(
            host.endpoint, on_event=self._events.on_event, on_closed=self._on_closed
        )
        try:
            timeout = self._core.options.control_connection_timeout
            tables = self._tables_of(connection)
            if event_types := self._events.wanted():
                await connection.register(event_types, timeout)
            self.features = connection.features
            await self._refresh_nodes(tables)
            if self._core.options.schema_metadata_enabled:
                await self._read_schema(tables)
            if connection.is_closed or self._is_closed:
                raise ConnectionShutdown("Closed meanwhile", host.endpoint)  # noqa: TRY301  (closed below)
        except BaseException:
            connection.close()
            raise
        self._tables = tables
        self._connected_at = asyncio.get_running_loop().time()
        log.info("The control connection is open, to %s", self._host)
        if self._host is not None and self._host.is_up is False:
            self._core.background.spawn(self._core.hosts.on_up, self._host)

    # --- losing it -----------------------------------------------------------------------------

    def _on_closed(self, connection: Connection, error: Exception | None) -> None:
        """A connection of ours is closed; one that was not yet, or no longer, used is no loss."""
        if connection is not self.connection:
            return
        lost, self._tables = self._host, None
        if self._is_closed:
            return
        log.warning("The control connection to %s is lost: %s", lost, error)
        if lost is not None and error is not None:
            self._core.hosts.signal_connection_failure(lost, error)
        if self._reconnecting is None:
            self._reconnecting = asyncio.get_running_loop().create_task(
                self._reconnect(), name="reconnect the control connection"
            )

    def _on_host_lost(self, host: Host) -> None:
        """A host went down or away, which a connection to it may take long to notice."""
        connection = self.connection
        if connection is not None and self._host is host:
            connection.defunct(
                ConnectionShutdown(f"{host} is down or left the cluster", host.endpoint)
            )

    def _on_host_up(self, _: Host) -> None:
        """A host went up: if nobody could be connected to, now somebody can."""
        self._hurry.set()

    async def _reconnect(self) -> None:
        error: Exception | None = None
        try:
            age = asyncio.get_running_loop().time() - self._connected_at
            if age >= SHORT_LIFE:
                try:
                    await self._connect_to_one()
                except NoHostAvailable as failed:
                    log.warning("The control connection is not replaced yet: %s", failed)
                    error = failed
                else:
                    return
            policy = self._core.options.reconnection_policy
            await try_again(
                for_ever(new_schedule(policy)),
                self._connect_to_one,
                "the control connection",
                error,
                self._hurry,
            )
        finally:
            self._reconnecting = None

    async def close(self) -> None:
        """End all work and close the connection. Does nothing the second time."""
        self._is_closed = True
        await self._events.close()
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            await asyncio.gather(self._reconnecting, return_exceptions=True)
        connection = self.connection
        self._tables = None
        if connection is not None:
            connection.close()

    # --- reading -------------------------------------------------------------------------------

    async def refresh_nodes(self, force_token_rebuild: bool = False) -> bool:
        """Read the nodes and their tokens; afterwards the metadata has these hosts and no others.

        Args:
            force_token_rebuild: build the ring anew even if nothing changed.

        Returns:
            True.

        Raises:
            ConnectionException: there is no control connection, or it failed meanwhile.
            OperationTimedOut: the node did not answer in time; the connection is given up then.
        """
        await self._refresh_nodes(self._in_use(), force_token_rebuild)
        return True

    async def refresh_node(self, host: Host) -> None:
        """Read what is new of one host; the others, and the ring, stay as they are.

        Raises:
            DriverException: as for ``refresh_nodes``.
        """
        tables = self._in_use()
        async with self._nodes_lock:
            with self._given_up_if_it_fails(tables):
                row = await tables.peer(host)
            if row is not None:
                node = await self._reader().node(row)
                if node is not None:
                    self._nodes.apply_one(host, node)

    async def refresh_schema(
        self,
        *,
        connection: Connection | None = None,
        target_type: str | None = None,
        schema_agreement_wait: float | None = None,
        force: bool = False,
        **target: object,
    ) -> bool:
        """Wait until the nodes agree on the schema, then read it, or the part that changed.

        If they do not agree in time, it is read all the same: what one node has is nearer to the
        truth than what was read before.

        Args:
            connection: where the change was made, which is asked for its nodes' schema versions;
                by default the control connection.
            target_type: which kind of thing to read; None for everything.
            schema_agreement_wait: seconds; by default the options'.
            force: read it even if the options switch that off.
            target: which thing, as in a SCHEMA_CHANGE: ``keyspace`` and ``table``, ``type``,
                ``function`` or ``aggregate``.

        Returns:
            Whether the nodes agree. Where ``force`` asks for the schema, True: it was read.

        Raises:
            ConnectionException: there is no control connection, or it failed meanwhile.
            OperationTimedOut: the node did not answer in time; the connection is given up then.
        """
        agreed = await self.wait_for_schema_agreement(schema_agreement_wait, connection=connection)
        self._core.schema_changes += 1
        if force or self._core.options.schema_metadata_enabled:
            await self._read_schema(self._in_use(), target_type=target_type, **target)
        return agreed or force

    async def wait_for_schema_agreement(
        self,
        wait_time: float | None = None,
        scope: str = "cluster",
        *,
        connection: Connection | None = None,
    ) -> bool:
        """Wait until the nodes have the same schema.

        Args:
            wait_time: seconds; by default ``max_schema_agreement_wait`` of the options.
            scope: ``cluster``, ``dc`` or ``rack``, around the node that is asked. Of the nodes in
                it those count that are up.
            connection: who is asked; by default the node of the control connection.

        Returns:
            Whether they have.

        Raises:
            ValueError: there is no such scope; nothing was asked then.
            ConnectionException: there is no connection, or it failed meanwhile.
        """
        check_scope(scope)
        if wait_time is None:
            wait_time = self._core.options.max_schema_agreement_wait
        if wait_time <= 0:
            return True
        tables = self._in_use()
        if connection is not None and not connection.is_closed:
            tables = self._tables_of(connection)
        return await wait_for_schema_agreement(lambda: self._ask_versions(tables), wait_time, scope)

    # --- how -----------------------------------------------------------------------------------

    async def _refresh_nodes(self, tables: SystemTables, force_token_rebuild: bool = False) -> None:
        # One at a time, or the older of two lists could be the one that stays.
        async with self._nodes_lock:
            with self._given_up_if_it_fails(tables):
                local, peers = await tables.nodes(self._core.options.token_metadata_enabled)
                self.is_scylla = self.features != NO_FEATURES or _SCYLLA_COLUMN in (local or {})
                endpoint = tables.connection.endpoint
                nodes = await self._reader().node_list(local, peers, endpoint)
                if nodes.local_host_id not in nodes.nodes:
                    raise ConnectionException(f"{endpoint} does not describe itself", endpoint)
            self.release_version = nodes.release_version
            await self._nodes.apply(nodes, force_token_rebuild)
            self._host = self._core.metadata.get_host_by_host_id(nodes.local_host_id)

    def _reader(self) -> NodeReader:
        return NodeReader(self._core.options.endpoint_factory, tokens_required=not self.is_scylla)

    async def _read_schema(self, tables: SystemTables, **target: Any) -> None:  # noqa: ANN401  (names of parts)
        async with self._schema_lock:
            with self._given_up_if_it_fails(tables):
                await read_schema(
                    self._core.metadata,
                    tables.ask,
                    self.release_version,
                    self._core.placement.place_ahead,
                    **target,
                )

    async def _ask_versions(self, tables: SystemTables) -> list[NodeSchema]:
        local, peers = await tables.schema_versions()
        return [self._node_schema(row) for row in ([local, *peers] if local else peers)]

    def _node_schema(self, row: Row) -> NodeSchema:
        host = self._core.metadata.get_host_by_host_id(row["host_id"])
        return NodeSchema(
            row["schema_version"],
            row["data_center"],
            row["rack"],
            host is not None and host.is_up is True,
            str(host or row["host_id"]),
        )

    def _tables_of(self, connection: Connection) -> SystemTables:
        options = self._core.options
        limit = options.metadata_request_timeout
        if limit is None:
            limit = options.control_connection_timeout
        return SystemTables(
            connection,
            options.control_connection_timeout,
            time_limit(limit) if connection.features.sharding_info else "",
            options.schema_metadata_page_size,
        )

    def _in_use(self) -> SystemTables:
        """The tables of the node of the control connection.

        Raises:
            ConnectionShutdown: there is no control connection.
        """
        if self._tables is None:
            raise ConnectionShutdown("There is no control connection at the moment", was_sent=False)
        return self._tables

    @contextlib.contextmanager
    def _given_up_if_it_fails(self, tables: SystemTables) -> Iterator[None]:
        """Have another connection opened if a node cannot answer questions over this one."""
        try:
            yield
        except (ConnectionException, OperationTimedOut) as error:
            if tables is self._tables:
                tables.connection.defunct(error)
            raise
