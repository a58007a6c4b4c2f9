"""dask-cassandra-loader: partitions of a table into a Dask data frame, on NumPy arrays."""
# ruff: noqa: T201  (a program prints)

import sys

from cassandra.cluster import Cluster
from dask_cassandra_loader.loader import Loader

address, keyspace = sys.argv[1:]
with Cluster([address]) as cluster:
    session = cluster.connect()
    session.execute(
        f"CREATE KEYSPACE {keyspace} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.set_keyspace(keyspace)
    session.execute("CREATE TABLE t (id int, day int, v double, w text, PRIMARY KEY (id, day))")
    insert = session.prepare("INSERT INTO t (id, day, v, w) VALUES (?, ?, ?, ?)")
    for number in range(200):
        session.execute(insert, (number % 4, number, number / 4, f"w{number}"))
    loader = Loader()
    loader.connect_to_local_dask()
    loader.connect_to_cassandra([address], keyspace, username="any", password="any")  # noqa: S106
    table = loader.load_cassandra_table(
        "t", ["id", "day", "v", "w"], [("day", "less_than", [100])], [("id", [0, 1, 3])]
    )
    frame = table.data.compute().sort_values(["id", "day"]).reset_index(drop=True)
    print(frame.dtypes.to_string())
    print(frame.describe().to_string())
    print(frame.head().to_string())
    print(table.data.groupby("id").v.sum().compute().sort_index().to_string())
    loader.disconnect_from_cassandra()
    loader.disconnect_from_dask()
    session.execute(f"DROP KEYSPACE {keyspace}", timeout=30)
