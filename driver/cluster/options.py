"""Options: everything that a cluster can be asked to do, in one frozen object."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from operator import index
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
)

from ..auth import PlainTextAuthProvider
from ..policies.address_translation import AddressTranslator, IdentityTranslator
from ..policies.conviction import SimpleConvictionPolicy
from ..policies.reconnection import ExponentialReconnectionPolicy, ReconnectionPolicy
from ..protocol.numbers import refuse_negative
from ..protocol.version import ProtocolVersion
from ..topology.endpoint import DEFAULT_PORT, DefaultEndPointFactory, EndPoint, EndPointFactory
from .cloud import Cloud
from .profiles import ExecutionProfile

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Hashable, Sequence
    from uuid import UUID

    from ..auth import AuthProvider
    from ..net.connection import Connection
    from ..net.settings import SocketOption
    from ..policies.column_encryption import ColumnEncryptionPolicy
    from ..policies.load_balancing import LoadBalancingPolicy
    from ..policies.preparation import PreparationPolicy
    from ..policies.retry import RetryPolicy
    from ..topology.host import Conviction, Host

_Cluster = TypeVar("_Cluster")
_Keywords = ParamSpec("_Keywords")

#: An address or a name, perhaps with its port, an endpoint of any kind, or who knows some.
ContactPoint: TypeAlias = "str | tuple[str, int] | EndPoint | Cloud"

#: Options that are times in seconds and cannot be negative.
_TIMES = (
    "connect_timeout",
    "control_connection_timeout",
    "idle_heartbeat_interval",
    "idle_heartbeat_timeout",
    "metadata_request_timeout",
)

#: Options that are objects: what is called of them, and what they are.
_OBJECTS = {
    "auth_provider": ("new_authenticator", "an AuthProvider"),
    "reconnection_policy": ("new_schedule", "a ReconnectionPolicy"),
    "ssl_context": ("wrap_bio", "an ssl.SSLContext"),
    "timestamp_generator": ("__call__", "a function that gives microseconds"),
}

#: Options that are whole numbers: the least, the most, and why.
_WHOLE: dict[str, tuple[int, float, str]] = {
    "connections_per_host": (1, math.inf, ""),
    "executor_threads": (1, math.inf, ""),
    "max_requests_per_connection": (1, 2**15, ", the stream ids of a connection"),
    "port": (1, 65535, ""),
}

#: Options that a secure connect bundle decides.
_OF_CLOUD = ("contact_points", "endpoint_factory", "ssl_context", "ssl_options")

#: Options that have no None of their own; callers write None for "as usual".
_NONE_IS_DEFAULT = {
    "address_translator",
    "conviction_policy_factory",
    "endpoint_factory",
    "reconnection_policy",
    "sockopts",
}


#: Keywords that other drivers take, and why this one does not. Off is what they are without.
_REFUSED = {
    "scylla_cloud": "bundles of Scylla Cloud Serverless, which ended, are not read; contact_points "
    "and ssl_context reach a cluster of Scylla Cloud",
    "client_routes_config": "client routes, by which a private link maps hosts to ports, are not "
    "read; an address_translator or endpoint_factory maps hosts to where they are reached",
    "allow_control_connection_query_fallback": "requests go through pools only; a cluster behind "
    "one address is reached by an endpoint_factory",
    "shard_aware_options": "connections go to shards where the nodes say how; to keep a port that "
    "is not reachable from being tried, give endpoints by an endpoint_factory",
    "ssl_session_cache": "TLS sessions are resumed by the ssl_context that is given",
    **dict.fromkeys(("host", "hosts"), "nodes are contact_points, such as ['127.0.0.1']"),
}

#: Keywords of programs for cassandra-driver that change nothing: only the Insights of DataStax
#: Enterprise would hear of them.
_WITHOUT_EFFECT = {"monitor_reporting_enabled", "monitor_reporting_interval"}


class ApplicationInfo(Protocol):
    """What an application says of itself, in place of its name, its version and its id."""

    def add_startup_options(self, options: dict[str, str | None]) -> None:
        """Add to what STARTUP says."""


@dataclass(frozen=True)
class ClusterOptions:
    """What ``Cluster`` takes. Times are in seconds.

    Attributes:
        contact_points: where to look for the cluster; any node will do, several are safer.
        port: where nodes listen; contact points and the server's own tables can say otherwise.
        compression: True for whichever of lz4 and snappy both sides have; a name; or False.
        auth_provider: gives an authenticator to each connection.
        load_balancing_policy: of the default profile; not together with execution_profiles. None
            is ``TokenAwarePolicy(DCAwareRoundRobinPolicy())``.
        reconnection_policy: when to try a node again that is down.
        default_retry_policy: of the default profile; not together with execution_profiles. None
            is ``RetryPolicy()``.
        conviction_policy_factory: gives each host what decides that it is down.
        metrics_enabled: whether ``Cluster.metrics`` counts.
        connection_class: what connects, in place of ``driver.net.connection.Connection``.
        ssl_options: TLS by a dict, as ``driver.net.tls`` reads it; None for no TLS.
        ssl_context: TLS by a context, which has precedence over ssl_options.
        sockopts: arguments of ``setsockopt`` for each socket.
        cql_version: asked for in STARTUP; None for the newest of the server.
        protocol_version: None to negotiate the highest that both sides speak.
        executor_threads: threads that run what is given to ``Session.submit``, and listeners of
            a ``driver.cluster.Cluster``.
        max_schema_agreement_wait: how long to wait for all nodes to agree on a schema change;
            0 and less do not wait.
        control_connection_timeout: for the driver's own queries; None waits for ever.
        idle_heartbeat_interval: how long a connection may be idle before it is asked; 0 never
            asks.
        idle_heartbeat_timeout: how long its answer may take.
        schema_event_refresh_window: schema events within it are handled together; negative:
            not at all.
        topology_event_refresh_window: the same for nodes that come and go.
        status_event_refresh_window: the same for nodes that go up and down.
        connect_timeout: for a connection to be there and started; None waits for ever.
        schema_metadata_enabled: whether to keep the schema. Token-aware routing needs it for the
            replicas of a keyspace, not for tablets (ScyllaDB); v3 needs it for the partition key.
        token_metadata_enabled: whether to keep the token ring; token-aware routing needs it.
        address_translator: from addresses that nodes call themselves to those to connect to.
        endpoint_factory: makes endpoints from rows of the server's tables.
        prepare_on_all_hosts: whether ``Session.prepare`` goes to every host.
        reprepare_on_up: whether a host that comes up gets all statements prepared.
        execution_profiles: by name; see ``driver.cluster.profiles``.
        allow_beta_protocol_version: whether a protocol version in beta may be asked for.
        timestamp_generator: called for the timestamp of each write, in microseconds; None for a
            monotonic one.
        no_compact: ask the server for compact tables as they are without COMPACT STORAGE.
        application_name: shown by the server's ``system_views.clients``.
        application_version: the same.
        client_id: the same; None for a random one.
        column_encryption_policy: encrypts bound values and decrypts rows.
        connections_per_host: connections of a pool to a host without shards.
        max_requests_per_connection: requests that wait for an answer on one connection.
        application_info: an object whose ``add_startup_options(options)`` adds to what STARTUP
            says, in place of the three above.
        metadata_request_timeout: when a ScyllaDB node gives up a query of the driver's own; None
            for ``control_connection_timeout``, 0 for the node's own limit.
        schema_metadata_page_size: rows a page of the driver's own queries.
        preparation_policy: what sessions keep prepared, and which texts they prepare by
            themselves; None for nothing and none. Not together with column_encryption_policy,
            which encrypts bound values and no literals.
        cloud: ``{"secure_connect_bundle": PATH}`` for a cluster that such a bundle describes, see
            ``driver.cluster.cloud``; it has contact points, endpoints, TLS, and perhaps a user.
        driver_config_reporting_enabled: whether the control connection says ``DRIVER_CONFIG``, by
            which operators of ScyllaDB tell how a client is configured.
    """

    contact_points: Sequence[ContactPoint] = ("127.0.0.1",)
    port: int = DEFAULT_PORT
    _: KW_ONLY
    compression: bool | str = True
    auth_provider: AuthProvider | None = None
    load_balancing_policy: LoadBalancingPolicy | None = None
    reconnection_policy: ReconnectionPolicy = field(
        default_factory=lambda: ExponentialReconnectionPolicy(1.0, 600.0)
    )
    default_retry_policy: RetryPolicy | None = None
    conviction_policy_factory: Callable[[Host], Conviction] = SimpleConvictionPolicy
    metrics_enabled: bool = False
    connection_class: type[Connection] | None = None
    # It may hold a password.
    ssl_options: Mapping[str, object] | None = field(default=None, repr=False)
    ssl_context: ssl.SSLContext | None = None
    sockopts: Sequence[SocketOption] = ()
    cql_version: str | None = None
    protocol_version: int | None = None
    executor_threads: int = 2
    max_schema_agreement_wait: float = 10
    control_connection_timeout: float | None = 2.0
    idle_heartbeat_interval: float = 30
    idle_heartbeat_timeout: float = 30
    schema_event_refresh_window: float = 2
    topology_event_refresh_window: float = 10
    status_event_refresh_window: float = 2
    connect_timeout: float | None = 5
    schema_metadata_enabled: bool = True
    token_metadata_enabled: bool = True
    address_translator: AddressTranslator = field(default_factory=IdentityTranslator)
    endpoint_factory: EndPointFactory = field(default_factory=DefaultEndPointFactory)
    prepare_on_all_hosts: bool = True
    reprepare_on_up: bool = True
    execution_profiles: Mapping[Hashable, ExecutionProfile] | None = None
    allow_beta_protocol_version: bool = False
    timestamp_generator: Callable[[], int] | None = None
    no_compact: bool = False
    application_name: str = ""
    application_version: str = ""
    client_id: UUID | None = None
    column_encryption_policy: ColumnEncryptionPolicy | None = None
    connections_per_host: int = 1
    max_requests_per_connection: int = 2**15
    application_info: ApplicationInfo | None = None
    metadata_request_timeout: float | None = None
    schema_metadata_page_size: int = 1000
    preparation_policy: PreparationPolicy | None = None
    cloud: Mapping[str, object] | Cloud | None = None
    driver_config_reporting_enabled: bool = True

    @classmethod
    def of(
        cls,
        contact_points: Sequence[ContactPoint] | None = None,
        port: int | None = None,
        **keywords: Any,  # noqa: ANN401  (any other field)
    ) -> Self:
        """Options from the arguments of ``Cluster``; for some, None asks for the default.

        Raises:
            TypeError, ValueError: as the class itself; an unknown name is a TypeError.
        """
        for name, reason in _REFUSED.items():
            if getattr(keywords.get(name), "value", keywords.get(name)):
                raise TypeError(f"{name} is no option: {reason}")
        given = {"contact_points": contact_points, "port": port}
        keywords.update((name, value) for name, value in given.items() if value is not None)
        if keywords.get("cloud") is not None:
            for name in _OF_CLOUD:
                if keywords.get(name) is not None:
                    raise ValueError(f"{name} does not go together with cloud, which has its own")
        return cls(
            **{
                name: value
                for name, value in keywords.items()
                if not (value is None and name in _NONE_IS_DEFAULT)
                and name not in _REFUSED
                and name not in _WITHOUT_EFFECT
            }
        )

    def __post_init__(self) -> None:
        """Refuse what cannot work, here rather than in a connection.

        Raises:
            TypeError: contact points are a string, execution profiles no mapping of profiles, or
                an option is something else than what it is for.
            ValueError: a number is out of its range, a version is not supported, or both ways
                to configure are used.
        """
        self._read_cloud()
        self._check_contact_points()
        self._check_protocol_version()
        self._check_profiles()
        if self.preparation_policy is not None and self.column_encryption_policy is not None:
            raise ValueError(
                "preparation_policy does not go together with column_encryption_policy: a value "
                "would be encrypted or not by how often its text was executed"
            )
        for name in _TIMES:
            value = getattr(self, name)
            if value is not None:
                refuse_negative(name, value)
        for name, (method, what) in _OBJECTS.items():
            value = getattr(self, name)
            if value is not None and (isinstance(value, type) or not hasattr(value, method)):
                # Only its class: a value may hold a password.
                raise TypeError(f"{name} is {what}, not a {type(value).__name__}")
        makes_something = callable(self.conviction_policy_factory)
        if not makes_something:
            raise ValueError(
                "conviction_policy_factory is called with each host, which "
                f"{self.conviction_policy_factory!r} cannot be"
            )
        for name, (least, most, why) in _WHOLE.items():
            value = getattr(self, name)
            if not isinstance(value, SupportsIndex):
                raise TypeError(f"{name} is a whole number, not {value!r}")
            if not least <= index(value) <= most:
                within = f"{least} or more" if most == math.inf else f"between {least} and {most}"
                raise ValueError(f"{name} must be {within}{why}: {value}")

    def _read_cloud(self) -> None:
        """Take what a bundle decides; once, for options that replace these have its description."""
        if self.cloud is None or isinstance(self.cloud, Cloud):
            return
        cloud = Cloud.of(self.cloud)
        own: dict[str, Any] = {
            "cloud": cloud,
            "contact_points": (cloud,),
            "endpoint_factory": cloud,
            "ssl_context": cloud.ssl_context,
        }
        if self.auth_provider is None and cloud.username and cloud.password:
            own["auth_provider"] = PlainTextAuthProvider(cloud.username, cloud.password)
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def _check_contact_points(self) -> None:
        given: Any = self.contact_points
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            one = "one string" if isinstance(given, str) else "one alone"
            raise TypeError(f"contact_points is a sequence of nodes, not {one}: [{given!r}]")
        points: tuple[Any, ...] = tuple(given)
        if not points or None in points:
            raise ValueError("contact_points must name at least one node, and nothing but nodes")
        for point in points:
            is_pair = isinstance(point, tuple) and len(point) == 2
            if not (isinstance(point, str | EndPoint | Cloud) or is_pair):
                raise TypeError(
                    f"a contact point is an address, a pair of address and port, or an EndPoint, "
                    f"not {point!r}"
                )
        object.__setattr__(self, "contact_points", points)

    def _check_protocol_version(self) -> None:
        version = self.protocol_version
        if version is None or version in ProtocolVersion.SUPPORTED_VERSIONS:
            return
        if version in ProtocolVersion.BETA_VERSIONS and self.allow_beta_protocol_version:
            return
        raise ValueError(
            f"protocol_version {version} is not supported; use one of "
            f"{ProtocolVersion.SUPPORTED_VERSIONS}, or leave it out to negotiate"
        )

    def _check_profiles(self) -> None:
        profiles = self.execution_profiles
        if profiles is None:
            return
        if self.load_balancing_policy is not None or self.default_retry_policy is not None:
            raise ValueError(
                "load_balancing_policy and default_retry_policy do not go together with "
                "execution_profiles, which have policies of their own"
            )
        if not isinstance(profiles, Mapping) or not all(
            isinstance(profile, ExecutionProfile) for profile in profiles.values()
        ):
            raise TypeError("execution_profiles must be a mapping of names to ExecutionProfiles")


def takes_options(
    _options: Callable[_Keywords, ClusterOptions],
) -> Callable[
    [Callable[[_Cluster, ClusterOptions], None]], Callable[Concatenate[_Cluster, _Keywords], None]
]:
    """Have the ``__init__`` of a cluster take the fields of ``ClusterOptions``, as they are there.

    Editors and type checkers know each of them by its name, type and default, and so does ``help``;
    there is one place to declare an option.
    """

    def wrap(
        init: Callable[[_Cluster, ClusterOptions], None],
    ) -> Callable[Concatenate[_Cluster, _Keywords], None]:
        def __init__(  # noqa: N807  (it is one)
            self: _Cluster, /, *args: _Keywords.args, **keywords: _Keywords.kwargs
        ) -> None:
            init(self, ClusterOptions.of(*args, **keywords))  # type: ignore[arg-type]  # the fields

        __init__.__doc__ = init.__doc__
        __init__.__wrapped__ = ClusterOptions.__init__  # type: ignore[attr-defined]  # its signature
        return __init__

    return wrap
