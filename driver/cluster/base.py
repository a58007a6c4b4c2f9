"""What the clusters and sessions of threads and of event loops have in common.

Everything here answers at once. What has to wait for the loop is in ``cluster.py`` and
``session.py``, and in ``driver.aio``; all of it hands on to the cores in a line or two.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from weakref import WeakSet

from ..execution.listeners import RequestInitListener
from ..protocol.kinds import SchemaTargetType
from .core import ClusterCore
from .forwarded import Forwarded
from .options import ClusterOptions, takes_options
from .profiles import EXEC_PROFILE_DEFAULT, ExecutionProfile

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from uuid import UUID

    from ..auth import AuthProvider
    from ..execution.metrics import Metrics
    from ..net.connection import Connection
    from ..net.settings import SocketOption
    from ..policies.address_translation import AddressTranslator
    from ..policies.column_encryption import ColumnEncryptionPolicy
    from ..policies.load_balancing import HostStateListener, LoadBalancingPolicy
    from ..policies.preparation import PreparationPolicy
    from ..policies.reconnection import ReconnectionPolicy
    from ..policies.retry import RetryPolicy
    from ..pool.host_pool import HostPool, PoolState
    from ..results.rows import RowFactory
    from ..statements.prepared import PreparedStatement
    from ..topology.endpoint import EndPoint, EndPointFactory
    from ..topology.host import Conviction, Host
    from ..topology.metadata import Metadata
    from ..types.literals import Encoder
    from ..wire.codec import ProtocolHandler
    from .cloud import Cloud
    from .control_connection import ControlConnection
    from .options import ApplicationInfo, ContactPoint
    from .profiles import ConfigMode, ProfileManager, ProfileOrName
    from .session_core import SessionCore

_T = TypeVar("_T")
#: None, or an awaitable of it.
Done = TypeVar("Done")
#: The class of sessions that a cluster makes.
_Session = TypeVar("_Session", bound="BaseSession")


class _Option(Forwarded[_T]):
    """An option of the cluster; setting it replaces the options object."""

    _path = "core.options"

    def __set__(self, cluster: BaseCluster[Any, Any], value: _T) -> None:
        change: dict[str, Any] = {self._name: value}
        cluster.core.options = replace(cluster.core.options, **change)


class _OfCore(Forwarded[_T]):
    """An attribute of the session's core, to be read and set."""

    _path = "core"

    def __set__(self, session: BaseSession, value: _T) -> None:
        setattr(session.core, self._name, value)


class _OfProfile(Forwarded[_T]):
    """An attribute of the session's default profile; setting it is the way without profiles."""

    _path = "core.default_profile"

    def __set__(self, session: BaseSession, value: _T) -> None:
        session.core.set_default(self._attribute, value, self._name)


class BaseCluster(Generic[Done, _Session]):
    """The options of a cluster as attributes, and what is known of it.

    Options can be set too; what is connected already stays as it is. ``ClusterOptions`` describes
    each of them.

    Attributes:
        core: what does the work.
    """

    core: ClusterCore
    #: Whether listeners are told on a thread of the executor, in order, or on the loop's.
    _listeners_may_wait = False

    contact_points: _Option[Sequence[ContactPoint]] = _Option()
    port: _Option[int] = _Option()
    compression: _Option[bool | str] = _Option()
    auth_provider: _Option[AuthProvider | None] = _Option()
    reconnection_policy: _Option[ReconnectionPolicy] = _Option()
    conviction_policy_factory: _Option[Callable[[Host], Conviction]] = _Option()
    metrics_enabled: _Option[bool] = _Option()
    connection_class: _Option[type[Connection] | None] = _Option()
    ssl_options: _Option[Mapping[str, object] | None] = _Option()
    ssl_context: _Option[ssl.SSLContext | None] = _Option()
    sockopts: _Option[Sequence[SocketOption]] = _Option()
    cql_version: _Option[str | None] = _Option()
    executor_threads: _Option[int] = _Option()
    max_schema_agreement_wait: _Option[float] = _Option()
    control_connection_timeout: _Option[float | None] = _Option()
    idle_heartbeat_interval: _Option[float] = _Option()
    idle_heartbeat_timeout: _Option[float] = _Option()
    schema_event_refresh_window: _Option[float] = _Option()
    topology_event_refresh_window: _Option[float] = _Option()
    status_event_refresh_window: _Option[float] = _Option()
    connect_timeout: _Option[float | None] = _Option()
    schema_metadata_enabled: _Option[bool] = _Option()
    token_metadata_enabled: _Option[bool] = _Option()
    address_translator: _Option[AddressTranslator] = _Option()
    endpoint_factory: _Option[EndPointFactory] = _Option()
    prepare_on_all_hosts: _Option[bool] = _Option()
    reprepare_on_up: _Option[bool] = _Option()
    allow_beta_protocol_version: _Option[bool] = _Option()
    timestamp_generator: _Option[Callable[[], int] | None] = _Option()
    no_compact: _Option[bool] = _Option()
    application_name: _Option[str] = _Option()
    application_version: _Option[str] = _Option()
    client_id: _Option[UUID | None] = _Option()
    application_info: _Option[ApplicationInfo | None] = _Option()
    metadata_request_timeout: _Option[float | None] = _Option()
    schema_metadata_page_size: _Option[int] = _Option()
    preparation_policy: _Option[PreparationPolicy | None] = _Option()
    column_encryption_policy: _Option[ColumnEncryptionPolicy | None] = _Option()
    cloud: _Option[Mapping[str, object] | Cloud | None] = _Option()
    driver_config_reporting_enabled: _Option[bool] = _Option()

    @takes_options(ClusterOptions)
    def __init__(self, options: ClusterOptions) -> None:
        """Describe a cluster; nothing is connected before ``connect``.

        The arguments are the fields of ``ClusterOptions``, which describes each of them.

        Raises:
            TypeError: an option has the wrong type or an unknown name.
            ValueError: an option is out of its range.
        """
        self._describe(options)

    @classmethod
    def from_options(cls, options: ClusterOptions) -> Self:
        """A cluster with the options of an object, which may be that of another cluster."""
        cluster = cls.__new__(cls)
        cluster._describe(options)  # noqa: SLF001  (its own)
        return cluster

    def _describe(self, options: ClusterOptions) -> None:
        """Begin with these options."""
        self.core = ClusterCore(options, self, self._listeners_may_wait)
        self._sessions: WeakSet[_Session] = WeakSet()
        self._sessions_lock = threading.Lock()

    @property
    def options(self) -> ClusterOptions:
        """All options as they are now."""
        return self.core.options

    # --- what is known -------------------------------------------------------------------------

    @property
    def metadata(self) -> Metadata:
        """Hosts, keyspaces, ring and tablets as they are known."""
        return self.core.metadata

    @property
    def metrics(self) -> Metrics | None:
        """Counters; None unless ``metrics_enabled``."""
        return self.core.metrics

    @property
    def protocol_version(self) -> int:
        """Version of connections; the highest that the driver speaks before it is negotiated."""
        return self.core.protocol_version

    @property
    def endpoints_resolved(self) -> Sequence[EndPoint]:
        """Endpoints of the contact points; empty before ``connect``."""
        return self.core.endpoints_resolved

    @property
    def control_connection(self) -> ControlConnection:
        """What finds hosts and schema."""
        return self.core.control_connection

    @property
    def sessions(self) -> WeakSet[_Session]:
        """The sessions that were connected and not shut down since; a copy."""
        with self._sessions_lock:
            return WeakSet(session for session in self._sessions if not session.is_shutdown)

    def _remember(self, session: _Session) -> None:
        with self._sessions_lock:
            self._sessions.add(session)

    @property
    def executor(self) -> ThreadPoolExecutor:
        """The threads that run what is given to ``Session.submit``."""
        return self.core.executor

    def __repr__(self) -> str:
        """Where it is, and its state; no options, which hold secrets."""
        core = self.core
        state = (
            "shut down" if core.is_shutdown else "connected" if core.is_open else "not connected"
        )
        points = ", ".join(map(str, core.options.contact_points))
        name = f"{core.metadata.cluster_name!r}, " if core.metadata.cluster_name else ""
        return f"<{type(self).__name__}: {name}contact points {points}, {state}>"

    def set_meta_refresh_enabled(self, enabled: bool) -> None:
        """Set ``schema_metadata_enabled`` and ``token_metadata_enabled`` together."""
        self.schema_metadata_enabled = enabled
        self.token_metadata_enabled = enabled

    @property
    def is_shutdown(self) -> bool:
        """Whether ``shutdown`` was called, or connecting failed."""
        return self.core.is_shutdown

    @property
    def session_id(self) -> UUID:
        """Tells clusters of a process apart, where ``Session.session_id`` tells sessions."""
        return self.core.cluster_id

    def get_all_pools(self) -> list[HostPool]:
        """The pools of all sessions."""
        return [pool for session in self.sessions for pool in session.get_pools()]

    def is_shard_aware(self) -> bool:
        """Whether the nodes are ScyllaDB's, with connections to each of their shards."""
        return any(pool.host.sharding_info for pool in self.get_all_pools())

    def shard_aware_stats(self) -> dict[str, dict[str, int]] | None:
        """Shards and connections to them, by endpoint of each node; None without shards."""
        stats = {
            str(pool.host.endpoint): {
                "shards_count": pool.host.sharding_info.shards_count,
                "connected": pool.open_count,
            }
            for pool in self.get_all_pools()
            if pool.host.sharding_info is not None
        }
        return stats or None

    def get_control_connection_host(self) -> Host | None:
        """The host that the control connection is connected to; None while there is none."""
        return self.core.control_connection.host

    # --- reading again -------------------------------------------------------------------------
    # Each method waits until the nodes agree on the schema, ``max_schema_agreement_wait`` seconds
    # at most: by default those of the options, 0 for not at all. Each raises a DriverException that
    # says why, if nothing was read. Those of ``driver.aio`` are to be awaited.

    def _perform(self, work: Coroutine[Any, Any, None]) -> Done:
        """Have it done: wait for it, or hand it to the caller to be awaited."""
        raise NotImplementedError

    def refresh_nodes(self, force_token_rebuild: bool = False) -> Done:
        """Read the list of nodes, and the ring if it changed, or in any case."""

        async def refresh() -> None:
            await self.core.control_connection.refresh_nodes(
                force_token_rebuild=force_token_rebuild
            )

        return self._perform(refresh())

    def refresh_schema_metadata(self, max_schema_agreement_wait: float | None = None) -> Done:
        """Read the whole schema."""
        return self._refresh(None, max_schema_agreement_wait)

    def refresh_keyspace_metadata(
        self, keyspace: str, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a keyspace without what is in it."""
        return self._refresh(
            SchemaTargetType.KEYSPACE, max_schema_agreement_wait, keyspace=keyspace
        )

    def refresh_table_metadata(
        self, keyspace: str, table: str, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a table, its indexes, triggers and views."""
        return self._refresh(
            SchemaTargetType.TABLE, max_schema_agreement_wait, keyspace=keyspace, table=table
        )

    def refresh_materialized_view_metadata(
        self, keyspace: str, view: str, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a materialized view."""
        return self.refresh_table_metadata(keyspace, view, max_schema_agreement_wait)

    def refresh_user_type_metadata(
        self, keyspace: str, user_type: str, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a user-defined type."""
        return self._refresh(
            SchemaTargetType.TYPE, max_schema_agreement_wait, keyspace=keyspace, type=user_type
        )

    def refresh_user_function_metadata(
        self, keyspace: str, function: object, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a function, given by a ``UserFunctionDescriptor``."""
        return self._refresh(
            SchemaTargetType.FUNCTION,
            max_schema_agreement_wait,
            keyspace=keyspace,
            function=function,
        )

    def refresh_user_aggregate_metadata(
        self, keyspace: str, aggregate: object, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read an aggregate, given by a ``UserAggregateDescriptor``."""
        return self._refresh(
            SchemaTargetType.AGGREGATE,
            max_schema_agreement_wait,
            keyspace=keyspace,
            aggregate=aggregate,
        )

    def _refresh(
        self,
        target_type: str | None,
        wait: float | None,
        **target: Any,  # noqa: ANN401  (names of parts)
    ) -> Done:
        async def refresh() -> None:
            await self.core.control_connection.refresh_schema(
                target_type=target_type, schema_agreement_wait=wait, force=True, **target
            )

        return self._perform(refresh())

    # --- profiles and policies -----------------------------------------------------------------

    @property
    def profile_manager(self) -> ProfileManager:
        """The execution profiles by name."""
        return self.core.profile_manager

    @property
    def _config_mode(self) -> ConfigMode:
        """Which of the two ways it is configured in; object mappers for CQL drivers ask."""
        return self.profile_manager.mode

    @property
    def load_balancing_policy(self) -> LoadBalancingPolicy:
        """Of the default profile."""
        return self.profile_manager.default.load_balancing_policy

    @load_balancing_policy.setter
    def load_balancing_policy(self, policy: LoadBalancingPolicy) -> None:
        self.profile_manager.commit_to_legacy("Cluster.load_balancing_policy")
        self.profile_manager.default.load_balancing_policy = policy

    @property
    def default_retry_policy(self) -> RetryPolicy:
        """Of the default profile."""
        return self.profile_manager.default.retry_policy

    @default_retry_policy.setter
    def default_retry_policy(self, policy: RetryPolicy) -> None:
        self.profile_manager.commit_to_legacy("Cluster.default_retry_policy")
        self.profile_manager.default.retry_policy = policy

    # --- listeners, user types, prepared statements ----------------------------------------------

    @property
    def listeners(self) -> set[HostStateListener]:
        """Everybody who hears of hosts; a copy."""
        return set(self.core.listeners)

    def register_listener(self, listener: HostStateListener) -> None:
        """Tell a listener of hosts that come, go, fail and recover, in that order.

        A ``driver.cluster.Cluster`` calls listeners on one of its threads that may wait, one
        event after the other; a ``driver.aio.Cluster`` on the event loop, which they must not
        block. Load balancing policies are called on the event loop by both.
        """
        self.core.listeners.register(listener)

    def unregister_listener(self, listener: HostStateListener) -> None:
        """Tell a listener no more.

        Raises:
            KeyError: it is not registered.
        """
        self.core.listeners.unregister(listener)

    def register_user_type(self, keyspace: str, user_type: str, klass: type) -> None:
        """Have values of a user-defined type be instances of a class, and take such instances.

        The class is called with the fields as keywords. It can be registered before the type
        exists, as long as there is no session.

        Raises:
            TypeError: it is no class.
            UserTypeDoesNotExist: there is a session, and no such type.
        """
        self.core.register_user_type(keyspace, user_type, klass)

    def add_prepared(self, query_id: bytes, prepared_statement: PreparedStatement) -> None:  # noqa: ARG002  (the statement knows its id)
        """Have a statement prepared again where it is unknown, as those of ``Session.prepare``."""
        self.core.prepared.add(prepared_statement)


class BaseSession:
    """The settings of a session as attributes, and the state of its pools.

    Attributes:
        core: what does the work.
        default_timeout: seconds that a request may take; None for ever.
        default_consistency_level: where a statement has none.
        default_serial_consistency_level: where a conditional statement has none.
        row_factory: shape of rows.
        default_fetch_size: rows a page; None switches paging off.
        use_client_timestamp: whether requests carry a timestamp of this side.
        timestamp_generator: called for it, in microseconds since the epoch.
        client_protocol_handler: decodes rows.
        max_trace_wait: seconds that a trace is waited for.
        encoder: writes parameters of simple statements as literals.
    """

    __slots__ = ("__dict__", "__weakref__", "core")

    core: SessionCore

    default_timeout: _OfProfile[float | None] = _OfProfile("request_timeout")
    default_consistency_level: _OfProfile[int] = _OfProfile("consistency_level")
    default_serial_consistency_level: _OfProfile[int | None] = _OfProfile(
        "serial_consistency_level"
    )
    row_factory: _OfProfile[RowFactory] = _OfProfile("row_factory")

    default_fetch_size: _OfCore[int | None] = _OfCore()
    use_client_timestamp: _OfCore[bool] = _OfCore()
    timestamp_generator: _OfCore[Callable[[], int]] = _OfCore()
    client_protocol_handler: _OfCore[type[ProtocolHandler]] = _OfCore()
    max_trace_wait: _OfCore[float] = _OfCore()
    encoder: _OfCore[Encoder] = _OfCore()

    @property
    def metrics(self) -> Metrics | None:
        """Counters of the cluster; None unless ``metrics_enabled``."""
        return self.core.cluster.metrics

    @property
    def keyspace(self) -> str | None:
        """The keyspace in use; None before the first USE."""
        return self.core.keyspace

    def __repr__(self) -> str:
        """The keyspace, the pools and the state."""
        pools = f"{len(self.core.pools.by_host)} pools"
        state = ", shut down" if self.is_shutdown else ""
        return f"<{type(self).__name__}: keyspace {self.keyspace}, {pools}{state}>"

    @property
    def session_id(self) -> UUID:
        """Tells sessions apart."""
        return self.core.session_id

    @property
    def _protocol_version(self) -> int:
        """Of its connections; programs of other drivers look for it here."""
        return self.core.cluster.protocol_version

    @property
    def is_shutdown(self) -> bool:
        """Whether ``shutdown`` was called."""
        return self.core.is_shutdown

    @property
    def hosts(self) -> list[Host]:
        """Hosts that have a pool."""
        return list(self.core.pools.by_host)

    def get_pools(self) -> list[HostPool]:
        """The pools."""
        return list(self.core.pools.by_host.values())

    def get_pool_state(self) -> dict[Host, PoolState]:
        """What each pool says of itself, by host."""
        return self.core.pools.get_state()

    def get_execution_profile(self, name: ProfileOrName = EXEC_PROFILE_DEFAULT) -> ExecutionProfile:
        """The profile of a name.

        Raises:
            ValueError: there is none.
        """
        if name is EXEC_PROFILE_DEFAULT:
            return self.core.default_profile
        return self.core.cluster.profile_manager.get(name)

    def execution_profile_clone_update(
        self,
        ep: ProfileOrName,
        **kwargs: object,
    ) -> ExecutionProfile:
        """A copy of a profile with other attributes, to be given to ``execute``.

        The copy has the policies of the profile: a policy that is given here has not been told of
        any host, and must have been populated by whoever gives it.

        Raises:
            ValueError: there is no profile of that name.
            AttributeError: a profile has no such attribute.
        """
        return self.get_execution_profile(ep).clone_update(**kwargs)

    def add_request_init_listener(
        self,
        fn: Callable[..., object],
        *args: object,
        **kwargs: object,
    ) -> None:
        """Have ``fn(request, *args, **kwargs)`` called with each request before it is sent."""
        listener = RequestInitListener(fn, args, kwargs)
        self.core.request_listeners = (*self.core.request_listeners, listener)

    def remove_request_init_listener(
        self,
        fn: Callable[..., object],
        *args: object,
        **kwargs: object,
    ) -> None:
        """Call a listener no more that was added with the same arguments.

        Raises:
            ValueError: there is none.
        """
        left = list(self.core.request_listeners)
        left.remove(RequestInitListener(fn, args, kwargs))
        self.core.request_listeners = tuple(left)

    def user_type_registered(self, keyspace: str, user_type: str, klass: type) -> None:
        """Write instances of a class as literals of a user-defined type.

        Raises:
            UserTypeDoesNotExist: the schema has no such type, as far as it is known.
        """
        self.core.user_type_registered(keyspace, user_type, klass)
