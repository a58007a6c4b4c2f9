"""The core of a cluster: what its sessions share, on one event loop, without threads of its own.

``Cluster`` (for threads) and ``aio.Cluster`` hand on to this; it composes

==================  ============================================================================
options             what was asked for
metadata            hosts, keyspaces, ring and tablets as they are known
profile_manager     execution profiles; tells all their load balancing policies of hosts
control_connection  finds hosts and schema, hears the server's events
hosts               what happens when a host comes, goes, fails or answers again
prepared            the statements that are prepared, and preparing them again
listeners           who else wants to hear of hosts
sessions            their pools
background          the tasks that run meanwhile
==================  ============================================================================
"""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ..execution.metrics import Metrics
from ..net.connection import Connection
from ..net.errors import ProtocolVersionUnsupported
from ..net.fork import INHERITED_LOOP, ForkedError, refuse_in_child
from ..net.timers import Timers
from ..policies.distance import HostDistance
from ..protocol.errors import DriverException, OperationTimedOut
from ..protocol.version import ProtocolVersion
from ..topology.host import Host
from ..topology.metadata import Metadata
from .background import Background
from .contact_points import resolve_contact_points
from .control_connection import ControlConnection
from .hosts import HostRegistry
from .listeners import InOrder, Listeners, at_once
from .placement import Placement
from .pools import gauges_of
from .prepared import PreparedStatements
from .profiles import ProfileManager
from .session_core import SessionCore
from .settings import connection_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable, Iterator, Mapping

    from ..net.connection import EventCallback
    from ..net.settings import ConnectionSettings
    from ..statements.prepared import PreparedStatement
    from ..topology.endpoint import EndPoint
    from .options import ClusterOptions
    from .profiles import ExecutionProfile

log = logging.getLogger(__name__)


class ClusterCore:
    """A cluster on the running event loop.

    Attributes:
        options: what was asked for; replaced as a whole when one is changed.
        facade: the object that the application knows; policies are populated with it.
        cluster_id: tells clusters of a process apart.
        loop: the event loop; set by ``open``, like timers and background.
        timers: timers on that loop.
        background: tasks on that loop.
        protocol_version: of new connections; the negotiation lowers it.
        endpoints_resolved: endpoints of the contact points; set by ``open``, and anew when no node
            can be reached any more.
        contact_hosts: hosts made from them, of which nothing else is known.
        user_types: registered classes by keyspace and type name.
        schema_changes: how often a change of the schema was heard of.
        is_open: whether ``open`` has ended, and ``close`` has not begun.
        is_shutdown: whether ``close`` has begun.
    """

    # What each request looks at, which compiled code finds where it is.
    __slots__ = ("__dict__", "__weakref__", "profile_manager", "protocol_version")

    loop: asyncio.AbstractEventLoop
    timers: Timers
    background: Background

    def __init__(
        self, options: ClusterOptions, facade: object = None, listeners_may_wait: bool = False
    ) -> None:
        """Compose; nothing is connected before ``open``.

        Args:
            options: what is asked for.
            facade: the object that the application knows.
            listeners_may_wait: whether listeners are told on a thread of the executor, in order,
                in place of the loop's.
        """
        self.options = options
        self.facade: Any = self if facade is None else facade
        self.metadata = Metadata()
        self.cluster_id = uuid4()
        self.profile_manager = ProfileManager.from_options(options)
        self.listeners = Listeners(InOrder(self._submit) if listeners_may_wait else at_once)
        self.sessions: set[SessionCore] = set()
        self.user_types: dict[str, dict[str, type]] = {}
        self.endpoints_resolved: list[EndPoint] = []
        self.contact_hosts: list[Host] = []
        self.protocol_version = options.protocol_version or ProtocolVersion.MAX_SUPPORTED
        self.is_open = False
        self.is_shutdown = False
        self.schema_changes = 0
        self.prepared = PreparedStatements(self)
        self.placement = Placement(self)
        self.hosts = HostRegistry(self)
        self.control_connection = ControlConnection(self)
        self.metrics = Metrics(gauges_of(self)) if options.metrics_enabled else None
        self._settings: tuple[object, ConnectionSettings] | None = None
        self._opening: asyncio.Lock | None = None
        self._closing: asyncio.Task[None] | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._executor_lock = threading.Lock()

    # --- life ----------------------------------------------------------------------------------

    async def open(self) -> None:
        """Find the cluster: connect to a contact point, read nodes and schema, fill the policies.

        Does nothing if it was done. After a failure the cluster is shut down.

        Raises:
            DriverException: the cluster is shut down.
            ForkedError: it was connected in the process that this one was forked from.
            UnresolvableContactPoints: no contact point has an address.
            NoHostAvailable: no contact point answered, with the reason of each.
        """
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if getattr(self, "loop", None) is INHERITED_LOOP:
                raise ForkedError
            if self.is_shutdown:
                raise DriverException("this cluster was shut down")
            if self.is_open:
                self._check_loop()
                return
            self.loop = asyncio.get_running_loop()
            refuse_in_child(self)
            self.timers = Timers(self.loop)
            self.background = Background(self.loop)
            self.hosts.background = Background(self.loop)
            try:
                await self._find_the_cluster()
            except BaseException:
                await self.close()
                raise

    def _check_loop(self) -> None:
        """Refuse another loop than the one on which everything runs.

        Raises:
            RuntimeError: it is another one.
        """
        if asyncio.get_running_loop() is not self.loop:
            raise RuntimeError("the cluster is connected on another event loop: make one for this")

    async def _find_the_cluster(self) -> None:
        self.options.endpoint_factory.configure(self.facade)
        await self.resolve_contact_hosts()
        await self.control_connection.connect()
        if self.is_shutdown:
            await self.control_connection.close()
            raise DriverException("Cluster was shut down while it was connected")
        self.profile_manager.tell("populate", self.facade, self.metadata.all_hosts())
        self.profile_manager.tell("check_supported")
        self.is_open = True
        self.hosts.start()

    async def resolve_contact_hosts(self) -> None:
        """Look up which addresses the contact points have now.

        Raises:
            UnresolvableContactPoints: none; what is known stays.
        """
        self.endpoints_resolved = await resolve_contact_points(
            self.loop, self.options.contact_points, self.options.port
        )
        self.contact_hosts = [
            Host(endpoint, self.options.conviction_policy_factory)
            for endpoint in self.endpoints_resolved
        ]

    async def connect_session(
        self, keyspace: str | None = None, wait_for_all_pools: bool = False
    ) -> SessionCore:
        """A session with a pool for each host that the policies do not ignore.

        Args:
            keyspace: used on all its connections.
            wait_for_all_pools: wait until each pool is open or has failed; otherwise the first
                open one is enough.

        Raises:
            NoHostAvailable: no pool could be opened, with the reason of each.
            InvalidRequest: there is no such keyspace; also whatever ``open`` raises.
        """
        await self.open()
        session = SessionCore(self)
        self.sessions.add(session)
        try:
            await session.open(keyspace, wait_for_all_pools)
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """Close sessions and connections, and end all work.

        Whoever calls it again waits until that is done. It goes on if who waits is cancelled.
        """
        with self._executor_lock:
            self.is_shutdown = True
        self.is_open = False
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
        if not hasattr(self, "background") or self.loop is INHERITED_LOOP:
            return
        if self._closing is None:
            self._closing = self.loop.create_task(self._close(), name="close the cluster")
        await asyncio.shield(self._closing)

    def forked(self) -> None:
        """Be shut down in a child process, which has neither the loop nor the threads."""
        self.is_shutdown = True
        self.is_open = False
        self.loop = INHERITED_LOOP
        self._executor = None
        self._executor_lock = threading.Lock()

    async def _close(self) -> None:
        async with AsyncExitStack() as last_first:
            last_first.callback(self.timers.close)
            # A retry that waits for its time has nobody to be sent to any more, and has to hear it.
            last_first.callback(self.timers.run_all)
            last_first.push_async_callback(self.background.close)
            last_first.push_async_callback(self.control_connection.close)
            last_first.push_async_callback(self._close_sessions)
            last_first.push_async_callback(self.hosts.close)

    async def _close_sessions(self) -> None:
        await asyncio.gather(*(session.close() for session in tuple(self.sessions)))

    # --- connections ---------------------------------------------------------------------------

    async def connect_to(
        self,
        endpoint: EndPoint,
        on_event: EventCallback | None = None,
        on_closed: Callable[[Any, Exception | None], None] | None = None,
        local_port: int | None = None,
    ) -> Connection:
        """A connection to a node; until the cluster is found, in the highest version both speak.

        Args:
            endpoint: the node.
            on_event: takes the events that the connection registers for.
            on_closed: takes the connection when it has closed, and why.
            local_port: the source port, by which a ScyllaDB node chooses the shard.

        Raises:
            ConnectionException: there is no connection.
            ProtocolVersionUnsupported: the node does not speak the version that was asked for,
                or that the cluster was found with.
            AuthenticationFailed: the node did not accept who we are.
            OperationTimedOut: it took too long.
        """
        connect = (self.options.connection_class or Connection).connect
        while True:
            try:
                connection: Connection = await connect(
                    self.loop,
                    endpoint,
                    self._settings_now(),
                    on_event=on_event,
                    on_closed=on_closed,
                    local_port=local_port,
                )
            except ProtocolVersionUnsupported as refused:
                if self.options.protocol_version is not None or self.is_open:
                    raise
                self._downgrade(refused)
            else:
                return connection

    def _settings_now(self) -> ConnectionSettings:
        """Settings of this moment; made anew only after a change, since TLS contexts are dear."""
        key = (self.options, self.protocol_version)
        if self._settings is None or self._settings[0] != key:
            self._settings = (key, connection_settings(self))
        return self._settings[1]

    def _downgrade(self, refused: ProtocolVersionUnsupported) -> None:
        """Go on with a lower version.

        Raises:
            ProtocolVersionUnsupported: there is none.
        """
        lower = ProtocolVersion.get_lower_supported(refused.attempted)
        if not lower:
            raise refused
        log.warning(
            "%s does not speak version %d of the protocol; trying version %d. "
            "Cluster(protocol_version=...) saves this attempt.",
            refused.endpoint,
            refused.attempted,
            lower,
        )
        self.protocol_version = lower

    # --- what the host registry asks -----------------------------------------------------------

    def control_plan(self) -> Iterator[Host]:
        """Hosts in the order of the default profile's policy."""
        return iter(self.profile_manager.default.load_balancing_policy.make_query_plan())

    async def prepare_statements(self, host: Host) -> None:
        """Prepare on a host that goes up what was prepared on others, if the options say so."""
        is_used = self.profile_manager.distance(host) != HostDistance.IGNORED
        if is_used and self.options.reprepare_on_up:
            await self.prepared.prepare_all_on(host)

    async def open_pools(self, host: Host) -> list[Exception]:
        """Open the pool of each session to a host that is not ignored, and wait for all of them.

        Returns:
            What went wrong; nothing if every pool is open, or none is needed.
        """
        sessions = tuple(self.sessions)
        errors = await asyncio.gather(*(session.pools.add_or_renew(host) for session in sessions))
        return [error for error in errors if error is not None]

    def close_pools(self, host: Host) -> Coroutine[Any, Any, None]:
        """Take a host's pools out of the sessions, at once; what is returned lets them drain."""
        pools = [session.pools.take(host) for session in tuple(self.sessions)]
        return self.background.finish(pool.close() for pool in pools if pool is not None)

    def update_pools(self) -> None:
        """Have sessions open and close pools where the distance of a host changed; soon."""
        for session in tuple(self.sessions):
            self.background.spawn(session.pools.update)

    def is_connected(self, host: Host) -> bool:
        """Whether any pool has an open connection to a host."""
        return any(session.pools.open_count(host) for session in tuple(self.sessions))

    # --- what executions ask -------------------------------------------------------------------

    @property
    def prepared_statements(self) -> Mapping[bytes, PreparedStatement]:
        """The prepared statements that somebody still holds, by the server's id."""
        return self.prepared.by_id

    @property
    def sends_tablets(self) -> bool:
        """Whether servers send tablets (ScyllaDB)."""
        features = self.control_connection.features
        return features.tablets_routing_v1 or features.tablets_routing_v2

    def schema_changed(
        self, connection: Connection, event: Mapping[str, Any], done: Callable[[bool], None]
    ) -> None:
        """Take over a schema change that a request made. The loop's thread; it does not wait.

        Args:
            connection: where the change was answered.
            event: fields of the SCHEMA_CHANGE (``driver.wire.responses.events``).
            done: called once, on the loop's thread, at once or later: with whether all hosts agree
                on the schema; with False if it could not be read.
        """
        if self.is_shutdown:  # nothing is started any more, and somebody waits
            done(False)
            return
        self.background.spawn(self._schema_changed, connection, event, done)

    async def _schema_changed(
        self,
        connection: Connection,
        event: Mapping[str, Any],
        done: Callable[[bool], None],
    ) -> None:
        is_agreed = False
        try:
            is_agreed = await self.control_connection.refresh_schema(connection=connection, **event)
        except DriverException as error:  # of the network; a new connection reads all of it
            log.warning("The schema could not be refreshed after %s: %s", event, error)
        except Exception:
            log.exception("The schema could not be refreshed after %s", event)
        finally:
            done(is_agreed)

    @property
    def executor(self) -> ThreadPoolExecutor:
        """Threads for functions that may wait; there are none before the first is given.

        Raises:
            RuntimeError: the cluster was shut down before there were any.
        """
        with self._executor_lock:
            if self._executor is None:
                if self.is_shutdown:
                    raise RuntimeError("this cluster was shut down: its threads run nothing more")
                self._executor = ThreadPoolExecutor(
                    self.options.executor_threads, thread_name_prefix="driver-executor"
                )
            return self._executor

    def _submit(self, fn: Callable[[], None]) -> None:
        self.executor.submit(fn)

    # --- profiles and user types ---------------------------------------------------------------

    async def add_execution_profile(
        self, name: Hashable, profile: ExecutionProfile, pool_wait_timeout: float
    ) -> None:
        """Add a profile to a cluster that is open, and open the pools that only it needs.

        Raises:
            TypeError, ValueError: it cannot be added.
            OperationTimedOut: not all pools are open in time; they still may be later.
        """
        self.profile_manager.check_new(name, profile)
        hosts = self.metadata.all_hosts()
        profile.load_balancing_policy.populate(self.facade, hosts)
        profile.load_balancing_policy.check_supported()
        self.profile_manager.add(name, profile)
        updates = [self.background.start(session.pools.update()) for session in self.sessions]
        if updates:
            _, pending = await asyncio.wait(updates, timeout=pool_wait_timeout)
            if pending:
                raise OperationTimedOut(
                    {"pools": f"not all pools were open within {pool_wait_timeout} s"}
                )

    def register_user_type(self, keyspace: str, user_type: str, klass: type) -> None:
        """Have values of a user-defined type be instances of a class, and take such instances.

        Raises:
            TypeError: it is no class.
            UserTypeDoesNotExist: there is a session, and no such type.
        """
        makes_something = callable(klass)
        if not makes_something:
            raise TypeError(f"klass is a class, called with the fields by name, not {klass!r}")
        self.user_types.setdefault(keyspace, {})[user_type] = klass
        for session in tuple(self.sessions):
            session.user_type_registered(keyspace, user_type, klass)
