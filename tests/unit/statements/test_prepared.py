"""Prepared statements: where the partition key comes from."""

import pytest

from driver.protocol.columns import ColumnMetadata
from driver.statements import PreparedStatement
from driver.topology.metadata import (
    KeyspaceMetadata,
    Metadata,
    PartitionKeyColumn,
    TableMetadata,
)
from driver.types import Int32Type


def columns(*names):
    return [ColumnMetadata("ks", "t", name, Int32Type) for name in names]


def from_message(markers, pk_indexes, metadata):
    return PreparedStatement.from_message(
        b"id", markers, pk_indexes, metadata, "q", "ks", 4, columns("r"), b"rid", is_lwt=True
    )


@pytest.fixture
def metadata():
    metadata = Metadata()
    metadata.keyspaces["ks"] = KeyspaceMetadata("ks", True, "LocalStrategy", {})
    key = [PartitionKeyColumn("p"), PartitionKeyColumn("q")]
    metadata.keyspaces["ks"].tables["t"] = TableMetadata("ks", "t", key)
    return metadata


def test_the_fields_of_the_message_are_kept():
    prepared = from_message(columns("a"), [0], None)
    assert (prepared.query_id, prepared.query_string, prepared.keyspace) == (b"id", "q", "ks")
    assert prepared.column_metadata == columns("a")
    assert (prepared.result_metadata, prepared.result_metadata_id) == (columns("r"), b"rid")
    assert (prepared.protocol_version, prepared.is_lwt()) == (4, True)
    assert str(prepared) == '<PreparedStatement query="q", consistency=Not Set>'


def test_the_server_s_word_on_the_key_counts(metadata):
    prepared = from_message(columns("p", "q", "x"), [2, 0], metadata)
    assert prepared.routing_key_indexes == [2, 0]
    assert [prepared.is_routing_key_index(i) for i in range(3)] == [True, False, True]


def test_otherwise_the_schema_knows_the_key(metadata):
    assert from_message(columns("x", "q", "p"), None, metadata).routing_key_indexes == [2, 1]
    assert from_message(columns("x", "q", "p"), [], metadata).routing_key_indexes == [2, 1]


@pytest.mark.parametrize("names", [("p",), ("x", "q"), ()])
def test_a_key_that_is_not_bound_whole_routes_nothing(metadata, names):
    assert from_message(columns(*names), None, metadata).routing_key_indexes is None


def test_an_unknown_table_routes_nothing(metadata):
    del metadata.keyspaces["ks"].tables["t"]
    assert from_message(columns("p", "q"), None, metadata).routing_key_indexes is None
    assert from_message(columns("p", "q"), None, Metadata()).routing_key_indexes is None
    assert from_message(columns("p", "q"), None, None).routing_key_indexes is None


def test_a_new_description_of_the_result_is_taken_over():
    prepared = from_message(columns("a"), [0], None)
    prepared.update_result_metadata(columns("new"), b"new id")
    assert (prepared.result_metadata, prepared.result_metadata_id) == (columns("new"), b"new id")


def test_what_takes_the_key_out_of_the_values_follows_the_indexes(prepare):
    prepared = prepare(routing_key_indexes=[1, 0])
    assert prepared.key_of("abc") == ("b", "a")
    assert prepared.has_composite_key
    prepared.routing_key_indexes = [2]
    assert prepared.key_of("abc") == "c"
    assert not prepared.has_composite_key
    assert [prepared.is_routing_key_index(i) for i in range(3)] == [False, False, True]
    assert prepared.bind((1, "x", 5)).routing_key == b"\0\0\0\x05"
    prepared.routing_key_indexes = None
    assert prepared.key_of is None
    assert not prepared.has_composite_key
    assert prepared.bind((1, "x", 5)).routing_key is None


def test_it_is_made_once(prepare):
    prepared = prepare()
    key_of = prepared.key_of
    for _ in range(3):
        assert prepared.bind((1, "x", 5)).routing_key == b"\0\x04\0\0\0\x01\0\0\x01x\0"
    assert prepared.key_of is key_of
