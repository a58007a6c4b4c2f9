"""Options that all statements have, and literals in simple ones."""

import pickle

import pytest

from driver.protocol.consistency import ConsistencyLevel
from driver.statements import FETCH_SIZE_UNSET, SimpleStatement, Statement, bind_params
from driver.types.literals import Encoder


def test_options_are_left_to_the_session_unless_they_are_set():
    statement = SimpleStatement("SELECT 1")
    assert statement.query_string == "SELECT 1"
    assert statement.fetch_size is FETCH_SIZE_UNSET
    for option in ("consistency_level", "serial_consistency_level", "retry_policy", "routing_key"):
        assert getattr(statement, option) is None
    assert statement.is_idempotent is False


def test_options_are_kept():
    statement = SimpleStatement(
        "x",
        consistency_level=ConsistencyLevel.ALL,
        serial_consistency_level=ConsistencyLevel.SERIAL,
        routing_key=b"k",
        fetch_size=7,
        keyspace="ks",
        table="t",
        custom_payload={"a": b"b"},
        is_idempotent=True,
    )
    assert (statement.routing_key, statement.fetch_size) == (b"k", 7)
    assert (statement.keyspace, statement.table) == ("ks", "t")
    assert str(statement) == '<SimpleStatement query="x", consistency=ALL>'
    assert statement.custom_payload == {"a": b"b"}


@pytest.mark.parametrize("parts", [[b"a", b"b"], (b"a", b"b")])
def test_a_routing_key_may_be_given_in_parts(parts):
    packed = b"\x00\x01a\x00\x00\x01b\x00"
    assert Statement(routing_key=parts).routing_key == packed
    statement = Statement()
    statement.routing_key = parts
    assert statement.routing_key == packed
    del statement.routing_key
    assert statement.routing_key is None


def test_only_serial_levels_are_serial():
    statement = SimpleStatement("x")
    with pytest.raises(ValueError, match="no serial consistency level"):
        statement.serial_consistency_level = ConsistencyLevel.ONE
    with pytest.raises(ValueError, match="no serial consistency level"):
        SimpleStatement("x", serial_consistency_level=ConsistencyLevel.QUORUM)
    statement.serial_consistency_level = ConsistencyLevel.LOCAL_SERIAL
    assert statement.serial_consistency_level == ConsistencyLevel.LOCAL_SERIAL
    del statement.serial_consistency_level
    assert statement.serial_consistency_level is None


def test_the_unset_fetch_size_survives_pickling():
    copy = pickle.loads(pickle.dumps(FETCH_SIZE_UNSET))  # noqa: S301  (our own bytes)
    assert copy is FETCH_SIZE_UNSET
    assert repr(copy) == "FETCH_SIZE_UNSET"


@pytest.mark.parametrize(
    ("text", "params", "expected"),
    [
        ("a %s %s", (1, "it's"), "a 1 'it''s'"),
        ("a %(x)s %(y)s", {"x": b"\x01", "y": None}, "a 0x01 NULL"),
        ("a %s", ([1, 2],), "a [1, 2]"),
        ("a %%", (), "a %"),
    ],
)
def test_parameters_are_written_as_literals(text, params, expected):
    assert bind_params(text, params, Encoder()) == expected


@pytest.mark.parametrize("params", [(), (1, 2)], ids=["too few", "too many"])
def test_as_many_parameters_as_placeholders_are_needed(params):
    with pytest.raises(TypeError, match="arguments"):
        bind_params("a %s", params, Encoder())


def test_a_missing_name_is_an_error():
    with pytest.raises(KeyError, match=r"the dict has no value for %\(y\)s"):
        bind_params("%(y)s", {"x": 1}, Encoder())


@pytest.mark.parametrize(
    ("text", "params", "message"),
    [
        ("a = ?", (1,), "a %s for each of 1 parameters, and [?] is for statements that .*prepare"),
        ("a = %s", (1, 2), "a %s for each of 2 parameters$"),
        ("a = %s", "x", r"not 'x': write \(x,\)"),
        ("a = %s", b"x", "are a tuple"),
        ("a = %s, b = %s", {1, 2}, "are a tuple, a list or a dict, not {1, 2}"),
        ("a = %s", 1, r"not 1: write \(x,\)"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_with_what_to_do(text, params, message):
    with pytest.raises(TypeError, match=message):
        bind_params(text, params, Encoder())
