"""A CQL driver for Apache Cassandra and ScyllaDB whose hot paths are measured.

What applications use is here, under one name each, and is loaded when it is first asked for:
``import driver`` alone costs next to nothing. The modules below are the driver's own: what is in
them and not here may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .implementation import IMPL

if TYPE_CHECKING:
    from .aio import AsyncResultSet
    from .aio import Cluster as AsyncCluster
    from .aio import Session as AsyncSession
    from .auth import Authenticator, AuthProvider, PlainTextAuthProvider, SaslAuthProvider
    from .cluster import (
        EXEC_PROFILE_DEFAULT,
        Cluster,
        ClusterOptions,
        ExecutionProfile,
        Session,
        UserTypeDoesNotExist,
    )
    from .execution import (
        ExecutionResult,
        QueryExhausted,
        QueryTrace,
        ResponseFuture,
        TraceUnavailable,
        execute_concurrent,
        execute_concurrent_async,
        execute_concurrent_with_args,
    )
    from .net.errors import (
        ConnectionException,
        ConnectionShutdown,
        NoConnectionsAvailable,
        ProtocolVersionUnsupported,
    )
    from .policies import (
        AddressTranslator,
        AES256ColumnEncryptionPolicy,
        AllowListRoundRobinPolicy,
        ColumnEncryptionPolicy,
        ConstantReconnectionPolicy,
        ConstantSpeculativeExecutionPolicy,
        DCAwareRoundRobinPolicy,
        DefaultLoadBalancingPolicy,
        DowngradingConsistencyRetryPolicy,
        EC2MultiRegionTranslator,
        ExponentialBackoffRetryPolicy,
        ExponentialReconnectionPolicy,
        FallthroughRetryPolicy,
        HostDistance,
        HostFilterPolicy,
        HostStateListener,
        LoadBalancingPolicy,
        MonotonicTimestampGenerator,
        NeverRetryPolicy,
        NoSpeculativeExecutionPolicy,
        PreparationPolicy,
        RackAwareRoundRobinPolicy,
        ReconnectionPolicy,
        RetryPolicy,
        RoundRobinPolicy,
        SpeculativeExecutionPolicy,
        TokenAwarePolicy,
        WhiteListRoundRobinPolicy,
    )
    from .protocol.consistency import ConsistencyLevel
    from .protocol.errors import (
        AlreadyExists,
        AuthenticationFailed,
        CASWriteUnknown,
        CDCWriteFailure,
        ConfigurationException,
        CoordinationFailure,
        DependencyException,
        DriverException,
        FunctionFailure,
        InvalidRequest,
        IsBootstrapping,
        MarshalException,
        NoHostAvailable,
        OperationTimedOut,
        Overloaded,
        PreparedQueryNotFound,
        ProtocolException,
        RateLimitReached,
        ReadFailure,
        ReadTimeout,
        RequestExecutionException,
        RequestValidationException,
        ServerError,
        SyntaxException,
        Timeout,
        TruncateError,
        Unauthorized,
        Unavailable,
        UnresolvableContactPoints,
        UnsupportedOperation,
        WriteFailure,
        WriteTimeout,
    )
    from .protocol.kinds import BatchType
    from .protocol.unset import UNSET_VALUE
    from .results import (
        ResultSet,
        RowFactory,
        class_factory,
        dict_factory,
        named_tuple_factory,
        ordered_dict_factory,
        tuple_factory,
    )
    from .results.arrow import (
        ArrowBatch,
        ArrowFactory,
        ArrowStream,
        ArrowTable,
        arrow_factory,
    )
    from .statements import (
        BatchStatement,
        BoundStatement,
        PreparedStatement,
        SimpleStatement,
        Statement,
    )
    from .topology.endpoint import (
        DefaultEndPoint,
        EndPoint,
        SniEndPoint,
        SniEndPointFactory,
        UnixSocketEndPoint,
    )
    from .topology.host import Host
    from .values.date import Date
    from .values.duration import Duration
    from .values.time import Time
    from .wire.handlers import LazyProtocolHandler, NumpyProtocolHandler, ProtocolHandler

__version__ = "0.1.0"
__all__ = [
    "EXEC_PROFILE_DEFAULT",
    "IMPL",
    "UNSET_VALUE",
    "AES256ColumnEncryptionPolicy",
    "AddressTranslator",
    "AllowListRoundRobinPolicy",
    "AlreadyExists",
    "ArrowBatch",
    "ArrowFactory",
    "ArrowStream",
    "ArrowTable",
    "AsyncCluster",
    "AsyncResultSet",
    "AsyncSession",
    "AuthProvider",
    "AuthenticationFailed",
    "Authenticator",
    "BatchStatement",
    "BatchType",
    "BoundStatement",
    "CASWriteUnknown",
    "CDCWriteFailure",
    "Cluster",
    "ClusterOptions",
    "ColumnEncryptionPolicy",
    "ConfigurationException",
    "ConnectionException",
    "ConnectionShutdown",
    "ConsistencyLevel",
    "ConstantReconnectionPolicy",
    "ConstantSpeculativeExecutionPolicy",
    "CoordinationFailure",
    "DCAwareRoundRobinPolicy",
    "Date",
    "DefaultEndPoint",
    "DefaultLoadBalancingPolicy",
    "DependencyException",
    "DowngradingConsistencyRetryPolicy",
    "DriverException",
    "Duration",
    "EC2MultiRegionTranslator",
    "EndPoint",
    "ExecutionProfile",
    "ExecutionResult",
    "ExponentialBackoffRetryPolicy",
    "ExponentialReconnectionPolicy",
    "FallthroughRetryPolicy",
    "FunctionFailure",
    "Host",
    "HostDistance",
    "HostFilterPolicy",
    "HostStateListener",
    "InvalidRequest",
    "IsBootstrapping",
    "LazyProtocolHandler",
    "LoadBalancingPolicy",
    "MarshalException",
    "MonotonicTimestampGenerator",
    "NeverRetryPolicy",
    "NoConnectionsAvailable",
    "NoHostAvailable",
    "NoSpeculativeExecutionPolicy",
    "NumpyProtocolHandler",
    "OperationTimedOut",
    "Overloaded",
    "PlainTextAuthProvider",
    "PreparationPolicy",
    "PreparedQueryNotFound",
    "PreparedStatement",
    "ProtocolException",
    "ProtocolHandler",
    "ProtocolVersionUnsupported",
    "QueryExhausted",
    "QueryTrace",
    "RackAwareRoundRobinPolicy",
    "RateLimitReached",
    "ReadFailure",
    "ReadTimeout",
    "ReconnectionPolicy",
    "RequestExecutionException",
    "RequestValidationException",
    "ResponseFuture",
    "ResultSet",
    "RetryPolicy",
    "RoundRobinPolicy",
    "RowFactory",
    "SaslAuthProvider",
    "ServerError",
    "Session",
    "SimpleStatement",
    "SniEndPoint",
    "SniEndPointFactory",
    "SpeculativeExecutionPolicy",
    "Statement",
    "SyntaxException",
    "Time",
    "Timeout",
    "TokenAwarePolicy",
    "TraceUnavailable",
    "TruncateError",
    "Unauthorized",
    "Unavailable",
    "UnixSocketEndPoint",
    "UnresolvableContactPoints",
    "UnsupportedOperation",
    "UserTypeDoesNotExist",
    "WhiteListRoundRobinPolicy",
    "WriteFailure",
    "WriteTimeout",
    "__version__",
    "arrow_factory",
    "class_factory",
    "dict_factory",
    "execute_concurrent",
    "execute_concurrent_async",
    "execute_concurrent_with_args",
    "named_tuple_factory",
    "ordered_dict_factory",
    "tuple_factory",
]

#: What is loaded from where when it is asked for, under which name if that differs.
_FROM = {
    "aio": "AsyncCluster=Cluster AsyncResultSet AsyncSession=Session",
    "auth": "AuthProvider Authenticator PlainTextAuthProvider SaslAuthProvider",
    "cluster": """
        EXEC_PROFILE_DEFAULT Cluster ClusterOptions ExecutionProfile Session
        UserTypeDoesNotExist
    """,
    "execution": """
        ExecutionResult QueryExhausted QueryTrace ResponseFuture TraceUnavailable
        execute_concurrent execute_concurrent_async execute_concurrent_with_args
    """,
    "net.errors": """
        ConnectionException ConnectionShutdown NoConnectionsAvailable
        ProtocolVersionUnsupported
    """,
    "policies": """
        AES256ColumnEncryptionPolicy AddressTranslator AllowListRoundRobinPolicy
        ColumnEncryptionPolicy ConstantReconnectionPolicy ConstantSpeculativeExecutionPolicy
        DCAwareRoundRobinPolicy DefaultLoadBalancingPolicy DowngradingConsistencyRetryPolicy
        EC2MultiRegionTranslator ExponentialBackoffRetryPolicy ExponentialReconnectionPolicy
        FallthroughRetryPolicy HostDistance HostFilterPolicy HostStateListener
        LoadBalancingPolicy MonotonicTimestampGenerator NeverRetryPolicy
        NoSpeculativeExecutionPolicy PreparationPolicy RackAwareRoundRobinPolicy
        ReconnectionPolicy RetryPolicy RoundRobinPolicy SpeculativeExecutionPolicy
        TokenAwarePolicy
        WhiteListRoundRobinPolicy
    """,
    "results": """
        ResultSet RowFactory class_factory dict_factory named_tuple_factory
        ordered_dict_factory tuple_factory
    """,
    "results.arrow": "ArrowBatch ArrowFactory ArrowStream ArrowTable arrow_factory",
    "statements": """
        BatchStatement BoundStatement PreparedStatement SimpleStatement Statement
    """,
    "topology.endpoint": """
        DefaultEndPoint EndPoint SniEndPoint SniEndPointFactory UnixSocketEndPoint
    """,
    "topology.host": "Host",
    "values.date": "Date",
    "values.duration": "Duration",
    "values.time": "Time",
    "protocol.consistency": "ConsistencyLevel",
    "protocol.kinds": "BatchType",
    "protocol.errors": """
        AlreadyExists AuthenticationFailed CASWriteUnknown CDCWriteFailure
        ConfigurationException CoordinationFailure DependencyException DriverException
        FunctionFailure InvalidRequest IsBootstrapping MarshalException NoHostAvailable
        OperationTimedOut Overloaded PreparedQueryNotFound ProtocolException
        RateLimitReached ReadFailure ReadTimeout RequestExecutionException
        RequestValidationException ServerError SyntaxException Timeout TruncateError
        Unauthorized Unavailable UnresolvableContactPoints UnsupportedOperation WriteFailure
        WriteTimeout
    """,
    "protocol.unset": "UNSET_VALUE",
    "wire.handlers": "LazyProtocolHandler NumpyProtocolHandler ProtocolHandler",
}


if not TYPE_CHECKING:  # which would take any name for granted

    def __getattr__(name: str) -> Any:  # noqa: ANN401  (a class, a function or a constant)
        """Load a public name."""
        for module, names in _FROM.items():
            for entry in names.split():
                if entry.partition("=")[0] == name:
                    loaded = import_module(f".{module}", __name__)
                    value = globals()[name] = getattr(loaded, entry.rpartition("=")[2])
                    return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names, also those that are not loaded yet."""
    return sorted({*globals(), *__all__})
