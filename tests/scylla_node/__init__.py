"""A cluster that speaks ScyllaDB's protocol extensions, of the tests' own.

No ScyllaDB server runs where this project is tested. What its nodes say beyond Cassandra is written
here from ScyllaDB's public description of its protocol (scylladb/scylladb,
docs/dev/protocol-extensions.md), byte by byte and without the driver's own parsers::

    with ScyllaCluster(nodes=3, shards=4) as scylla:
        scylla.create_table("ks", "t", tablets=8)
        ... connect to scylla.contact_points, scylla.port ...
        assert {arrival.shard for arrival in scylla.arrivals} == {0, 1, 2, 3}
"""

from .cluster import ScyllaCluster
from .node import Arrival, ScyllaNode

__all__ = ["Arrival", "ScyllaCluster", "ScyllaNode"]
