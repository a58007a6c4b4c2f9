"""The system tables of a cluster, and just enough CQL to select from them."""

from __future__ import annotations

import re
import uuid

from cql_node import error, rows

from driver.types.registry import lookup_casstype

TEXTS, MAP = "SetType(UTF8Type)", "MapType(UTF8Type,UTF8Type)"
NODE = {
    "data_center": "UTF8Type",
    "host_id": "UUIDType",
    "rack": "UTF8Type",
    "release_version": "UTF8Type",
    "rpc_address": "InetAddressType",
    "schema_version": "UUIDType",
    "tokens": TEXTS,
}
PART = {"keyspace_name": "UTF8Type", "table_name": "UTF8Type"}
COLUMNS = {
    "system.local": {
        "key": "UTF8Type",
        "broadcast_address": "InetAddressType",
        "cluster_name": "UTF8Type",
        "listen_address": "InetAddressType",
        "partitioner": "UTF8Type",
        **NODE,
    },
    "system.peers": {"peer": "InetAddressType", **NODE},
    "system_schema.keyspaces": {
        "keyspace_name": "UTF8Type",
        "durable_writes": "BooleanType",
        "replication": MAP,
    },
    "system_schema.scylla_keyspaces": {
        "keyspace_name": "UTF8Type",
        "initial_tablets": "Int32Type",
        "consistency": "UTF8Type",
    },
    "system_schema.tables": {
        **PART,
        "bloom_filter_fp_chance": "DoubleType",
        "caching": MAP,
        "comment": "UTF8Type",
        "compaction": MAP,
        "compression": MAP,
        "crc_check_chance": "DoubleType",
        "default_time_to_live": "Int32Type",
        "extensions": "MapType(UTF8Type,BytesType)",
        "flags": TEXTS,
        "gc_grace_seconds": "Int32Type",
        "id": "UUIDType",
        "max_index_interval": "Int32Type",
        "memtable_flush_period_in_ms": "Int32Type",
        "min_index_interval": "Int32Type",
        "speculative_retry": "UTF8Type",
    },
    "system_schema.columns": {
        **PART,
        "column_name": "UTF8Type",
        "clustering_order": "UTF8Type",
        "column_name_bytes": "BytesType",
        "kind": "UTF8Type",
        "position": "Int32Type",
        "type": "UTF8Type",
    },
    "system_schema.scylla_tables": {**PART, "cdc": MAP, "partitioner": "UTF8Type"},
    "system_schema.views": {"keyspace_name": "UTF8Type", "view_name": "UTF8Type"},
    "system_schema.indexes": {**PART, "index_name": "UTF8Type"},
    "system_schema.triggers": {**PART, "trigger_name": "UTF8Type"},
    "system_schema.types": {"keyspace_name": "UTF8Type", "type_name": "UTF8Type"},
    "system_schema.functions": {"keyspace_name": "UTF8Type", "function_name": "UTF8Type"},
    "system_schema.aggregates": {"keyspace_name": "UTF8Type", "aggregate_name": "UTF8Type"},
    "system_schema.scylla_aggregates": {
        "keyspace_name": "UTF8Type",
        "aggregate_name": "UTF8Type",
    },
}

_SELECT = re.compile(
    r"SELECT (.+?) FROM (\w+\.\w+)(?: WHERE (.+?))?(?: USING TIMEOUT \d+ms)?$", re.IGNORECASE
)
_EQUALS = re.compile(r"(\w+)\s*=\s*'([^']*)'")


def is_system_query(text):
    match = _SELECT.match(text)
    return bool(match) and match[2].startswith("system")


def answer(text, content):
    """The answer to a SELECT, from the rows (dicts) of each table; unknown tables are an error."""
    selected, table, where = _SELECT.match(text).groups()
    if table not in COLUMNS:
        return error(0x2200, f"unconfigured table {table.partition('.')[2]}")
    conditions = _EQUALS.findall(where or "")
    found = [
        row
        for row in content.get(table, ())
        if all(str(row.get(column)) == value for column, value in conditions)
    ]
    names = list(COLUMNS[table]) if selected == "*" else re.split(r"\s*,\s*", selected)
    columns = [(name, lookup_casstype(COLUMNS[table][name])) for name in names]
    values = [[row.get(name) for name in names] for row in found]
    return rows(columns, values, table=tuple(table.split(".")))


def keyspace_rows(name, replication, tablets, consistency=None):
    """The rows of a keyspace."""
    yield (
        "system_schema.keyspaces",
        {"keyspace_name": name, "durable_writes": True, "replication": replication},
    )
    if tablets:
        yield (
            "system_schema.scylla_keyspaces",
            {"keyspace_name": name, "initial_tablets": tablets, "consistency": consistency},
        )


def table_rows(keyspace, name):
    """The rows of a table ``(k int PRIMARY KEY, v int)``."""
    part = {"keyspace_name": keyspace, "table_name": name}
    options = {
        "bloom_filter_fp_chance": 0.01,
        "caching": {"keys": "ALL", "rows_per_partition": "ALL"},
        "comment": "",
        "compaction": {"class": "SizeTieredCompactionStrategy"},
        "compression": {},
        "crc_check_chance": 1.0,
        "default_time_to_live": 0,
        "extensions": {},
        "flags": {"compound"},
        "gc_grace_seconds": 864000,
        "id": uuid.uuid5(uuid.NAMESPACE_DNS, f"{keyspace}.{name}"),
        "max_index_interval": 2048,
        "memtable_flush_period_in_ms": 0,
        "min_index_interval": 128,
        "speculative_retry": "99.0PERCENTILE",
    }
    yield "system_schema.tables", {**part, **options}
    yield "system_schema.scylla_tables", part
    for column, kind, position in (("k", "partition_key", 0), ("v", "regular", -1)):
        yield (
            "system_schema.columns",
            {
                **part,
                "column_name": column,
                "clustering_order": "none",
                "column_name_bytes": column.encode(),
                "kind": kind,
                "position": position,
                "type": "int",
            },
        )
