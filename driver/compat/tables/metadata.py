"""``cassandra.metadata``, ``.murmur3``, ``.cmurmur3`` and ``.tablets``."""

from __future__ import annotations

from ..served import serve

#: What each module is made of.
TABLES = {
    "cassandra.metadata": serve(
        {
            "topology.metadata": "Metadata group_keys_by_replica NO_VALID_REPLICA",
            "topology.schema.column": "ColumnMetadata",
            "topology.schema.function": "Aggregate Function",
            "topology.schema.keyspace": "KeyspaceMetadata",
            "topology.schema.table": """
                IndexMetadata MaterializedViewMetadata TableMetadata TableMetadataV3=TableMetadata
                TriggerMetadata
            """,
            "topology.schema.user_type": "UserType",
            "topology.schema.quoting": """
                cql_keywords cql_keywords_reserved cql_keywords_unreserved escape_name is_valid_name
                maybe_escape_name=protect_name protect_name protect_names protect_value
            """,
            "topology.replication": """
                LocalStrategy NetworkTopologyStrategy ReplicationFactor ReplicationStrategy
                SimpleStrategy
            """,
            "topology.ring": "TokenMap",
            "topology.tablets": "Tablets",
            "topology.token": """
                BytesToken HashToken=Token MAX_LONG MD5Token MIN_LONG Murmur3Token Token murmur3
            """,
            "topology.endpoint": "EndPoint",
            "policies.distance": "HostDistance",
            "results.rows": "dict_factory",
            "statements": "bind_params",
            "types.literals": "Encoder",
            "types.marshal": "varint_unpack",
            "protocol.consistency": "ConsistencyLevel",
            "protocol.errors": "InvalidRequest Unauthorized",
            "wire.requests": "QueryMessage",
            "compat.adaptors.cqltypes": "trim_if_startswith",
            "compat.adaptors.root": """
                NoMurmur3 REPLICATION_STRATEGY_CLASS_PREFIX SignatureDescriptor
            """,
            "compat.adaptors.util": "Version maybe_add_timeout_to_query",
        },
        behind=(
            "topology.metadata",
            "topology.ring",
            "topology.replication",
            "topology.token",
            "topology.schema.table",
            "topology.schema.keyspace",
        ),
    ),
    "cassandra.cmurmur3": serve(
        {"topology.token": "murmur3"},
        behind=("topology.token",),
    ),
    "cassandra.murmur3": serve(
        {"topology.token": "murmur3"},
        behind=("topology.token",),
    ),
    "cassandra.tablets": serve(
        {"topology.tablets": "Tablet Tablets"},
        behind=("topology.tablets",),
    ),
}
