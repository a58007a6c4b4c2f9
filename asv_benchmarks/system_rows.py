"""The system tables of three nodes: what the driver reads before it knows a ring.

They are made, not recorded: a recorded ring would be that of the machine that recorded. Layout as
in the CQL binary protocol, version 5, sections 3 and 4.2.5.2.
"""

from __future__ import annotations

import struct
from ipaddress import ip_address
from uuid import UUID

RESULT, ROWS, GLOBAL_TABLE = 0x08, 2, 0x01
INET, TEXT, UUID_, INT, BOOLEAN = "\x10", "\x0d", "\x0c", "\x09", "\x04"
TEXTS, TEXT_TO_TEXT = "\x22\x0d", "\x21\x0d\x0d"

ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
PORT = 9042
DATACENTER = "dc1"
#: As many tokens a node as Cassandra has by default since version 4.
TOKENS = 16

#: Type, by the name of the column.
COLUMNS = {
    "cluster_name": TEXT,
    "partitioner": TEXT,
    "release_version": TEXT,
    "peer": INET,
    "peer_port": INT,
    "native_address": INET,
    "native_port": INT,
    "rpc_address": INET,
    "rpc_port": INT,
    "broadcast_address": INET,
    "listen_address": INET,
    "host_id": UUID_,
    "schema_version": UUID_,
    "data_center": TEXT,
    "rack": TEXT,
    "tokens": TEXTS,
    "keyspace_name": TEXT,
    "durable_writes": BOOLEAN,
    "replication": TEXT_TO_TEXT,
}


def answer(query: str, node: int) -> tuple[int, bytes] | None:
    """Opcode and body of a node's answer to a query; None if there is no such table."""
    for table, rows in (
        ("system.local", lambda: [_local(node)]),
        ("system.peers_v2", lambda: [_peer(other) for other in range(3) if other != node]),
        ("system_schema.keyspaces", lambda: [_keyspace()]),
    ):
        if f"FROM {table}" in query:
            return RESULT, _body(table, rows())
    return None


def _node(node: int) -> dict[str, bytes]:
    """What both tables of nodes say of one."""
    step = 2**64 // (3 * TOKENS)
    tokens = [str(-(2**63) + step * (3 * n + node) + 1).encode() for n in range(TOKENS)]
    return {
        "release_version": b"5.0.9",
        "host_id": UUID(int=node + 1).bytes,
        "schema_version": UUID(int=7).bytes,
        "data_center": DATACENTER.encode(),
        "rack": f"r{node + 1}".encode(),
        "tokens": _collection(tokens, len(tokens)),
    }


def _local(node: int) -> dict[str, bytes]:
    address = ip_address(ADDRESSES[node]).packed
    return _node(node) | {
        "cluster_name": b"cqlpath",
        "partitioner": b"org.apache.cassandra.dht.Murmur3Partitioner",
        "rpc_address": address,
        "rpc_port": struct.pack(">i", PORT),
        "broadcast_address": address,
        "listen_address": address,
    }


def _peer(node: int) -> dict[str, bytes]:
    address = ip_address(ADDRESSES[node]).packed
    return _node(node) | {
        "peer": address,
        "peer_port": struct.pack(">i", 7000),
        "native_address": address,
        "native_port": struct.pack(">i", PORT),
    }


def _keyspace() -> dict[str, bytes]:
    """The keyspace of the recorded statements, with a replica on each node."""
    strategy = b"org.apache.cassandra.locator.NetworkTopologyStrategy"
    replication = [b"class", strategy, DATACENTER.encode(), b"3"]
    return {
        "keyspace_name": b"cqlpath",
        "durable_writes": b"\x01",
        "replication": _collection(replication, 2),
    }


def _collection(elements: list[bytes], length: int) -> bytes:
    return struct.pack(">i", length) + b"".join(map(_cell, elements))


def _cell(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _string(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _body(table: str, rows: list[dict[str, bytes]]) -> bytes:
    """The body of RESULT with rows, all of which have the same columns."""
    names = list(rows[0])
    keyspace, _, name = table.partition(".")
    kinds = (b"".join(struct.pack(">H", ord(code)) for code in COLUMNS[name]) for name in names)
    columns = [_string(column) + kind for column, kind in zip(names, kinds, strict=True)]
    cells = [_cell(row[column]) for row in rows for column in names]
    return b"".join([
        struct.pack(">iii", ROWS, GLOBAL_TABLE, len(names)),
        _string(keyspace), _string(name), *columns,
        struct.pack(">i", len(rows)), *cells,
    ])  # fmt: skip
