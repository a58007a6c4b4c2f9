"""The schema of a real server: what is exported of it creates the same schema again."""

import re
from pathlib import Path

import pytest

from tests.integration.rings import lacks

pytestmark = pytest.mark.once

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "topology" / "rich_schema.cql"
KEYSPACES = {"rich": "rich", "RichToo": '"RichToo"'}
#: What the server has switched off unless its settings say otherwise, and the words that need it.
OPTIONAL = {
    "materialized_views_enabled": "MATERIALIZED VIEW",
    "dynamic_data_masking_enabled": "MASKED WITH",
    "sasi_indexes_enabled": "SASIIndex",
}
#: Words of what came with a release: a field, and whole statements.
SINCE_5_0 = ("rich.embedded", "MASKED WITH", "legacy_local_table")
VECTOR_OF_A_TYPE = ", embedding vector<float, 2>"
#: Statements may compile a function, and the server may be busy.
SECONDS = 60


@pytest.fixture
def cluster(one_node, clusters):
    return clusters(one_node.addresses)


@pytest.fixture
def session(cluster):
    session = cluster.connect()
    drop_all(session)
    yield session
    drop_all(session)


def drop_all(session):
    for name in KEYSPACES.values():
        session.execute(f"DROP KEYSPACE IF EXISTS {name}", timeout=SECONDS)


def rich_statements(session):
    """The statements of the rich schema that the server can execute."""
    texts = GOLDEN.read_text(encoding="utf-8")
    unwanted = []
    if lacks("5.0", "vectors and masks"):
        texts = texts.replace(VECTOR_OF_A_TYPE, "")
        unwanted += SINCE_5_0
    if not lacks("4.1", "settings by these names"):
        settings = session.execute("SELECT name, value FROM system_views.settings")
        switched_off = {row.name for row in settings if row.value == "false"}
        unwanted += [word for setting, word in OPTIONAL.items() if setting in switched_off]
    parts = [text.strip("; \n") for text in texts.split(";\n\n")]
    return [text for text in parts if not any(word in text for word in unwanted)]


def statements_of(export):
    return [text.strip("; \n") for text in re.split(r";\n+(?=CREATE )", export)]


def outline(keyspace):
    """What a keyspace holds, apart from its text."""
    return {
        "types": {name: part.field_names for name, part in keyspace.user_types.items()},
        "functions": set(keyspace.functions),
        "aggregates": set(keyspace.aggregates),
        "indexes": {name: part.index_options for name, part in keyspace.indexes.items()},
        "views": {name: list(part.columns) for name, part in keyspace.views.items()},
        "tables": {
            name: (
                [column.name for column in part.partition_key],
                [(column.name, column.is_reversed) for column in part.clustering_key],
                {column.name: column.cql_type for column in part.columns.values()},
                part.options,
                set(part.indexes),
                set(part.views),
            )
            for name, part in keyspace.tables.items()
        },
    }


@pytest.mark.within(300)
@pytest.mark.since("4.0", "options of tables that the schema has")
def test_an_export_is_accepted_back_and_gives_the_same_schema(cluster, session):
    created = rich_statements(session)
    for statement in created:
        session.execute(statement, timeout=SECONDS)
    cluster.refresh_schema_metadata()
    keyspaces = {name: cluster.metadata.keyspaces[name] for name in KEYSPACES}
    # Now: what is told of the drops later on takes the tables out of these very keyspaces.
    exports = {name: keyspace.export_as_string() for name, keyspace in keyspaces.items()}
    outlines = {name: outline(keyspace) for name, keyspace in keyspaces.items()}
    assert len(outlines["rich"]["tables"]) == sum(
        s.startswith("CREATE TABLE rich.") for s in created
    )
    drop_all(session)
    cluster.refresh_schema_metadata()
    assert not KEYSPACES.keys() & cluster.metadata.keyspaces.keys()

    for export in exports.values():
        for statement in statements_of(export):
            session.execute(statement, timeout=SECONDS)
    cluster.refresh_schema_metadata()
    for name, export in exports.items():
        again = cluster.metadata.keyspaces[name]
        assert outline(again) == outlines[name]
        assert again.export_as_string() == export


def test_metadata_follows_each_change_without_being_asked_to(cluster, session):
    session.execute(
        "CREATE KEYSPACE rich WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.execute("CREATE TYPE rich.pair (a int, b text)")
    assert cluster.metadata.keyspaces["rich"].user_types["pair"].field_types == ["int", "text"]
    session.execute("CREATE TABLE rich.t (k int PRIMARY KEY, v frozen<pair>)")
    assert [c.name for c in cluster.metadata.table("rich", "t").partition_key] == ["k"]
    session.execute("ALTER TABLE rich.t ADD more list<int>")
    assert cluster.metadata.table("rich", "t").columns["more"].cql_type == "list<int>"
    session.execute("CREATE INDEX by_v ON rich.t (v)")
    assert "by_v" in cluster.metadata.keyspaces["rich"].indexes
    session.execute(
        "CREATE FUNCTION rich.same(p pair) RETURNS NULL ON NULL INPUT RETURNS pair "
        "LANGUAGE java AS 'return p;'",
        timeout=SECONDS,
    )
    assert set(cluster.metadata.keyspaces["rich"].functions) == {"same(pair)"}
    session.execute("DROP FUNCTION rich.same(pair)")
    assert cluster.metadata.keyspaces["rich"].functions == {}
    session.execute("DROP TABLE rich.t")
    assert cluster.metadata.table("rich", "t") is None
    assert cluster.metadata.keyspaces["rich"].indexes == {}
    session.execute("DROP TYPE rich.pair")
    assert cluster.metadata.keyspaces["rich"].user_types == {}
    session.execute("DROP KEYSPACE rich")
    assert "rich" not in cluster.metadata.keyspaces
