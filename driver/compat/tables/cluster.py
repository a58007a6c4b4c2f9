"""``cassandra.cluster``, ``.concurrent`` and ``.metrics``."""

from __future__ import annotations

from ..served import serve
from .wire import ERROR_MESSAGES

#: What each module is made of.
TABLES = {
    "cassandra.cluster": serve(
        {
            "cluster.cluster": "Cluster",
            "cluster.session": "Session",
            "cluster.control_connection": "ControlConnection",
            "cluster.profiles": """
                EXEC_PROFILE_DEFAULT ExecutionProfile ProfileManager default_lbp_factory
                _NOT_SET=NOT_SET _ConfigMode=ConfigMode
            """,
            "cluster.schema_agreement": "SchemaAgreementScope",
            "cluster.user_types": "UserTypeDoesNotExist",
            "execution.request": "QueryExhausted",
            "execution.response_future": "ResponseFuture",
            "execution.tracing": "QueryTrace TraceUnavailable",
            "results.result_set": "ResultSet",
            "results.rows": "dict_factory named_tuple_factory tuple_factory",
            "statements": """
                BatchStatement BoundStatement FETCH_SIZE_UNSET PreparedStatement SimpleStatement
                bind_params
            """,
            "types.literals": "Encoder",
            "types.marshal": "int64_pack",
            "types.record": "UserType",
            "topology.endpoint": """
                DefaultEndPoint DefaultEndPointFactory EndPoint SniEndPointFactory
                UnixSocketEndPoint
            """,
            "topology.tablets": "Tablet",
            "topology.host": "Host",
            "topology.metadata": "Metadata",
            "topology.schema.quoting": "protect_name",
            "topology.token": "Token murmur3",
            "policies.address_translation": "IdentityTranslator",
            "policies.conviction": "SimpleConvictionPolicy",
            "policies.distance": "HostDistance",
            "policies.load_balancing": """
                DCAwareRoundRobinPolicy DefaultLoadBalancingPolicy TokenAwarePolicy
            """,
            "policies.reconnection": "ExponentialReconnectionPolicy",
            "policies.retry": "NeverRetryPolicy RetryPolicy",
            "policies.speculative": "NoSpeculativeExecutionPlan NoSpeculativeExecutionPolicy",
            "policies.timestamps": "MonotonicTimestampGenerator",
            "auth": "PlainTextAuthProvider",
            "net.connection": "DefaultConnection=Connection",
            "net.errors": """
                ConnectionBusy ConnectionException ConnectionShutdown NoConnectionsAvailable
                ProtocolVersionUnsupported
            """,
            "wire.compression": "locally_supported_compressions",
            "pool.host_pool": "HostConnection=HostPool HostConnectionPool=HostPool",
            "wire.handlers": "ProtocolHandler",
            "wire.requests": "BatchMessage ExecuteMessage PrepareMessage QueryMessage",
            "wire.responses": "ResultMessage",
            "protocol.consistency": "ConsistencyLevel",
            "protocol.version": "ProtocolVersion",
            "protocol.kinds": """
                RESULT_KIND_PREPARED RESULT_KIND_ROWS RESULT_KIND_SCHEMA_CHANGE
                RESULT_KIND_SET_KEYSPACE RESULT_KIND_VOID SchemaTargetType
            """,
            "protocol.errors": """
                AuthenticationFailed DependencyException DriverException InvalidRequest
                NoHostAvailable OperationTimedOut UnresolvableContactPoints UnsupportedOperation
            """,
            "compat.adaptors.protocol_errors": ERROR_MESSAGES,
            "compat.adaptors.reactors": "EventletConnection TwistedConnection",
            "compat.adaptors.application_info": "ApplicationInfoBase",
            "compat.adaptors.util": "Version maybe_add_timeout_to_query",
        },
        behind=(
            "cluster.cluster",
            "cluster.session",
            "cluster.core",
            "cluster.session_core",
            "cluster.control_connection",
            "cluster.contact_points",
            "execution.request",
            "execution.response_future",
        ),
    ),
    "cassandra.concurrent": serve(
        {
            "execution.concurrent": """
                ExecutionResult execute_concurrent execute_concurrent_async
                execute_concurrent_with_args
            """,
            "cluster.profiles": "EXEC_PROFILE_DEFAULT",
            "results.result_set": "ResultSet",
        },
        behind=("execution.concurrent",),
    ),
    "cassandra.metrics": serve(
        {"execution.metrics": "Metrics"},
        behind=("execution.metrics",),
    ),
}
