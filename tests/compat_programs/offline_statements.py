"""Statements, row factories, timestamps and exceptions, without a server."""
# ruff: noqa: T201  (a program prints)

from unittest.mock import patch

from cassandra import (
    AlreadyExists,
    AuthenticationFailed,
    ConsistencyLevel,
    OperationTimedOut,
    ReadFailure,
    Timeout,
    Unavailable,
    UserAggregateDescriptor,
    UserFunctionDescriptor,
    WriteTimeout,
    WriteType,
    consistency_value_to_name,
)
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile, NoHostAvailable
from cassandra.connection import DefaultEndPoint, SniEndPoint, UnixSocketEndPoint
from cassandra.cqltypes import Int32Type, UTF8Type
from cassandra.encoder import Encoder
from cassandra.protocol import ColumnMetadata
from cassandra.query import (
    UNSET_VALUE,
    BatchStatement,
    BatchType,
    PreparedStatement,
    SimpleStatement,
    bind_params,
    dict_factory,
    named_tuple_factory,
    ordered_dict_factory,
    tuple_factory,
)
from cassandra.timestamps import MonotonicTimestampGenerator

statement = SimpleStatement(
    "SELECT * FROM t",
    consistency_level=ConsistencyLevel.QUORUM,
    serial_consistency_level=ConsistencyLevel.SERIAL,
    fetch_size=10,
    keyspace="ks",
    is_idempotent=True,
)
print(statement.query_string, statement.consistency_level, statement.fetch_size, statement.keyspace)
print(statement.is_idempotent, statement.serial_consistency_level, statement.routing_key)
statement.routing_key = [b"a", b"b"]
print(statement.routing_key, ConsistencyLevel.ONE == 1)
print(bind_params("a=%s b=%s", (1, "it's"), Encoder()))
print(bind_params("a=%(x)s", {"x": [1, 2]}, Encoder()))

columns = [ColumnMetadata("ks", "t", "k", Int32Type), ColumnMetadata("ks", "t", "v", UTF8Type)]
prepared = PreparedStatement(columns, b"id", [0], "INSERT", "ks", 4, None, None)
for values in ((1, "a"), {"k": 2, "v": "b"}, (3,), (4, UNSET_VALUE), (5, None)):
    bound = prepared.bind(values)
    shown = ["unset" if value is UNSET_VALUE else value for value in bound.values]
    print(shown, bound.routing_key, bound.keyspace)
for values in ((1, 2, 3), {"v": "x"}):
    try:
        prepared.bind(values)
    except (ValueError, KeyError) as error:
        print(type(error).__name__)

batch = BatchStatement(BatchType.UNLOGGED, consistency_level=ConsistencyLevel.TWO)
batch.add("INSERT %s", (1,))
batch.add(SimpleStatement("INSERT 2"))
batch.add(prepared, (6, "c"))
batch.add_all(["A %s", "B %s"], [(1,), (2,)])
print(len(batch), batch.batch_type.value, batch.consistency_level, batch.routing_key)
batch.clear()
print(len(batch))

names, rows = ["a", "B c", "_d"], [(1, 2, 3)]
print(tuple_factory(names, rows), dict_factory(names, rows), ordered_dict_factory(names, rows))
print(named_tuple_factory(["a", "b"], [(1, 2)])[0].b, named_tuple_factory(names, rows)[0][1])

generator = MonotonicTimestampGenerator()
with patch("cassandra.timestamps.time") as clock:
    clock.time.return_value = 15.0
    print([generator() for _ in range(3)])

print(UserFunctionDescriptor("f", ["int", "text"]).signature)
print(
    UserAggregateDescriptor("a", ["int"]).signature,
    UserFunctionDescriptor.format_signature("g", []),
)
few = Unavailable("few", consistency=4, required_replicas=2, alive_replicas=1)
print(few.consistency, few.alive_replicas, "QUORUM" in str(few))
late = WriteTimeout("late", write_type=WriteType.SIMPLE, consistency=1, required_responses=1)
print("SIMPLE" in str(late), isinstance(late, Timeout), late.write_type)
print(ReadFailure("no", data_retrieved=True, consistency=1, failures=1).failures)
print(AlreadyExists("ks", "t"), AlreadyExists("ks").table, consistency_value_to_name(10))
timed_out = OperationTimedOut({"host": "late"}, "host")
print(timed_out.errors, timed_out.last_host, isinstance(AuthenticationFailed("x"), Exception))
print(NoHostAvailable("none", {"h": "e"}).errors)

print(DefaultEndPoint("10.0.0.1"), DefaultEndPoint("10.0.0.1", 9043).port)
print(DefaultEndPoint("a") == DefaultEndPoint("a", 9042), DefaultEndPoint("a").resolve())
print(UnixSocketEndPoint("/run/c.sock").address, SniEndPoint("proxy", "name", 9142).address)
authenticator = PlainTextAuthProvider("user", "secret").new_authenticator("host")
print(authenticator.initial_response(), "secret" in repr(authenticator))
profile = ExecutionProfile(consistency_level=ConsistencyLevel.ALL, request_timeout=3)
print(profile.consistency_level, profile.request_timeout, profile.serial_consistency_level)
print(EXEC_PROFILE_DEFAULT is not None, type(profile.retry_policy).__name__)
print(type(profile.load_balancing_policy).__name__)
