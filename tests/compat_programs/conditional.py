"""Lightweight transactions: was_applied, and what stood in the way."""
# ruff: noqa: T201  (a program prints)

from cassandra import ConsistencyLevel
from cassandra.query import BatchStatement, SimpleStatement, dict_factory, tuple_factory
from keyspaces import connected

with connected() as (_, session):
    session.execute("CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))")
    insert = SimpleStatement(
        "INSERT INTO t (k, c, v) VALUES (1, 1, 'first') IF NOT EXISTS",
        serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL,
    )
    print(session.execute(insert).was_applied)
    refused = session.execute(insert)
    print(refused.was_applied, refused.one().v)
    update = session.prepare("UPDATE t SET v = ? WHERE k = 1 AND c = 1 IF v = ?")
    print(session.execute(update, ("second", "first")).was_applied)
    print(session.execute(update, ("third", "first")).was_applied)
    for factory in (dict_factory, tuple_factory):
        session.row_factory = factory
        print(session.execute(update, ("third", "first")).was_applied)
    batch = BatchStatement()
    batch.add("INSERT INTO t (k, c, v) VALUES (1, 2, 'b') IF NOT EXISTS")
    batch.add("UPDATE t SET v = 'c' WHERE k = 1 AND c = 1 IF EXISTS")
    print(session.execute(batch).was_applied)
    try:
        print(session.execute("SELECT * FROM t").was_applied)
    except RuntimeError:
        print("RuntimeError")
