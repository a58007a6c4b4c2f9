"""cassio: a plain table, and one with vectors and metadata."""
# ruff: noqa: T201  (a program prints)

import sys

import cassio
from cassandra.cluster import Cluster
from cassio.table import MetadataVectorCassandraTable, PlainCassandraTable

address, keyspace = sys.argv[1:]
with Cluster([address]) as cluster:
    session = cluster.connect()
    session.execute(
        f"CREATE KEYSPACE {keyspace} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    cassio.init(session=session, keyspace=keyspace)
    plain = PlainCassandraTable(table="plain", row_id_type="TEXT")
    plain.put(row_id="a", body_blob="first")
    plain.put_async(row_id="b", body_blob="second").result()
    print(plain.get(row_id="a"), plain.get(row_id="b"), plain.get(row_id="none"))
    table = MetadataVectorCassandraTable(table="v", vector_dimension=3, primary_key_type="TEXT")
    table.put(row_id="x", body_blob="X", vector=[1.0, 0.0, 0.0], metadata={"c": "one"})
    table.put(row_id="y", body_blob="Y", vector=[0.0, 1.0, 0.0], metadata={"c": "two"})
    for hit in table.metric_ann_search(vector=[0.9, 0.1, 0.0], n=2, metric="cos"):
        print(hit["row_id"], hit["metadata"], round(hit["distance"], 3))
    print([row["row_id"] for row in table.find_entries(n=5, metadata={"c": "two"})])
    session.execute(f"DROP KEYSPACE {keyspace}", timeout=30)
