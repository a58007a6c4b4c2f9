"""A cluster of in-process nodes that know each other: what `cql_node` is for one connection.

    with CqlCluster(3) as cluster:
        cluster.when("FROM t", rows([("k", Int32Type)], [(1,)]))
        ... Cluster(**cluster.options) ...

Each node has its row in ``system.local`` and those of the others in ``system.peers_v2``, so that a
driver finds all of them through any of them. They share an address and differ in their port.
"""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from uuid import UUID

from cql_node import CqlNode, rows

from driver.types import InetAddressType, Int32Type, SetType, UTF8Type, UUIDType

_SCHEMA_VERSION = UUID(int=99)
_TEXTS = SetType.apply_parameters([UTF8Type])
_SHARED = [
    ("host_id", UUIDType),
    ("data_center", UTF8Type),
    ("rack", UTF8Type),
    ("release_version", UTF8Type),
    ("schema_version", UUIDType),
    ("tokens", _TEXTS),
]
_LOCAL = [
    ("key", UTF8Type),
    ("cluster_name", UTF8Type),
    ("partitioner", UTF8Type),
    ("rpc_address", InetAddressType),
    ("rpc_port", Int32Type),
    ("broadcast_address", InetAddressType),
    *_SHARED,
]
_PEERS = [
    ("peer", InetAddressType),
    ("peer_port", Int32Type),
    ("native_address", InetAddressType),
    ("native_port", Int32Type),
    *_SHARED,
]
_RING = 1 << 64


class CqlCluster:
    """Nodes that know each other.

    Args:
        size: how many.
        datacenters: name of the datacenter of each node; the last one goes on for the rest.
        options: keywords of ``CqlNode``, for each.

    Attributes:
        nodes: all of them; ``node(host)`` finds that of a host of the driver.
        members: those that the others know of, by position.
    """

    def __init__(self, size=1, datacenters=("dc1",), **options):
        self.datacenters = list(datacenters) + [datacenters[-1]] * size
        self.release_version = "5.0.4"
        self.nodes = [CqlNode(**options) for _ in range(size)]
        self.members = list(range(size))
        self._stack = ExitStack()

    def __enter__(self):
        for position, node in enumerate(self.nodes):
            self._stack.enter_context(node)
            self._describe(position, node)
        return self

    def __exit__(self, *exc):
        self._stack.__exit__(*exc)

    def _describe(self, position, node):
        node.when("FROM system.local", lambda _: rows(_LOCAL, [self._local(position)]))
        node.when(re.compile("FROM system.peers(_v2)?"), lambda _: self._peers_of(position))

    def _facts(self, position):
        tokens = {str(-(_RING >> 1) + _RING // len(self.nodes) * position)}
        return (
            UUID(int=position + 1),
            self.datacenters[position],
            "rack1",
            self.release_version,
            _SCHEMA_VERSION,
            tokens,
        )

    def _local(self, position):
        node = self.nodes[position]
        return (
            "local",
            "Test Cluster",
            "org.apache.cassandra.dht.Murmur3Partitioner",
            node.host,
            node.port,
            node.host,
            *self._facts(position),
        )

    def _peers_of(self, position):
        others = [other for other in self.members if other != position]
        return rows(
            _PEERS,
            [
                (
                    self.nodes[other].host,
                    7000 + other,
                    self.nodes[other].host,
                    self.nodes[other].port,
                    *self._facts(other),
                )
                for other in others
            ],
        )

    @property
    def options(self):
        """Keywords of a driver's Cluster that make it find this one, and wait for little."""
        first = self.nodes[0]
        return {"contact_points": [first.host], "port": first.port}

    def node(self, host):
        """The node that a host of the driver stands for."""
        return next(node for node in self.nodes if node.port == host.endpoint.port)

    def when(self, text, answer):
        """Have every node answer so; see ``CqlNode.when``."""
        for node in self.nodes:
            node.when(text, answer)

    def prepare(self, text, **described):
        """Have every node describe a prepared statement so; see ``CqlNode.prepare``."""
        for node in self.nodes:
            node.prepare(text, **described)

    @property
    def texts(self):
        """The texts that all nodes were asked, but for the driver's own questions."""
        return [text for node in self.nodes for text in node.texts if " system" not in text.lower()]


def eventually(is_so, seconds=10):
    """Whether something becomes so; it is looked at until then."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
