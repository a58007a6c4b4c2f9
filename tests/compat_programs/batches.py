"""Batches: logged, unlogged, counter; of texts and of prepared statements."""
# ruff: noqa: T201  (a program prints)

from cassandra import ConsistencyLevel
from cassandra.query import BatchStatement, BatchType, SimpleStatement
from keyspaces import connected

with connected() as (_, session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    session.execute("CREATE TABLE n (k int PRIMARY KEY, hits counter)")
    insert = session.prepare("INSERT INTO t (k, v) VALUES (?, ?)")

    batch = BatchStatement(consistency_level=ConsistencyLevel.QUORUM)
    batch.add(insert, (1, "prepared"))
    batch.add(SimpleStatement("INSERT INTO t (k, v) VALUES (%s, %s)"), (2, "simple"))
    batch.add("INSERT INTO t (k, v) VALUES (%(k)s, 'text')", {"k": 3})
    batch.add(insert.bind((4, "bound")))
    print(len(batch), session.execute(batch).one())

    unlogged = BatchStatement(batch_type=BatchType.UNLOGGED)
    unlogged.add_all([insert, insert], [(5, "a"), (6, "b")])
    session.execute(unlogged)
    print(sorted(map(tuple, session.execute("SELECT * FROM t"))))

    counters = BatchStatement(BatchType.COUNTER)
    for key in (1, 1, 2):
        counters.add("UPDATE n SET hits = hits + 1 WHERE k = %s", (key,))
    session.execute(counters)
    print(sorted(map(tuple, session.execute("SELECT * FROM n"))))

    conditional = BatchStatement()
    conditional.add("INSERT INTO t (k, v) VALUES (1, 'again') IF NOT EXISTS")
    print(session.execute(conditional).was_applied)
    batch.clear()
    print(len(batch))
