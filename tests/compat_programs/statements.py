"""Simple and prepared statements, by position and by name."""
# ruff: noqa: T201  (a program prints)

import uuid

from cassandra import ConsistencyLevel
from cassandra.query import UNSET_VALUE, SimpleStatement
from keyspaces import connected

with connected() as (cluster, session):
    session.execute("CREATE TABLE users (id uuid PRIMARY KEY, name text, age int, tags set<text>)")
    one, two = uuid.UUID(int=1), uuid.UUID(int=2)
    session.execute(
        "INSERT INTO users (id, name, age, tags) VALUES (%s, %s, %s, %s)",
        (one, "it's", 30, {"a", "b"}),
    )
    session.execute(
        "INSERT INTO users (id, name) VALUES (%(id)s, %(name)s)", {"id": two, "name": "two"}
    )
    query = SimpleStatement(
        "SELECT name, age, tags FROM users WHERE id = %s", consistency_level=ConsistencyLevel.ONE
    )
    row = session.execute(query, [one]).one()
    print(row.name, row.age, list(row.tags), row._fields)
    print(session.execute(query, [uuid.UUID(int=9)]).one())

    insert = session.prepare("INSERT INTO users (id, name, age) VALUES (?, ?, ?)")
    insert.consistency_level = ConsistencyLevel.QUORUM
    session.execute(insert, (two, "second", 20))
    session.execute(insert, {"id": two, "name": UNSET_VALUE, "age": None})
    bound = insert.bind((one, "first"))
    print(
        bound.consistency_level, bound.routing_key == one.bytes, bound.keyspace == session.keyspace
    )
    session.execute(bound)
    select = session.prepare("SELECT * FROM users WHERE id = ?")
    for key in (one, two):
        for row in session.execute(select, [key]):
            print(row)
    print(len(select.result_metadata), select.query_string)
    result = session.execute("SELECT name FROM users")
    print(sorted(name for (name,) in result), result.column_names)
    print([user.name for user in session.execute(select, [one]).all()])
    print(session.execute("SELECT count(*) FROM users")[0].count)
    print(cluster.metadata.cluster_name is not None, session.keyspace is not None)
