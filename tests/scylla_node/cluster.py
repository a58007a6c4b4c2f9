"""Several nodes that know of each other, and the tables that they share."""

from __future__ import annotations

import contextlib
import itertools
import re
from dataclasses import dataclass, field
from uuid import UUID

from . import system_tables
from .extensions import TABLETS_V2, Tablet
from .node import ScyllaNode

_SCHEMA_VERSION = UUID("59b1f2f6-0d9a-3a3b-8f6f-5b5e0f5a7c11")
_TABLE = re.compile(r"(?:FROM|INTO) (\w+\.\w+)")
_TOKENS_A_NODE = 4
#: Other programs may have the port of the first node on the address of another one.
_ATTEMPTS = 10


@dataclass
class Table:
    """``(k int PRIMARY KEY, v int)``; without tablets, the ring says who has what.

    ``added`` names more columns of ints, which are null; ``SELECT *`` gives them.
    """

    tablets: list = field(default_factory=list)
    content: dict = field(default_factory=dict)
    added: list = field(default_factory=list)

    def tablet_of(self, token):
        return next((tablet for tablet in self.tablets if token in tablet), None)


class ScyllaCluster:
    """Nodes on 127.0.0.1, 127.0.0.2 and so on, which share a port as ScyllaDB's do.

    Args:
        nodes: how many.
        shards: of each node.
        ignore_msb: most significant bits of a token that do not count for the shard.
        has_shard_aware_port: whether there is a port on which clients choose their shard.
        replication_factor: of all keyspaces.
        lacks: extensions that no node has; the second version of tablets is behind an option of
            the server.
        options: of ``CqlNode``.

    Attributes:
        nodes: in the order of their addresses.
        arrivals: executions of all nodes, in order.
    """

    def __init__(
        self,
        nodes=1,
        shards=4,
        ignore_msb=12,
        has_shard_aware_port=True,
        replication_factor=None,
        lacks=(TABLETS_V2,),
        **options,
    ):
        self.replication_factor = min(nodes, replication_factor or 3)
        self.arrivals = []
        self.tables = {}
        self._keyspaces = {}
        self._has_shard_aware_port = has_shard_aware_port
        self.nodes = [
            ScyllaNode(self, i, shards, ignore_msb, lacks, host=f"127.0.0.{i + 1}", **options)
            for i in range(nodes)
        ]
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        for _ in range(_ATTEMPTS):
            try:
                self._start()
            except OSError:
                self._stack.close()
            else:
                return self
        raise OSError(f"no port is free on all of {self.contact_points}")

    def __exit__(self, *_):
        self._stack.close()

    def _start(self):
        port = 0
        for node in self.nodes:
            node.port = port
            self._stack.callback(node.stop)
            node.start()
            port = node.port
            if self._has_shard_aware_port:
                node.open_shard_aware_port()

    @property
    def contact_points(self):
        return [node.host for node in self.nodes]

    @property
    def port(self):
        return self.nodes[0].port

    # --- tables -------------------------------------------------------------------------------

    def create_table(self, keyspace, name, tablets=0, consistency=None):
        """Create ``(k int PRIMARY KEY, v int)``, on the ring or in so many tablets.

        Under a consistency of "global" the first replica of each is its leader.
        """
        self._keyspaces[keyspace] = tablets, consistency
        table = self.tables[f"{keyspace}.{name}"] = Table()
        if tablets:
            self.place_tablets(table, tablets)
        return table

    def change_consistency(self, keyspace, consistency):
        """Change the option of a keyspace; nobody is told."""
        tablets, _ = self._keyspaces[keyspace]
        self._keyspaces[keyspace] = tablets, consistency

    def place_tablets(self, table, count, first_node=0):
        """Split a table into so many tablets, the first of them on the given node."""
        borders = [-(2**63) + i * 2**64 // count for i in range(count)] + [2**63 - 1]
        table.tablets = [
            Tablet(first, last, self.replicas(i + first_node, shard=i))
            for i, (first, last) in enumerate(itertools.pairwise(borders))
        ]

    def replicas(self, start, shard):
        """As many neighbours as the replication factor says, at one shard of each."""
        chosen = [self.nodes[(start + i) % len(self.nodes)] for i in range(self.replication_factor)]
        return tuple((node.host_id, shard % node.shards) for node in chosen)

    def table_of(self, text):
        """The table of a statement; None if it is none of these."""
        match = _TABLE.search(text)
        return self.tables.get(match[1]) if match else None

    # --- system tables ------------------------------------------------------------------------

    def tokens(self, node):
        """What a node owns of the ring, evenly spread."""
        count = len(self.nodes) * _TOKENS_A_NODE
        places = range(node.number, count, len(self.nodes))
        return [-(2**63) + (place + 1) * 2**64 // (count + 1) for place in places]

    def system_rows(self, asked):
        """The rows of each system table, as a node has them."""
        content = {"system.local": [self._local(asked)], "system.peers": []}
        for node in self.nodes:
            if node is not asked:
                content["system.peers"].append({"peer": node.host, **self._row(node)})
        replication = {
            "class": "org.apache.cassandra.locator.NetworkTopologyStrategy",
            "dc1": str(self.replication_factor),
        }
        for keyspace, options in self._keyspaces.items():
            for table, row in system_tables.keyspace_rows(keyspace, replication, *options):
                content.setdefault(table, []).append(row)
        for name in self.tables:
            for table, row in system_tables.table_rows(*name.split(".")):
                content.setdefault(table, []).append(row)
        return content

    def _local(self, node):
        return {
            "key": "local",
            "broadcast_address": node.host,
            "cluster_name": "tests",
            "listen_address": node.host,
            "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            **self._row(node),
        }

    def _row(self, node):
        return {
            "data_center": "dc1",
            "host_id": node.host_id,
            "rack": "rack1",
            "release_version": "3.0.8",
            "rpc_address": node.host,
            "schema_version": _SCHEMA_VERSION,
            "tokens": {str(token) for token in self.tokens(node)},
        }
