"""Public names of the ``cassandra`` package, and members of its classes, not served, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Reason -> module -> names.
_BY_REASON: Final[Mapping[str, Mapping[str, str]]] = {
    "it belongs to DataStax Enterprise or Astra, which this driver does not speak to": {
        "cassandra.auth": "BaseDSEAuthenticator DSEGSSAPIAuthProvider GSSAPIAuthenticator",
        "cassandra.cluster": """
            ContinuousPagingOptions ContinuousPagingState EXEC_PROFILE_GRAPH_ANALYTICS_DEFAULT
            EXEC_PROFILE_GRAPH_DEFAULT EXEC_PROFILE_GRAPH_SYSTEM_DEFAULT
            GraphAnalyticsExecutionProfile GraphExecutionProfile GraphOptions GraphProtocol
            GraphSON1Serializer GraphSON2Serializer GraphSON3Serializer GraphStatement
            HostTargetingStatement MonitorReporter SimpleGraphStatement
            graph_graphson2_row_factory graph_graphson3_row_factory graph_object_row_factory
            version_supports_insights
        """,
        "cassandra.connection": """
            ContinuousPagingSession ContinuousPagingState ReviseRequestMessage
        """,
        "cassandra.cqltypes": """
            BoundKind DateRangeType LineStringType PointType PolygonType WKBGeometryType
        """,
        "cassandra.encoder": "LineString Point Polygon",
        "cassandra.metadata": """
            EdgeMetadata RLACTableExtension RegisteredTableExtension SchemaParserDSE60
            SchemaParserDSE67 SchemaParserDSE68 TableExtensionInterface TableMetadataDSE68
            VertexMetadata
        """,
        "cassandra.protocol": "ClientWriteError ReviseRequestMessage",
        "cassandra.query": "HostTargetingStatement",
        "cassandra.util": """
            DateRange DateRangeBound DateRangePrecision Distance LineString OPEN_BOUND Point
            Polygon
        """,
    },
    "it is for protocols v1 and v2, which no server has spoken since Cassandra 2": {
        "cassandra.cluster": """
            DEFAULT_MAX_CONNECTIONS_PER_LOCAL_HOST DEFAULT_MAX_CONNECTIONS_PER_REMOTE_HOST
            DEFAULT_MAX_REQUESTS DEFAULT_MIN_CONNECTIONS_PER_LOCAL_HOST
            DEFAULT_MIN_CONNECTIONS_PER_REMOTE_HOST DEFAULT_MIN_REQUESTS
        """,
        "cassandra.connection": "CredentialsMessage",
        "cassandra.metadata": "SchemaParserV22",
        "cassandra.protocol": "CredentialsMessage",
    },
    "it is a part of how the other driver is built, with no counterpart in this one": {
        "cassandra.cluster": """
            ConnectionHeartbeat conn_class conn_fns excs refresh_schema_and_set_result
            run_in_executor
        """,
        "cassandra.concurrent": """
            ConcurrentExecutorFutureResults ConcurrentExecutorGenResults
            ConcurrentExecutorListResults
        """,
        "cassandra.connection": (
            "ConnectionHeartbeat HeartbeatFuture ResponseWaiter defunct_on_error"
        ),
        "cassandra.deserializers": "obj_array",
        "cassandra.io.asyncioreactor": "AsyncioTimer",
        "cassandra.io.asyncorereactor": "AsyncoreLoop WaitableTimer",
        "cassandra.io.libevreactor": "LibevLoop",
        "cassandra.io.libevwrapper": "Async IO Loop Prepare Timer",
        "cassandra.metadata": """
            ReplicationStrategyTypeType SchemaParserV3 SchemaParserV4 get_schema_parser
        """,
        "cassandra.murmur3": """
            INT64_MAX INT64_MIN INT64_OVF_DIV INT64_OVF_OFFSET body_and_tail fmix rotl64
            truncate_int64
        """,
        "cassandra.numpy_parser": """
            arrDescDtype make_array make_arrays make_native_byteorder obj_dtype
        """,
        "cassandra.obj_parser": "TupleRowParser",
        "cassandra.parsing": "RowParser",
        "cassandra.protocol": "ErrorMessageSubclass get_registered_classes register_class",
        "cassandra.row_parser": "TupleRowParser",
    },
}

#: The same, of names that only scylla-driver has.
_BY_REASON_SCYLLA: Final[Mapping[str, Mapping[str, str]]] = {
    "client routes of private links are not read; an address_translator or an endpoint_factory "
    "says where hosts are reached": {
        "cassandra.cluster": (
            "ClientRoutesChangeType ClientRoutesConfig ClientRoutesEndPointFactory"
        ),
        "cassandra.connection": "ClientRoutesEndPoint ClientRoutesEndPointFactory",
    },
    "requests go through pools only; a cluster behind one address is reached by an "
    "endpoint_factory": {"cassandra.cluster": "ControlConnectionQueryFallback"},
    "connections go to shards where the nodes say how, and there is nothing to set": {
        "cassandra.cluster": "ShardAwareOptions",
        "cassandra.connection": """
            DEFAULT_LOCAL_PORT_HIGH DEFAULT_LOCAL_PORT_LOW DefaultShardAwarePortGenerator
            ShardAwarePortGenerator
        """,
    },
    "the driver does not report its configuration to the server": {
        "cassandra.cluster": "DriverConfigReporter",
        "cassandra.connection": "DRIVER_CONFIG_OPTION DriverConfigReporter SESSION_ID_OPTION",
    },
    "TLS sessions are resumed by the ssl_context that is given": {
        "cassandra.cluster": "SSLSessionCache",
    },
    "requests show the versions of tablets by themselves": {
        "cassandra.cluster": "choose_tablet_version_block random_tablet_version_block",
        "cassandra.tablets": "choose_tablet_version_block random_tablet_version_block",
    },
    "metrics are those of Cluster.metrics, whose get_stats() gives all numbers": {
        "cassandra.metrics": "IntStat PmfStat Stat StatsCollection collection getStats init",
    },
    "the exception is cassandra.RateLimitReached": {
        "cassandra.protocol": "RateLimitReachedException",
    },
    "named_tuple_factory takes columns of any names, and any number": {
        "cassandra.query": "PseudoNamedTupleRow pseudo_namedtuple_factory",
    },
    "it is a part of how the other driver is built, with no counterpart in this one": {
        "cassandra.c_shard_info": "HAVE_INT128",
        "cassandra.metadata": "get_column_from_system_local",
        "cassandra.protocol_features": "LWT_OPTIMIZATION_META_BIT_MASK",
        "cassandra.shard_info": "INT64_MIN",
    },
}

#: Full name -> reason.
LEFT_OUT: Final[Mapping[str, str]] = {
    f"{module}.{name}": reason
    for table in (_BY_REASON, _BY_REASON_SCYLLA)
    for reason, modules in table.items()
    for module, names in modules.items()
    for name in names.split()
}


_HOSTS: Final = "hosts come and go through the control connection only"
_V2: Final = (
    "pool sizes of protocols v1 and v2; in later ones it raises UnsupportedOperation there too"
)
_INNER: Final = "called by the other driver's own parts"
_DSE: Final = "graph, continuous paging and its services are of DataStax"

#: Reason -> class -> methods and attributes that a served class does not have.
_MEMBERS_BY_REASON: Final[Mapping[str, Mapping[str, str]]] = {
    _HOSTS: {
        "cassandra.cluster.Cluster": """
            add_host on_add on_down on_remove on_up remove_host signal_connection_failure
        """,
    },
    _V2: {
        "cassandra.cluster.Cluster": """
            connect_to_remote_hosts get_core_connections_per_host get_max_connections_per_host
            get_max_requests_per_connection get_min_requests_per_connection
            set_core_connections_per_host set_max_connections_per_host
            set_max_requests_per_connection set_min_requests_per_connection
        """,
    },
    _INNER: {
        "cassandra.cluster.Cluster": """
            connection_factory get_connection_holders protocol_downgrade scheduler
        """,
        "cassandra.cluster.Session": "add_or_renew_pool on_down on_remove remove_pool",
        "cassandra.metadata.KeyspaceMetadata": "resolve_user_types",
        "cassandra.metadata.TableMetadata": "compaction_options",
        "cassandra.pool.Host": "get_and_set_reconnection_handler is_currently_reconnecting",
    },
    _DSE: {
        "cassandra.cluster.ResultSet": "cancel_continuous_paging",
        "cassandra.metadata.Metadata": "dbaas",
        "cassandra.cluster.Session": "execute_graph execute_graph_async",
    },
    "Cluster.refresh_schema_metadata does it": {"cassandra.metadata.Metadata": "refresh"},
}

#: Full name of a method or attribute -> reason.
MEMBERS_LEFT_OUT: Final[Mapping[str, str]] = {
    f"{owner}.{name}": reason
    for reason, owners in _MEMBERS_BY_REASON.items()
    for owner, names in owners.items()
    for name in names.split()
}
