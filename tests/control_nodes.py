"""A cluster of in-process CQL nodes that describe each other, for tests of what watches a cluster.

Each node listens on a port of its own on 127.0.0.1. What the system tables say is worked out from
``FakeCluster.members`` whenever somebody asks, so a test changes that and sends an event, or not.
"""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import dataclass, field

from cql_node import CqlNode, error, rows, status_change, topology_change

from driver.topology.endpoint import DefaultEndPoint
from driver.types import lookup_casstype

TEXT, UUID, INET, INT, BOOLEAN = map(
    lookup_casstype, ("UTF8Type", "UUIDType", "InetAddressType", "Int32Type", "BooleanType")
)
TEXTS = lookup_casstype("SetType(UTF8Type)")
OPTIONS = lookup_casstype("MapType(UTF8Type, UTF8Type)")
MURMUR3 = "org.apache.cassandra.dht.Murmur3Partitioner"
INVALID = 0x2200
SCHEMA = uuid.UUID(int=1)

_PEER = [
    ("peer", INET),
    ("peer_port", INT),
    ("native_address", INET),
    ("native_port", INT),
    ("host_id", UUID),
    ("data_center", TEXT),
    ("rack", TEXT),
    ("release_version", TEXT),
    ("schema_version", UUID),
    ("tokens", TEXTS),
]
_OLD_PEER = [("peer", INET), ("rpc_address", INET), *_PEER[4:]]
_LOCAL = [
    ("key", TEXT),
    ("cluster_name", TEXT),
    ("partitioner", TEXT),
    ("rpc_address", INET),
    ("rpc_port", INT),
    *_PEER[4:],
]


@dataclass
class Member:
    """What a node is said to be; ``None`` is null."""

    port: int
    host_id: uuid.UUID | None = field(default_factory=uuid.uuid4)
    address: str = "127.0.0.1"
    data_center: str | None = "dc1"
    rack: str | None = "r1"
    release_version: str = "5.0.0"
    schema_version: uuid.UUID | None = SCHEMA
    tokens: tuple[str, ...] | None = ()
    #: Whether there is a row about it.
    is_listed: bool = True

    @property
    def endpoint(self):
        return DefaultEndPoint(self.address, self.port)

    @property
    def row(self):
        return {
            "peer": self.address,
            "peer_port": 7000,
            "native_address": self.address,
            "rpc_address": self.address,
            "native_port": self.port,
            "rpc_port": self.port,
            "host_id": self.host_id,
            "data_center": self.data_center,
            "rack": self.rack,
            "release_version": self.release_version,
            "schema_version": self.schema_version,
            "tokens": self.tokens,
            "key": "local",
            "cluster_name": "a cluster",
            "partitioner": MURMUR3,
        }


class FakeCluster:
    """Nodes, and what they say of each other.

    Attributes:
        nodes: the servers.
        members: what the system tables say, in the same order; more than there are servers, or
            fewer, as a test likes.
        has_peers_v2: whether the newer table of peers is there.
        keyspaces: names of the keyspaces.
    """

    def __init__(self, count, *, has_peers_v2=True, **options):
        self.nodes = [CqlNode(**options) for _ in range(count)]
        self.members = []
        self.has_peers_v2 = has_peers_v2
        self.keyspaces = []
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        for index, node in enumerate(self.nodes):
            self._stack.enter_context(node)
            self.members.append(Member(node.port, tokens=(str(index * 1000),)))
            node.when("FROM system.peers", lambda request, i=index: self._peers(i, request))
            node.when("FROM system.local", lambda request, i=index: self._local(i, request))
            node.when("FROM system_schema.keyspaces", lambda _: self._keyspaces())
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _local(self, index, request):
        return _rows(_LOCAL, [self.members[index].row], request.text)

    def _peers(self, index, request):
        is_v2 = "peers_v2" in request.text
        if is_v2 and not self.has_peers_v2:
            return error(INVALID, "unconfigured table peers_v2")
        listed = [m for i, m in enumerate(self.members) if i != index and m.is_listed]
        return _rows(_PEER if is_v2 else _OLD_PEER, [m.row for m in listed], request.text)

    def _keyspaces(self):
        columns = [("keyspace_name", TEXT), ("durable_writes", BOOLEAN), ("replication", OPTIONS)]
        replication = {"class": "SimpleStrategy", "replication_factor": "1"}
        return rows(columns, [(name, True, replication) for name in self.keyspaces])

    def add_node(self, **options):
        """One more server; which is not said to be a member yet."""
        node = self._stack.enter_context(CqlNode(**options))
        self.nodes.append(node)
        return node

    def tell(self, change, member):
        """Have nodes send an event about a member."""
        make = status_change if change in {"UP", "DOWN"} else topology_change
        for node in self.nodes:
            if node._loop is not None:  # a node that was stopped tells nobody
                node.send_event(make(change, member.address, member.port))

    def count(self, text):
        """How often all nodes were asked something."""
        return sum(text in asked for node in self.nodes for asked in node.texts)


def _rows(columns, members, text):
    """The rows with the columns that a query names."""
    wanted = text.partition("SELECT ")[2].partition(" FROM")[0]
    if wanted != "*":
        names = [name.strip() for name in wanted.split(",")]
        missing = set(names) - {name for name, _ in columns}
        if missing:
            return error(INVALID, f"Undefined column name {sorted(missing)}")
        columns = [(name, cqltype) for name, cqltype in columns if name in names]
    where = text.partition("peer = '")[2].partition("'")[0]
    return rows(
        columns,
        [
            tuple(member[name] for name, _ in columns)
            for member in members
            if not where or member["peer"] == where
        ],
    )
