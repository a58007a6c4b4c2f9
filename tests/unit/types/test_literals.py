"""CQL literals of Python values."""

import enum
from collections import OrderedDict, namedtuple
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.protocol.unset import UNSET_VALUE
from driver.types.literals import Encoder, ValueSequence, cql_quote
from driver.values.date import Date
from driver.values.duration import Duration
from driver.values.ordered_map import OrderedMap
from driver.values.sorted_set import SortedSet
from driver.values.time import Time

encode = Encoder().cql_encode_all_types


@given(text=st.text())
def test_no_text_ends_its_own_literal(text):
    literal = encode(text)
    assert literal[0] == literal[-1] == "'"
    assert literal[1:-1].replace("''", "").count("'") == 0
    assert literal[1:-1].replace("''", "'") == text


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_reads_back_the_same(value):
    assert float(encode(value)) == value


@given(value=st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_reads_back_with_its_scale(value):
    assert Decimal(encode(value)).as_tuple() == value.as_tuple()


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (None, "NULL"),
        (True, "True"),
        (b"", "0x"),
        (Date(-1), "2147483647"),
        (Time(1), "'00:00:00.000000001'"),
        (Duration(0, 1, 0), "0mo1d0ns"),
        (SortedSet([2, 1]), "{1, 2}"),
        (OrderedMap([([1], "a")]), "{[1]: 'a'}"),
        (ValueSequence([1, "a"]), "(1, 'a')"),
        (OrderedDict(a=None), "{'a': NULL}"),
        ([], "[]"),
    ],
    ids=repr,
)
def test_a_value_has_its_literal(value, literal):
    assert encode(value) == literal


def test_subclasses_are_written_as_their_bases():
    point = namedtuple("point", "x y")  # noqa: PYI024  (untyped, as the driver's own)
    assert encode(point(1, 2)) == "[1, 2]"


def test_an_enum_of_text_is_its_text_and_not_its_name():
    color = enum.Enum("color", {"RED": "it's red"}, type=str)
    assert encode(color.RED) == "'it''s red'"


def test_an_enum_of_numbers_is_its_number_and_not_its_name():
    level = enum.Enum("level", {"HIGH": 4}, type=int)
    assert encode(level.HIGH) == "4"


def test_the_mapping_can_be_changed_for_tuples():
    encoder = Encoder()
    encoder.mapping[tuple] = encoder.cql_encode_tuple
    assert encoder.cql_encode_all_types([(1, "a")]) == "[(1, 'a')]"


def test_a_value_without_a_literal_is_a_type_error():
    with pytest.raises(TypeError, match="object has no CQL literal"):
        encode([object()])


def test_unset_has_no_literal():
    with pytest.raises(ValueError, match="UNSET_VALUE has no CQL literal"):
        encode(UNSET_VALUE)


def test_anything_can_be_quoted():
    assert cql_quote(5) == "'5'"
