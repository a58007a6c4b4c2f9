"""The schema of a real server, read from its recorded rows, and its text against DESCRIBE."""

import re
from collections import Counter

import pytest
from schema_server import SchemaServer

from driver.topology.schema.column import ColumnMask
from driver.topology.schema.function import comparable_type
from driver.topology.schema.quoting import protect_name
from driver.topology.schema.reader import (
    read_aggregate,
    read_function,
    read_keyspace,
    read_keyspaces,
    read_table,
    read_type,
)
from driver.topology.schema.table import MaterializedViewMetadata, TableMetadata

SERVER = SchemaServer.recorded()
DESCRIBED = {(ks, kind, name): text for ks, kind, name, text in SERVER.described}
#: What DESCRIBE says of options that the schema's rows leave null: the server's defaults.
DEFAULTS = Counter(
    [
        "allow_auto_snapshot = true",
        "cdc = false",
        "extensions = {}",
        "incremental_backups = true",
        "memtable = 'default'",
    ]
)


@pytest.fixture(scope="module")
def keyspaces():
    return SERVER.read(read_keyspaces)


@pytest.fixture(scope="module")
def rich(keyspaces):
    return keyspaces["rich"]


def lines(text):
    """The parts of a statement without their order: one option or column a line."""
    parted = re.sub(r"\n( *\)?) *WITH ", r"\n\1\n", text)
    return Counter(re.sub(r"^ *(AND )?", "", line).rstrip(",; ") for line in parted.split("\n"))


def part_of(keyspaces, keyspace, kind, name):
    """Our part for a row of DESCRIBE, which names functions by their signature."""
    description = next(ks for ks in keyspaces.values() if protect_name(ks.name) == keyspace)
    if kind == "keyspace":
        return description
    if kind in {"function", "aggregate"}:
        parts = [*description.functions.values(), *description.aggregates.values()]
        signature = comparable_type(name, keyspace)
        return next(p for p in parts if comparable_type(p.signature, keyspace) == signature)
    places = {
        "type": description.user_types,
        "table": description.tables,
        "index": description.indexes,
        "materialized_view": description.views,
    }
    return next(part for part in places[kind].values() if protect_name(part.name) == name)


@pytest.mark.parametrize(
    "described", [key for key in DESCRIBED if "compact" not in key[2]], ids=" ".join
)
def test_every_part_reads_as_the_server_describes_it(keyspaces, described):
    ours = lines(part_of(keyspaces, *described).as_cql_query(formatted=True))
    theirs = lines(DESCRIBED[described])
    assert not ours - theirs
    assert not theirs - ours - DEFAULTS


@pytest.mark.parametrize("name", ["compact_dense", "compact_keys", "compact_static"])
def test_compact_tables_are_created_where_the_server_only_comments_on_them(rich, name):
    text = rich.tables[name].export_as_string()
    assert text.startswith(f"CREATE TABLE rich.{name} (\n    k int")
    assert ") WITH COMPACT STORAGE" in text
    theirs = DESCRIBED["rich", "table", name]
    assert theirs.startswith("/*")
    missing = lines(text) - lines(theirs)
    # Its comment puts an order on a column that is not there, and the key on a line of its own.
    assert missing == (Counter(["k int PRIMARY KEY"]) if name == "compact_static" else Counter())


def test_compact_tables_show_the_columns_that_cql_shows(rich):
    columns = {
        name: list(table.columns) for name, table in rich.tables.items() if "compact" in name
    }
    assert columns == {
        "compact_dense": ["k", "c", "v"],
        "compact_keys": ["k", "c", "d"],
        "compact_static": ["k", "a", "b"],
    }
    assert not any(c.is_static for c in rich.tables["compact_static"].columns.values())
    assert rich.tables["compact_static"].clustering_key == []


def test_every_user_table_is_there(keyspaces):
    described = {name for ks, kind, name in DESCRIBED if ks == "rich" and kind == "table"}
    assert {protect_name(name) for name in keyspaces["rich"].tables} == described
    assert set(keyspaces["RichToo"].tables) == {"Table"}


def test_keys_are_in_the_order_of_their_positions(rich):
    table = rich.tables["clustered"]
    assert [c.name for c in table.partition_key] == ["region", "day"]
    assert [(c.name, c.is_reversed) for c in table.clustering_key] == [("at", True), ("id", False)]
    assert [c.name for c in table.primary_key] == list(table.columns)[:4]
    assert [c.name for c in table.columns.values() if c.is_static] == ["owner", "tags"]
    assert all(c.table is table for c in table.columns.values())


def test_options_keep_their_types(rich):
    options = rich.tables["clustered"].options
    assert options["gc_grace_seconds"] == 100
    assert options["bloom_filter_fp_chance"] == pytest.approx(0.05)
    assert options["compaction"]["compaction_window_unit"] == "DAYS"
    assert options["comment"] == "it's /* no comment */ -- at all"
    assert "read_repair_chance" not in options
    assert "flags" not in options


def test_masks_are_written_with_literals_of_their_types(rich):
    columns = rich.tables["masked"].columns
    assert columns["bare"].mask is None
    assert columns["name"].mask == ColumnMask("system", "mask_inner", ("1", "null"))
    assert columns["raw"].mask.arguments == ("0xcafe",)
    assert columns["card"].mask.arguments == ("2", "3", "'#'")
    assert columns["own"].as_cql() == "own text MASKED WITH rich.secret()"


def test_views_stand_at_their_table_and_in_the_keyspace(rich):
    view = rich.views["by_plain"]
    assert rich.tables["QuotedTable"].views == {"by_plain": view}
    assert [c.name for c in view.primary_key] == ["plain", "Key", "select", "from"]


def test_indexes_stand_at_their_table_and_in_the_keyspace(rich):
    assert set(rich.tables["OldIndex"].indexes) == {
        "ByValue",
        "by_entries",
        "by_keys",
        "by_seq",
        "by_values",
        "by_whole",
    }
    near = rich.indexes["near"]
    assert (near.kind, near.table_name) == ("CUSTOM", "embedded")
    assert near.index_options["target"] == "spot"


def test_functions_that_share_a_name_are_kept_apart(rich):
    assert {"plus(int,int)", "plus(bigint,bigint)"} <= set(rich.functions)
    assert {"sum_up(int)", "sum_up(bigint)"} <= set(rich.aggregates)
    assert rich.aggregates["sum_up(int)"].initial_condition is None
    assert rich.aggregates["average(int)"].final_func == "divide"


def test_types_stand_behind_those_that_they_are_made_of(rich):
    texts = rich.user_type_strings()
    order = [re.match(r'CREATE TYPE rich\."?([\w ]+?)"? \(', text)[1] for text in texts]
    assert order == ["zip", "address", "A Person", "household"]
    assert [t.name for t in rich.user_types_of("map<text, frozen<address>>")] == ["zip", "address"]


def test_an_export_stands_in_an_order_that_can_be_executed(rich):
    text = rich.export_as_string()
    kinds = re.findall(r"^CREATE (KEYSPACE|TYPE|FUNCTION|AGGREGATE|TABLE)", text, re.MULTILINE)
    order = ["KEYSPACE", "TYPE", "FUNCTION", "AGGREGATE", "TABLE"]
    assert kinds == sorted(kinds, key=order.index)
    assert text.count("CREATE MATERIALIZED VIEW") == len(rich.views)
    assert len(re.findall(r"^CREATE (?:CUSTOM )?INDEX", text, re.MULTILINE)) == len(rich.indexes)


def test_virtual_keyspaces_are_read_and_written_as_comments(keyspaces):
    views = keyspaces["system_views"]
    assert views.virtual
    assert views.tables["clients"].virtual
    assert [c.name for c in views.tables["clients"].primary_key] == ["address", "port"]
    outside = re.sub(r"/\*.*?\*/", "", views.export_as_string(), flags=re.DOTALL)
    assert not outside.strip()


def test_the_servers_own_keyspaces_are_read_without_an_error(keyspaces):
    assert {"system", "system_schema", "system_auth", "system_virtual_schema"} <= set(keyspaces)
    for keyspace in keyspaces.values():
        assert keyspace._exc_info is None
        assert all(table._exc_info is None for table in keyspace.tables.values())


@pytest.mark.parametrize("name", ["rich", "RichToo", "system", "system_views"])
def test_one_keyspace_reads_as_it_does_among_all(keyspaces, name):
    alone = SERVER.read(read_keyspace, name)
    assert alone.export_as_string() == keyspaces[name].export_as_string()


def test_a_keyspace_that_is_not_there_is_none():
    assert SERVER.read(read_keyspace, "it's not") is None


@pytest.mark.parametrize("name", ["clustered", "OldIndex", "masked", "compact_static"])
def test_one_table_reads_as_it_does_in_its_keyspace(rich, name):
    alone = SERVER.read(read_table, "rich", name)
    assert isinstance(alone, TableMetadata)
    assert alone.as_cql_query() == rich.tables[name].as_cql_query()
    assert set(alone.indexes) == set(rich.tables[name].indexes)


def test_one_view_one_virtual_table_and_no_table(keyspaces):
    view = SERVER.read(read_table, "rich", "ByTotal")
    assert isinstance(view, MaterializedViewMetadata)
    assert view.export_as_string() == keyspaces["rich"].views["ByTotal"].export_as_string()
    assert SERVER.read(read_table, "system_views", "clients").virtual
    assert SERVER.read(read_table, "rich", "nothing") is None


def test_one_type_one_function_one_aggregate(rich):
    person = SERVER.read(read_type, "rich", "A Person")
    assert person.export_as_string() == rich.user_types["A Person"].export_as_string()
    assert SERVER.read(read_type, "rich", "nobody") is None
    # As an event names its types: neither frozen nor spaces are sure to be as in the rows.
    fold = SERVER.read(read_function, "rich", "fold", ["tuple<int, bigint>", "int"])
    assert fold.signature == "fold(frozen<tuple<int, bigint>>,int)"
    street = SERVER.read(read_function, "rich", "Street Of", ["rich.address"])
    assert street.argument_names == ["anAddress"]
    assert SERVER.read(read_function, "rich", "fold", ["int"]) is None
    assert SERVER.read(read_aggregate, "rich", "sum_up", ["bigint"]).initial_condition == "0"
    assert SERVER.read(read_aggregate, "rich", "sum_up", []) is None


def test_only_tables_that_the_server_can_have_are_asked_for():
    server = SchemaServer({}, "4.1.3")
    server.read(read_keyspaces)
    asked = " ".join(server.queries)
    assert "system_virtual_schema.tables" in asked
    assert "column_masks" not in asked
    assert "scylla" not in asked


def test_a_changed_table_asks_for_its_own_rows_alone():
    server = SchemaServer.recorded()
    server.read(read_table, "rich", "masked")
    assert len(server.queries) == 6
    assert all("keyspace_name = 'rich' AND" in query for query in server.queries)
