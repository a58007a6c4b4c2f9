"""Prints, as JSON, the parameters of what applications call in the installed ``cassandra`` package.

Run by a test, in a process of its own and, for this driver, through ``driver.compat``. The output
has for each name of ``CALLED`` the parameters of the constructor or function, and of each public
method.
"""

import importlib
import inspect
import json
import sys

CALLED = """
    auth: PlainTextAuthProvider SaslAuthProvider
    cluster: Cluster ExecutionProfile ResponseFuture ResultSet Session
    concurrent: execute_concurrent execute_concurrent_async execute_concurrent_with_args
    connection: DefaultEndPoint SniEndPoint UnixSocketEndPoint
    metadata: Aggregate ColumnMetadata Function IndexMetadata KeyspaceMetadata
        MaterializedViewMetadata Metadata TableMetadata TriggerMetadata UserType
        group_keys_by_replica protect_name protect_value
    policies: AddressTranslator ConstantReconnectionPolicy ConstantSpeculativeExecutionPolicy
        DCAwareRoundRobinPolicy DefaultLoadBalancingPolicy DowngradingConsistencyRetryPolicy
        EC2MultiRegionTranslator ExponentialReconnectionPolicy FallthroughRetryPolicy
        HostFilterPolicy HostStateListener LoadBalancingPolicy ReconnectionPolicy RetryPolicy
        RoundRobinPolicy SimpleConvictionPolicy SpeculativeExecutionPolicy TokenAwarePolicy
        WhiteListRoundRobinPolicy
    pool: Host
    query: BatchStatement BoundStatement PreparedStatement QueryTrace SimpleStatement Statement
        bind_params dict_factory named_tuple_factory ordered_dict_factory tuple_factory
    timestamps: MonotonicTimestampGenerator
    util: Date Duration OrderedMap SortedSet Time Version datetime_from_timestamp
        datetime_from_uuid1 max_uuid_from_time min_uuid_from_time unix_time_from_uuid1
        uuid_from_time
"""


def called():
    module = ""
    for word in CALLED.split():
        if word.endswith(":"):
            module = f"cassandra.{word[:-1]}"
        else:
            yield module, word


def parameters(function):
    """Names in order, without self; None if the function does not tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return None
    return [p.name for p in found if p.name != "self"]


def described(value):
    if not inspect.isclass(value):
        return {"()": parameters(value)}
    methods = {
        name: getattr(value, name)
        for name in dir(value)
        if not name.startswith("_") and callable(inspect.getattr_static(value, name))
    }
    return {"()": parameters(value)} | {name: parameters(m) for name, m in methods.items()}


json.dump(
    {
        f"{module}.{name}": described(getattr(importlib.import_module(module), name))
        for module, name in called()
    },
    sys.stdout,
)
