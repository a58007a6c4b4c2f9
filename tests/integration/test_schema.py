"""Schema: what the driver knows and follows of it, and exports as text that a server takes."""

import re

import pytest

from tests.integration.leaks import eventually
from tests.integration.rings import lacks

SCHEMA = """
CREATE TYPE {ks}.inner_type (a int, b text);
CREATE TYPE {ks}.outer_type (i frozen<inner_type>, "Upper" list<text>);
CREATE TABLE {ks}.plain (k int PRIMARY KEY, v text) WITH comment = 'it''s plain';
CREATE TABLE {ks}.wide (
    a int, b text, c timestamp, d int, fixed text STATIC, t frozen<outer_type>, m map<text, int>,
    "Quoted Name" int, e {vector}, PRIMARY KEY ((a, b), c, d)
) WITH CLUSTERING ORDER BY (c DESC, d ASC) AND gc_grace_seconds = 3600
  AND compaction = {{'class': 'LeveledCompactionStrategy'}};
CREATE TABLE {ks}.counts (k int PRIMARY KEY, n counter);
CREATE INDEX plain_v ON {ks}.plain (v);
CREATE INDEX wide_keys ON {ks}.wide (keys(m));
CREATE {custom}INDEX wide_e ON {ks}.wide (e){storage_attached};
CREATE MATERIALIZED VIEW {ks}.by_v AS SELECT k, v FROM {ks}.plain
    WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k);
CREATE FUNCTION {ks}.plus (s int, x int) RETURNS NULL ON NULL INPUT RETURNS int
    LANGUAGE java AS 'return s + x;';
CREATE AGGREGATE {ks}.total (int) SFUNC plus STYPE int INITCOND 0;
"""
#: What stands for the names in braces: as much of it as the server has.
WORDS = (
    {"vector": "float", "custom": "", "storage_attached": ""}
    if lacks("5.0", "vectors")
    else {
        "vector": "vector<float, 3>",
        "custom": "CUSTOM ",
        "storage_attached": " USING 'StorageAttachedIndex'",
    }
)

#: What a semicolon does not end: strings, names, bodies of functions, comments.
PIECES = re.compile(r"'[^']*'|\"[^\"]*\"|\$\$.*?\$\$|/\*.*?\*/|--[^\n]*|;|[^;]", re.DOTALL)


def statements(text):
    """Single statements of a CQL text."""
    found = [""]
    for piece in PIECES.findall(text):
        if piece == ";":
            found.append("")
        elif not piece.startswith(("--", "/*")):
            found[-1] += piece
    return [statement.strip() for statement in found if statement.strip()]


@pytest.fixture
def schema(session, keyspace_name):
    for statement in statements(SCHEMA.format(ks=keyspace_name, **WORDS)):
        session.execute(statement, timeout=30)
    return session.cluster.metadata.keyspaces[keyspace_name]


def test_everything_that_was_made_is_known(schema):
    assert set(schema.tables) == {"plain", "wide", "counts"}
    assert set(schema.user_types) == {"inner_type", "outer_type"}
    assert set(schema.views) == {"by_v"}
    assert set(schema.indexes) == {"plain_v", "wide_keys", "wide_e"}
    assert set(schema.functions) == {"plus(int,int)"}
    assert set(schema.aggregates) == {"total(int)"}
    wide = schema.tables["wide"]
    assert [column.name for column in wide.partition_key] == ["a", "b"]
    assert [column.name for column in wide.clustering_key] == ["c", "d"]
    assert [column.is_reversed for column in wide.clustering_key] == [True, False]
    assert wide.columns["fixed"].is_static
    assert wide.columns["m"].cql_type == "map<text, int>"
    assert wide.columns["e"].cql_type == WORDS["vector"]
    assert wide.options["gc_grace_seconds"] == 3600
    assert schema.tables["plain"].options["comment"] == "it's plain"


def test_the_exported_text_makes_the_same_schema_again(schema, session, keyspace_name):
    text = schema.export_as_string()
    session.execute(f"DROP KEYSPACE {keyspace_name}", timeout=30)
    assert eventually(lambda: keyspace_name not in session.cluster.metadata.keyspaces)
    for statement in statements(text):
        session.execute(statement, timeout=30)
    again = session.cluster.metadata.keyspaces[keyspace_name].export_as_string()
    # Tables are exported in the order in which they came to be known: one by one when they are
    # made, by name when the whole keyspace is read again, as it is after an event that came late.
    assert sorted(statements(again)) == sorted(statements(text))


def test_changes_are_followed(schema, session, keyspace_name):
    assert "w" not in schema.tables["plain"].columns
    session.execute(f"ALTER TABLE {keyspace_name}.plain ADD w int")
    tables = session.cluster.metadata.keyspaces[keyspace_name].tables
    assert "w" in tables["plain"].columns
    session.execute(f"DROP INDEX {keyspace_name}.plain_v")
    session.execute(f"DROP MATERIALIZED VIEW {keyspace_name}.by_v")
    session.execute(f"DROP AGGREGATE {keyspace_name}.total")
    session.execute(f"DROP TABLE {keyspace_name}.wide", timeout=30)
    now = session.cluster.metadata.keyspaces[keyspace_name]
    assert (set(now.tables), set(now.views), set(now.indexes)) == (
        {"plain", "counts"},
        set(),
        set(),
    )
    assert not now.aggregates


def test_changes_of_others_are_heard_of(session, clusters, one_node, keyspace_name):
    other = clusters(one_node.addresses, schema_event_refresh_window=0)
    other.connect()
    session.execute("CREATE TABLE heard_of (k int PRIMARY KEY)")
    assert eventually(lambda: "heard_of" in other.metadata.keyspaces[keyspace_name].tables)
    session.execute("ALTER TABLE heard_of ADD v text")
    assert eventually(
        lambda: "v" in other.metadata.keyspaces[keyspace_name].tables["heard_of"].columns
    )
    session.execute("DROP TABLE heard_of", timeout=30)
    assert eventually(lambda: "heard_of" not in other.metadata.keyspaces[keyspace_name].tables)


def test_schema_can_be_read_by_hand(session, clusters, one_node, keyspace_name):
    blind = clusters(one_node.addresses, schema_metadata_enabled=False)
    blind.connect()
    assert keyspace_name not in blind.metadata.keyspaces
    session.execute("CREATE TABLE t (k int PRIMARY KEY)")
    blind.refresh_keyspace_metadata(keyspace_name)
    assert blind.metadata.keyspaces[keyspace_name].durable_writes
    session.execute("ALTER TABLE t ADD v int")
    blind.refresh_table_metadata(keyspace_name, "t")
    assert "v" in blind.metadata.keyspaces[keyspace_name].tables["t"].columns
    session.execute("CREATE TYPE pair (a int)")
    blind.refresh_user_type_metadata(keyspace_name, "pair")
    assert "pair" in blind.metadata.keyspaces[keyspace_name].user_types


def test_the_schema_of_the_server_itself_is_known_too(session):
    keyspaces = session.cluster.metadata.keyspaces
    assert "local" in keyspaces["system"].tables
    assert not keyspaces["system"].virtual


@pytest.mark.since("4.0", "virtual tables")
def test_tables_that_nothing_is_stored_for_are_known_as_such(session):
    views = session.cluster.metadata.keyspaces["system_views"]
    assert "clients" in views.tables
    assert views.virtual


def test_the_exported_text_of_everything_names_every_keyspace(session, keyspace_name):
    text = session.cluster.metadata.export_schema_as_string()
    assert f"CREATE KEYSPACE {keyspace_name} " in text
    assert "CREATE TABLE system.local" in text


def test_agreement_is_told_by_the_response(session):
    future = session.execute_async("CREATE TABLE agreed (k int PRIMARY KEY)")
    future.result()
    assert future.is_schema_agreed
