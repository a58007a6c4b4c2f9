"""Binding: values to bytes, and what is said about those that have none."""

import array
import struct
import subprocess
import sys

import numpy as np
import pytest

from driver.protocol.columns import ColDesc
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.unset import UNSET_VALUE
from driver.statements import BoundStatement
from driver.types import (
    AsciiType,
    ByteType,
    FloatType,
    InetAddressType,
    Int32Type,
    LongType,
    VectorType,
)

ONE = b"\x00\x00\x00\x01"
SINCE_UNSET = pytest.mark.parametrize("version", [4, 5])


@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize("values", [(1, "x", 1), [1, "x", 1], {"c": 1, "b": "x", "a": 1}])
def test_values_become_bytes_in_the_order_of_the_markers(prepare, version, values):
    assert prepare(version).bind(values).values == [ONE, b"x", ONE]


@pytest.mark.parametrize("version", [3, 4])
def test_none_is_null(prepare, version):
    assert prepare(version).bind((1, "x", None)).values == [ONE, b"x", None]


@pytest.mark.parametrize("version", [3, 4, 5])
def test_too_many_values_are_refused(prepare, version):
    with pytest.raises(ValueError, match=r"4 values are too many for 3 bind markers"):
        prepare(version).bind((1, "x", 1, 1))


@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": 1, "b": "x", "c": 1, "z": 9}, "no bind marker is called 'z': there are a, b, c"),
        ({"a": 1, "b": "x", "cc": 9}, "no bind marker is called 'cc': did you mean 'c'"),
        ({"a": 1, "b": "x", 7: 9}, "no bind marker is called 7"),
    ],
)
def test_names_that_are_no_markers_are_refused(prepare, version, values, message):
    with pytest.raises(ValueError, match=message):
        prepare(version).bind(values)


@pytest.mark.parametrize("given", ["abcd", "abc", b"abc", "a", 1, 1.5])
def test_a_text_or_a_single_value_is_no_sequence_of_values(prepare, given):
    with pytest.raises(TypeError, match=r"a tuple of one is \(x,\)"):
        prepare(4).bind(given)


class TestMissingValues:
    @SINCE_UNSET
    @pytest.mark.parametrize("values", [(1, "x"), {"a": 1, "b": "x"}, (1, "x", UNSET_VALUE)])
    def test_are_left_unset(self, prepare, version, values):
        assert prepare(version).bind(values).values == [ONE, b"x", UNSET_VALUE]

    @SINCE_UNSET
    @pytest.mark.parametrize(
        ("values", "column"),
        [((1,), "b"), ({"b": "x"}, "a"), ((UNSET_VALUE, "x", 1), "a"), (None, "a"), ({}, "a")],
    )
    def test_must_not_be_of_the_partition_key(self, prepare, version, values, column):
        with pytest.raises(ValueError, match=f"UNSET_VALUE for '{column}', a part of"):
            prepare(version).bind(values)

    @SINCE_UNSET
    def test_may_be_all_where_the_key_is_not_known(self, prepare, version):
        assert prepare(version, None).bind(None).values == [UNSET_VALUE] * 3

    @pytest.mark.parametrize("values", [(1, "x"), (), None])
    def test_are_too_few_before_v4(self, prepare, values):
        with pytest.raises(ValueError, match="too few for"):
            prepare(3).bind(values)

    def test_are_named_before_v4_if_a_dict_lacks_them(self, prepare):
        with pytest.raises(KeyError, match="no value for column 'c'"):
            prepare(3).bind({"a": 1, "b": "x"})

    def test_cannot_be_unset_before_v4(self, prepare):
        with pytest.raises(ValueError, match="needs protocol version 4, this is 3"):
            prepare(3).bind((1, "x", UNSET_VALUE))


@pytest.mark.parametrize(
    ("values", "column", "got"),
    [
        (("no", "x", 1), "a", "str"),
        ((1, 5, 1), "b", "int"),
        ((1, "x", 1.5), "c", "float"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_by_its_column(prepare, values, column, got):
    message = f"invalid type for column \"{column}\". Expected: .*, Got: <class '{got}'>; "
    with pytest.raises(TypeError, match=message) as caught:
        prepare().bind(values)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (Int32Type, 2**31),
        (Int32Type, -(2**31) - 1),
        (FloatType, 1e39),
        (FloatType, 10**400),
        (LongType, 2**63),
        (ByteType, 128),
        (VectorType.with_size(FloatType, 2), [0.5, 1e39]),
        (VectorType.with_size(Int32Type, 2), (1, 2**31)),
    ],
)
def test_a_number_out_of_range_is_not_called_one_of_the_wrong_type(prepare, type_, value):
    with pytest.raises(TypeError, match='Received a value out of range for column "c"'):
        prepare(c=type_).bind((1, "x", value))


@pytest.mark.parametrize("values", [(1, "x"), {"a": 1, "b": "x"}, [1, "x"]])
def test_a_missing_tail_is_unset_from_v4_on(prepare, values):
    assert prepare(4).bind(values).values[2] is UNSET_VALUE
    with pytest.raises((ValueError, KeyError)):
        prepare(3).bind(values)


@pytest.mark.parametrize("values", [{1, 2}, {1, 2, 3}, {1, 2, 3, 4}, frozenset({1, 2, 3})])
def test_a_set_has_no_order_in_which_to_bind(prepare, values):
    with pytest.raises(TypeError, match=r"a sequence or a dict, not .*: a set has no order"):
        prepare().bind(values)


@pytest.mark.parametrize("sequence", [list, tuple, np.array, lambda v: array.array("d", v)])
def test_a_vector_may_come_in_any_sequence(prepare, sequence):
    bound = prepare(c=VectorType.with_size(FloatType, 2)).bind((1, "x", sequence([0.5, -1.0])))
    assert bound.values[2] == struct.pack(">ff", 0.5, -1.0)


@pytest.mark.parametrize(("type_", "value"), [(AsciiType, "ä"), (InetAddressType, "1.2.3.400")])
def test_a_value_that_its_type_cannot_say_is_named_by_its_column(prepare, type_, value):
    prepared = prepare(c=type_)
    with pytest.raises(ValueError, match='Received an invalid argument for column "c"'):
        prepared.bind((1, "x", value))


class TestRoutingKey:
    def test_is_made_of_the_key_s_columns(self, prepare):
        assert prepare().bind((1, "x", 5)).routing_key == b"\x00\x04" + ONE + b"\x00\x00\x01x\x00"

    def test_follows_the_order_of_the_key(self, prepare):
        bound = prepare(routing_key_indexes=[1, 0]).bind((1, "x", 5))
        assert bound.routing_key == b"\x00\x01x\x00\x00\x04" + ONE + b"\x00"

    def test_of_one_column_is_that_column(self, prepare):
        assert prepare(routing_key_indexes=[1]).bind((1, "x", 5)).routing_key == b"x"

    @pytest.mark.parametrize("indexes", [[0, 1], [0], [1, 0]])
    def test_is_unknown_if_a_part_of_the_key_is_null(self, prepare, indexes):
        assert prepare(routing_key_indexes=indexes).bind((None, "x", 5)).routing_key is None

    @pytest.mark.parametrize("indexes", [None, []])
    def test_is_unknown_without_the_key_s_columns(self, prepare, indexes):
        assert prepare(routing_key_indexes=indexes).bind((1, "x", 5)).routing_key is None

    def test_is_unknown_before_values_are_bound(self, prepare):
        assert BoundStatement(prepare()).routing_key is None

    def test_follows_the_values_when_they_are_bound_again(self, prepare):
        bound = prepare(routing_key_indexes=[1]).bind((1, "x", 5))
        assert bound.routing_key == b"x"
        assert bound.bind((1, "y", 5)).routing_key == b"y"

    def test_may_be_set_where_it_is_not_known(self, prepare):
        bound = BoundStatement(prepare(routing_key_indexes=None), routing_key=[b"a", b"b"])
        assert bound.bind((1, "x", 5)).routing_key == b"\x00\x01a\x00\x00\x01b\x00"
        del bound.routing_key
        assert bound.routing_key is None


def test_a_bound_statement_has_the_options_of_the_prepared_one(prepare):
    prepared = prepare()
    prepared.consistency_level = ConsistencyLevel.TWO
    prepared.serial_consistency_level = ConsistencyLevel.SERIAL
    prepared.fetch_size = 17
    prepared.custom_payload = {"k": b"v"}
    prepared.is_idempotent = True
    bound = prepared.bind((1, "x", 1))
    assert (bound.consistency_level, bound.serial_consistency_level) == (2, 8)
    assert (bound.fetch_size, bound.custom_payload) == (17, {"k": b"v"})
    assert bound.is_idempotent
    assert (bound.keyspace, bound.table) == ("ks", "t")


def test_a_bound_statement_may_have_options_of_its_own(prepare):
    prepared = prepare()
    prepared.consistency_level = ConsistencyLevel.TWO
    bound = BoundStatement(prepared, consistency_level=ConsistencyLevel.ALL, fetch_size=None)
    assert (bound.consistency_level, bound.fetch_size) == (ConsistencyLevel.ALL, None)


def test_a_bound_statement_shows_its_values(prepare):
    assert str(prepare().bind((1, "x"))) == (
        "<BoundStatement query=\"INSERT INTO t (a, b, c) VALUES (?, ?, ?)\", values=(1, 'x'), "
        "consistency=Not Set>"
    )


class ReversingPolicy:
    """Encrypts column b by reversing it."""

    def __init__(self):
        self.asked = []

    def contains_column(self, coldesc):
        self.asked.append(coldesc)
        return coldesc.col == "b"

    def column_type(self, coldesc):
        assert coldesc == ColDesc("ks", "t", "b")
        return AsciiType

    def encrypt(self, coldesc, obj_bytes):
        assert coldesc == ColDesc("ks", "t", "b")
        return obj_bytes[::-1]


class TestEncryption:
    def test_costs_a_statement_without_a_policy_nothing(self, prepare, monkeypatch):
        # The fast path runs: it describes no column, and tries nothing that could fail unseen.
        monkeypatch.setattr("driver.statements.bound.ColDesc", None)
        assert prepare().bind((1, "xyz", 1)).values == [ONE, b"xyz", ONE]
        with pytest.raises(TypeError, match="NoneType"):
            prepare(policy=ReversingPolicy()).bind((1, "xyz", 1))

    def test_concerns_the_columns_of_the_policy_only(self, prepare):
        policy = ReversingPolicy()
        bound = prepare(policy=policy).bind((1, "xyz", 1))
        assert bound.values == [ONE, b"zyx", ONE]
        assert policy.asked == [ColDesc("ks", "t", name) for name in "abc"]

    def test_uses_the_plain_type_of_the_column(self, prepare):
        with pytest.raises(ValueError, match='column "b"'):
            prepare(policy=ReversingPolicy()).bind((1, "ä", 1))

    def test_leaves_null_and_unset_alone(self, prepare):
        prepared = prepare(policy=ReversingPolicy(), routing_key_indexes=None)
        assert prepared.bind((1, None)).values == [ONE, None, UNSET_VALUE]

    def test_routes_by_the_encrypted_key(self, prepare):
        prepared = prepare(policy=ReversingPolicy(), routing_key_indexes=[1])
        assert prepared.bind((1, "xyz", 1)).routing_key == b"zyx"


@pytest.mark.parametrize("indexes", [array.array("H", [2, 0]), (2, -3)])
def test_the_parts_of_a_key_may_be_named_by_any_sequence(prepare, indexes):
    bound = prepare(routing_key_indexes=indexes).bind((1, "b", 3))
    assert bound.routing_key == b"\0\4\0\0\0\3\0\0\4\0\0\0\1\0"


#: An application's type that leaves something to be collected, whose end changes the list that is
#: bound; and a number for a double that is none, while another exception is being handled.
CHANGED_MEANWHILE = """
import gc
from driver.protocol.columns import ColumnMetadata
from driver.statements import PreparedStatement
from driver.types import CQLType, DoubleType

class Leaver:
    def __del__(self):
        values[1] = None
        kept.extend(bytes([255]) * (180 + i % 8) for i in range(50))

class Own(CQLType):
    typename = "own"

    @classmethod
    def serialize(cls, value, protocol_version):
        leaver = Leaver()
        leaver.itself = leaver
        del leaver
        kept.append([[[i]] for i in range(50)])
        gc.set_threshold(1)
        return b"x"

kept, values = [], [1, 10**400 + len(__name__)]
columns = [ColumnMetadata("ks", "t", "a", Own), ColumnMetadata("ks", "t", "b", DoubleType)]
statement = PreparedStatement(columns, b"id", None, "q", "ks", 4, None, None)
gc.collect()
gc.set_threshold(100_000)
try:
    try:
        1 / 0
    except ZeroDivisionError:
        statement.bind(values)
except TypeError as error:
    print(error)
"""


def test_a_list_may_lose_a_value_while_it_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", CHANGED_MEANWHILE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 'a value out of range for column "b"' in done.stdout
