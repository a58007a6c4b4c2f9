"""A CQL driver for Apache Cassandra and ScyllaDB whose hot paths are measured.

What applications use is here, under one name each, and is loaded when it is first asked for:
``import driver`` alone costs next to nothing. The modules below are the driver's own: what is in
them and not here may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .implementation import IMPL as IMPL

if TYPE_CHECKING:
    from .aio import AsyncResultSet as AsyncResultSet
    from .aio import Cluster as _AsyncCluster
    from .aio import Session as _AsyncSession
    from .auth import Authenticator as Authenticator
    from .auth import AuthProvider as AuthProvider
    from .auth import PlainTextAuthProvider as PlainTextAuthProvider
    from .auth import SaslAuthProvider as SaslAuthProvider
    from .cluster import EXEC_PROFILE_DEFAULT as EXEC_PROFILE_DEFAULT
    from .cluster import Cluster as Cluster
    from .cluster import ClusterOptions as ClusterOptions
    from .cluster import ExecutionProfile as ExecutionProfile
    from .cluster import Session as Session
    from .cluster import UserTypeDoesNotExist as UserTypeDoesNotExist
    from .execution import ExecutionResult as ExecutionResult
    from .execution import QueryExhausted as QueryExhausted
    from .execution import QueryTrace as QueryTrace
    from .execution import ResponseFuture as ResponseFuture
    from .execution import TraceUnavailable as TraceUnavailable
    from .execution import execute_concurrent as execute_concurrent
    from .execution import execute_concurrent_async as execute_concurrent_async
    from .execution import execute_concurrent_with_args as execute_concurrent_with_args
    from .net.errors import ConnectionException as ConnectionException
    from .net.errors import ConnectionShutdown as ConnectionShutdown
    from .net.errors import NoConnectionsAvailable as NoConnectionsAvailable
    from .net.errors import ProtocolVersionUnsupported as ProtocolVersionUnsupported
    from .policies import AddressTranslator as AddressTranslator
    from .policies import AES256ColumnEncryptionPolicy as AES256ColumnEncryptionPolicy
    from .policies import AllowListRoundRobinPolicy as AllowListRoundRobinPolicy
    from .policies import ColumnEncryptionPolicy as ColumnEncryptionPolicy
    from .policies import ConstantReconnectionPolicy as ConstantReconnectionPolicy
    from .policies import ConstantSpeculativeExecutionPolicy as ConstantSpeculativeExecutionPolicy
    from .policies import DCAwareRoundRobinPolicy as DCAwareRoundRobinPolicy
    from .policies import DefaultLoadBalancingPolicy as DefaultLoadBalancingPolicy
    from .policies import DowngradingConsistencyRetryPolicy as DowngradingConsistencyRetryPolicy
    from .policies import EC2MultiRegionTranslator as EC2MultiRegionTranslator
    from .policies import ExponentialBackoffRetryPolicy as ExponentialBackoffRetryPolicy
    from .policies import ExponentialReconnectionPolicy as ExponentialReconnectionPolicy
    from .policies import FallthroughRetryPolicy as FallthroughRetryPolicy
    from .policies import HostDistance as HostDistance
    from .policies import HostFilterPolicy as HostFilterPolicy
    from .policies import HostStateListener as HostStateListener
    from .policies import LoadBalancingPolicy as LoadBalancingPolicy
    from .policies import MonotonicTimestampGenerator as MonotonicTimestampGenerator
    from .policies import NeverRetryPolicy as NeverRetryPolicy
    from .policies import NoSpeculativeExecutionPolicy as NoSpeculativeExecutionPolicy
    from .policies import PreparationPolicy as PreparationPolicy
    from .policies import RackAwareRoundRobinPolicy as RackAwareRoundRobinPolicy
    from .policies import ReconnectionPolicy as ReconnectionPolicy
    from .policies import RetryPolicy as RetryPolicy
    from .policies import RoundRobinPolicy as RoundRobinPolicy
    from .policies import SpeculativeExecutionPolicy as SpeculativeExecutionPolicy
    from .policies import TokenAwarePolicy as TokenAwarePolicy
    from .policies import WhiteListRoundRobinPolicy as WhiteListRoundRobinPolicy
    from .protocol.consistency import ConsistencyLevel as ConsistencyLevel
    from .protocol.errors import AlreadyExists as AlreadyExists
    from .protocol.errors import AuthenticationFailed as AuthenticationFailed
    from .protocol.errors import CASWriteUnknown as CASWriteUnknown
    from .protocol.errors import CDCWriteFailure as CDCWriteFailure
    from .protocol.errors import ConfigurationException as ConfigurationException
    from .protocol.errors import CoordinationFailure as CoordinationFailure
    from .protocol.errors import DependencyException as DependencyException
    from .protocol.errors import DriverException as DriverException
    from .protocol.errors import FunctionFailure as FunctionFailure
    from .protocol.errors import InvalidRequest as InvalidRequest
    from .protocol.errors import IsBootstrapping as IsBootstrapping
    from .protocol.errors import MarshalException as MarshalException
    from .protocol.errors import NoHostAvailable as NoHostAvailable
    from .protocol.errors import OperationTimedOut as OperationTimedOut
    from .protocol.errors import Overloaded as Overloaded
    from .protocol.errors import PreparedQueryNotFound as PreparedQueryNotFound
    from .protocol.errors import ProtocolException as ProtocolException
    from .protocol.errors import RateLimitReached as RateLimitReached
    from .protocol.errors import ReadFailure as ReadFailure
    from .protocol.errors import ReadTimeout as ReadTimeout
    from .protocol.errors import RequestExecutionException as RequestExecutionException
    from .protocol.errors import RequestValidationException as RequestValidationException
    from .protocol.errors import ServerError as ServerError
    from .protocol.errors import SyntaxException as SyntaxException
    from .protocol.errors import Timeout as Timeout
    from .protocol.errors import TruncateError as TruncateError
    from .protocol.errors import Unauthorized as Unauthorized
    from .protocol.errors import Unavailable as Unavailable
    from .protocol.errors import UnresolvableContactPoints as UnresolvableContactPoints
    from .protocol.errors import UnsupportedOperation as UnsupportedOperation
    from .protocol.errors import WriteFailure as WriteFailure
    from .protocol.errors import WriteTimeout as WriteTimeout
    from .protocol.kinds import BatchType as BatchType
    from .protocol.unset import UNSET_VALUE as UNSET_VALUE
    from .results import ResultSet as ResultSet
    from .results import RowFactory as RowFactory
    from .results import class_factory as class_factory
    from .results import dict_factory as dict_factory
    from .results import named_tuple_factory as named_tuple_factory
    from .results import ordered_dict_factory as ordered_dict_factory
    from .results import tuple_factory as tuple_factory
    from .results.arrow import ArrowBatch as ArrowBatch
    from .results.arrow import ArrowFactory as ArrowFactory
    from .results.arrow import ArrowStream as ArrowStream
    from .results.arrow import ArrowTable as ArrowTable
    from .results.arrow import arrow_factory as arrow_factory
    from .statements import BatchStatement as BatchStatement
    from .statements import BoundStatement as BoundStatement
    from .statements import PreparedStatement as PreparedStatement
    from .statements import SimpleStatement as SimpleStatement
    from .statements import Statement as Statement
    from .topology.endpoint import DefaultEndPoint as DefaultEndPoint
    from .topology.endpoint import EndPoint as EndPoint
    from .topology.endpoint import SniEndPoint as SniEndPoint
    from .topology.endpoint import SniEndPointFactory as SniEndPointFactory
    from .topology.endpoint import UnixSocketEndPoint as UnixSocketEndPoint
    from .topology.host import Host as Host
    from .types.literals import ValueSequence as ValueSequence
    from .values.date import Date as Date
    from .values.duration import Duration as Duration
    from .values.time import Time as Time
    from .wire.handlers import LazyProtocolHandler as LazyProtocolHandler
    from .wire.handlers import NumpyProtocolHandler as NumpyProtocolHandler
    from .wire.handlers import ProtocolHandler as ProtocolHandler

    AsyncCluster = _AsyncCluster
    AsyncSession = _AsyncSession

__version__ = "0.1.0"

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
    "types.literals": "ValueSequence",
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

if not TYPE_CHECKING:  # which would take any name for granted, and has the imports above
    __all__ = ["IMPL", "__version__"] + [
        name.partition("=")[0] for names in _FROM.values() for name in names.split()
    ]

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
