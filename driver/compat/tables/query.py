"""``cassandra.query``, ``.encoder`` and ``.timestamps``."""

from __future__ import annotations

from ..served import serve

#: What each module is made of.
TABLES = {
    "cassandra.query": serve(
        {
            "statements": """
                BatchStatement BoundStatement FETCH_SIZE_UNSET PreparedStatement SimpleStatement
                Statement bind_params
            """,
            "execution.tracing": "QueryTrace TraceEvent TraceUnavailable",
            "results.rows": "dict_factory named_tuple_factory ordered_dict_factory tuple_factory",
            "types.literals": "Encoder ValueSequence",
            "types.identity": "unix_time_from_uuid1",
            "protocol.columns": "ColDesc",
            "protocol.consistency": "ConsistencyLevel",
            "protocol.errors": "OperationTimedOut",
            "protocol.kinds": "BatchType",
            "protocol.unset": "UNSET_VALUE",
            "compat.adaptors.util": "maybe_add_timeout_to_query",
        },
        behind=(
            "statements.base",
            "statements.simple",
            "statements.prepared",
            "statements.bound",
            "statements.batch",
            "execution.tracing",
            "results.rows",
        ),
    ),
    "cassandra.encoder": serve(
        {
            "types.literals": "Encoder ValueSequence",
            "compat.adaptors.root": "cql_quote",
            "values.date": "Date",
            "values.ordered_map": "OrderedMap OrderedMapSerializedKey",
            "values.sorted_set": "sortedset",
            "values.time": "Time",
        },
        behind=("types.literals",),
    ),
    "cassandra.timestamps": serve(
        {"policies.timestamps": "MonotonicTimestampGenerator"},
        behind=("policies.timestamps",),
    ),
}
