"""Shapes of rows, and protocol handlers."""
# ruff: noqa: T201  (a program prints)

from cassandra.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile
from cassandra.protocol import LazyProtocolHandler, ProtocolHandler
from cassandra.query import dict_factory, named_tuple_factory, ordered_dict_factory, tuple_factory
from keyspaces import connected

with connected() as (_, session):
    session.execute('CREATE TABLE t (k int PRIMARY KEY, "Mixed" text, w double)')
    session.execute("INSERT INTO t (k, \"Mixed\", w) VALUES (1, 'x', 0.5)")
    query = 'SELECT k, "Mixed", w, now() FROM t'
    for factory in (tuple_factory, named_tuple_factory, dict_factory, ordered_dict_factory):
        session.row_factory = factory
        row = session.execute(query).one()
        values = list(row.values()) if isinstance(row, dict) else list(row)
        print(factory.__name__, values[:3], list(row)[:2], len(row))
    session.row_factory = lambda names, rows: [dict(zip(names, row, strict=True)) for row in rows]
    print(session.execute("SELECT k, w FROM t").one())
    session.row_factory = named_tuple_factory
    result = session.execute("SELECT k, w FROM t")
    print(result.column_names, [column.typename for column in result.column_types], bool(result))
    print(session.execute("SELECT k FROM t WHERE k = 9").one(), bool(result.current_rows))

    for handler in (LazyProtocolHandler, ProtocolHandler):
        session.client_protocol_handler = handler
        session.row_factory = tuple_factory
        print([tuple(row) for row in session.execute("SELECT k, w FROM t")])

with connected(
    execution_profiles={EXEC_PROFILE_DEFAULT: ExecutionProfile(row_factory=dict_factory)}
) as (_, session):
    print(session.execute("SELECT key FROM system.local").one())
