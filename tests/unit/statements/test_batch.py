"""Batches: what they hold, and what they learn from it."""

from types import SimpleNamespace

import pytest

from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.kinds import BatchType
from driver.statements import BatchStatement, SimpleStatement

KEY = b"\x00\x04\x00\x00\x00\x01\x00\x00\x01x\x00"
VALUES = [b"\x00\x00\x00\x01", b"x", b"\x00\x00\x00\x01"]


def test_a_batch_holds_text_simple_prepared_and_bound_statements(prepare):
    prepared = prepare()
    batch = BatchStatement(BatchType.UNLOGGED)
    batch.add("plain 100%")
    batch.add("text %s", ("it's",)).add(SimpleStatement("simple %(n)s"), {"n": 5})
    batch.add(prepared, (1, "x", 1)).add(prepared.bind({"a": 1, "b": "x", "c": 1}))
    assert list(batch.statements) == [
        (False, "plain 100%", ()),
        (False, "text 'it''s'", ()),
        (False, "simple 5", ()),
        (True, b"id", VALUES),
        (True, b"id", VALUES),
    ]
    assert str(batch) == "<BatchStatement type=UNLOGGED, statements=5, consistency=Not Set>"


def test_statements_are_added_with_their_parameters(prepare):
    batch = BatchStatement().add_all(["a %s", prepare()], [(1,), (1, "x", 1)])
    assert list(batch.statements) == [(False, "a 1", ()), (True, b"id", VALUES)]


def test_statements_and_parameters_must_be_as_many():
    with pytest.raises(ValueError, match="shorter"):
        BatchStatement().add_all(["a", "b"], [()])


def test_a_bound_statement_has_its_parameters_already(prepare):
    with pytest.raises(ValueError, match="BoundStatement has its values"):
        BatchStatement().add(prepare().bind((1, "x", 1)), (1,))


@pytest.mark.parametrize("wrong", [5, None, b"text", BatchStatement()], ids=repr)
def test_what_is_no_statement_is_refused(wrong):
    with pytest.raises(TypeError, match="a batch cannot hold a"):
        BatchStatement().add(wrong)


def test_the_number_of_statements_is_a_short():
    batch = BatchStatement()
    for _ in range(65535):
        batch.add("x")
    with pytest.raises(ValueError, match="65535 statements at most"):
        batch.add("x")
    assert len(batch) == 65535


def test_the_first_statement_with_a_key_routes_the_batch(prepare):
    batch = BatchStatement().add("x")
    assert batch.routing_key is None
    batch.add(prepare(), (1, "x", 1)).add(prepare(), (2, "y", 1))
    assert (batch.routing_key, batch.keyspace, batch.table) == (KEY, "ks", "t")


def test_a_key_of_text_routes_a_batch(prepare):
    simple = SimpleStatement("x", routing_key="k", keyspace="ks")
    batch = BatchStatement().add("first").add(simple).add(prepare(), (1, "x", 1))
    assert batch.routing_key == simple.routing_key == b"k"


def test_a_key_without_a_keyspace_routes_nothing():
    batch = BatchStatement().add(SimpleStatement("x", routing_key=b"k"))
    assert batch.routing_key is None
    batch.add(SimpleStatement("x", routing_key=b"k", keyspace="ks"))
    assert (batch.routing_key, batch.keyspace) == (b"k", "ks")


def test_custom_payloads_are_joined():
    batch = BatchStatement(custom_payload={"a": b"1"})
    batch.add(SimpleStatement("x", custom_payload={"b": b"2"})).add(SimpleStatement("y"))
    assert batch.custom_payload == {"a": b"1", "b": b"2"}


def test_a_cleared_batch_is_as_new(prepare):
    batch = BatchStatement().add(prepare(), (1, "x", 1))
    batch.clear()
    assert (len(batch), batch.routing_key, batch.keyspace, batch.table) == (0, None, None, None)
    assert batch


def test_binding_again_does_not_change_what_was_added(prepare):
    bound = prepare().bind((1, "x", 1))
    batch = BatchStatement().add(bound)
    bound.bind((2, "y", 2))
    assert list(batch.statements) == [(True, b"id", VALUES)]


def test_a_batch_has_options():
    batch = BatchStatement(
        consistency_level=ConsistencyLevel.ALL, serial_consistency_level=ConsistencyLevel.SERIAL
    )
    assert (batch.consistency_level, batch.serial_consistency_level) == (5, 8)
    with pytest.raises(ValueError, match="no serial consistency level"):
        BatchStatement(serial_consistency_level=ConsistencyLevel.ONE)


def test_the_session_s_encoder_writes_literals():
    encoder = SimpleNamespace(cql_encode_all_types=lambda value: f"<{value}>")
    batch = BatchStatement(session=SimpleNamespace(encoder=encoder)).add("x %s", (1,))
    assert list(batch.statements) == [(False, "x <1>", ())]
