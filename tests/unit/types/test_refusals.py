"""What a type does not take, it refuses by the exceptions that base.py promises."""

import datetime as dt
from decimal import Decimal
from ipaddress import ip_address

import numpy as np
import pytest
from names import plain

from driver.protocol.errors import MarshalException
from driver.types import (
    UserType,
    VectorType,
    lookup_casstype,
    lookup_cqltype,
    mkUnrecognizedType,
)
from driver.values.duration import Duration
from driver.values.ordered_map import OrderedMap

WRONG_TYPE = [
    ("boolean", "false"),
    ("boolean", None),
    ("int", "5"),
    ("int", 1.5),
    ("float", "1.5"),
    ("varint", 1.5),
    ("decimal", "zz"),
    ("decimal", [1]),
    ("text", b"a"),
    ("text", 5),
    ("ascii", b"a"),
    ("blob", "a"),
    ("blob", 5),
    ("uuid", "00000000-0000-0000-0000-000000000000"),
    ("timeuuid", 5),
    ("inet", 5),
    ("timestamp", "2020-01-01"),
    ("date", 1.5),
    ("time", 1.5),
    ("duration", 5),
    ("list<int>", "12"),
    ("list<int>", 5),
    ("list<int>", iter([1])),
    ("list<int>", {1: 2}),
    ("set<int>", {1: 2}),
    ("frozen<list<int>>", OrderedMap([(1, 2)])),
    ("map<int, frozen<set<int>>>", {1: {1: 2}}),
    ("set<text>", "ab"),
    ("map<int, int>", [(1, 1)]),
    ("tuple<int>", 5),
    ("tuple<text>", "a"),
    ("vector<int, 1>", 5),
    ("list<int>", ["5"]),
    ("vector<int, 1>", [None]),
]


@pytest.mark.parametrize(("name", "value"), WRONG_TYPE, ids=plain)
def test_a_value_of_the_wrong_type_is_a_type_error(name, value):
    with pytest.raises(TypeError):
        lookup_cqltype(name).serialize(value, 4)


OUT_OF_RANGE = [
    ("tinyint", 128),
    ("smallint", -(2**15) - 1),
    ("int", 2**31),
    ("bigint", 2**63),
    ("counter", -(2**63) - 1),
    ("float", 1e300),
    ("double", 10**400),
    ("timestamp", 2**63),
    ("date", -1),
    ("date", 2**32),
    ("list<int>", [2**31]),
    ("int", np.int64(2**31)),
    ("tinyint", np.int16(-129)),
    ("vector<bigint, 1>", [np.uint64(2**63)]),
]


@pytest.mark.parametrize(("name", "value"), OUT_OF_RANGE, ids=plain)
def test_a_number_out_of_range_is_an_overflow_error(name, value):
    with pytest.raises(OverflowError):
        lookup_cqltype(name).serialize(value, 4)


def test_a_map_takes_what_has_items():
    class Hashable(frozenset):
        items = frozenset.__iter__

    serialize = lookup_cqltype("map<int, int>").serialize
    assert serialize(Hashable([(1, 2)]), 4) == serialize({1: 2}, 4)


@pytest.mark.parametrize("part", ["months", "days", "nanoseconds"])
def test_a_duration_whose_parts_do_not_fit_is_refused(part):
    with pytest.raises(ValueError, match="64 bits"):
        lookup_cqltype("duration").serialize(Duration(**{part: 0x8FFFFFFFFFFFFFF0}), 5)


WRONG_CONTENT = [
    ("decimal", Decimal("NaN")),
    ("decimal", float("inf")),
    ("ascii", "é"),
    ("inet", "1.2.3"),
    ("inet", "1.2.3.4\0"),
    ("date", "2020-13-01"),
    ("time", "25:00:00"),
    ("time", -1),
    ("tuple<int>", (1, 2)),
    ("vector<int, 2>", [1]),
    ("vector<text, 1>", ["a", "b"]),
]


@pytest.mark.parametrize(("name", "value"), WRONG_CONTENT, ids=plain)
def test_a_value_of_the_wrong_content_is_a_value_error(name, value):
    with pytest.raises(ValueError, match=r"."):
        lookup_cqltype(name).serialize(value, 4)


ALSO_TAKEN = [
    ("timestamp", dt.date(1970, 1, 2), 86_400_000),
    ("timestamp", 5, 5),
    ("timestamp", -5.7, -5),
    ("bigint", True, 1),
]


@pytest.mark.parametrize(("name", "value", "number"), ALSO_TAKEN)
def test_numbers_and_dates_are_taken_for_what_they_mean(name, value, number):
    assert lookup_cqltype(name).serialize(value, 4) == number.to_bytes(8, "big", signed=True)


def test_other_forms_of_values_have_the_same_bytes():
    same = [
        ("decimal", "1.5", Decimal("1.5")),
        ("decimal", 1.5, Decimal("1.5")),
        ("blob", memoryview(b"ab"), b"ab"),
        ("blob", bytearray(b"ab"), b"ab"),
        ("inet", ip_address("1.2.3.4"), "1.2.3.4"),
        ("inet", ip_address("::1"), "::1"),
        ("date", "1970-01-02", dt.date(1970, 1, 2)),
        ("date", 2**31, dt.date(1970, 1, 1)),
        ("time", "00:00:01", dt.time(0, 0, 1)),
        ("time", 10**9, dt.time(0, 0, 1)),
        ("boolean", 5, True),
        ("list<int>", (1, 2), [1, 2]),
        ("list<int>", range(1, 3), [1, 2]),
        ("tuple<int, int>", [1, 2], (1, 2)),
    ]
    for name, value, canonical in same:
        cqltype = lookup_cqltype(name)
        assert cqltype.serialize(value, 4) == cqltype.serialize(canonical, 4), name


def test_messages_name_the_type_and_the_value():
    with pytest.raises(OverflowError, match=r"^smallint cannot hold 32768$"):
        lookup_cqltype("smallint").serialize(2**15, 4)
    with pytest.raises(TypeError, match=r"^int takes an integer, not str$"):
        lookup_cqltype("int").serialize("5", 4)
    with pytest.raises(ValueError, match=r"^vector<int, 2> got 3 elements$"):
        lookup_cqltype("vector<int, 2>").serialize([1, 2, 3], 4)
    with pytest.raises(MarshalException, match=r"^list: 9 more bytes announced, 1 left$"):
        lookup_cqltype("list<text>").deserialize(bytes.fromhex("00000001 00000009 61"), 4)


@pytest.mark.parametrize("size", [0, -1, 2**31])
def test_a_vector_has_a_size_that_cassandra_could_have(size):
    with pytest.raises(ValueError, match="vector"):
        VectorType.with_size(lookup_cqltype("int"), size)


@pytest.mark.parametrize("value", ["a", 5, object()], ids=plain)
def test_a_user_type_takes_records_only(value):
    cqltype = UserType.make_udt_class("ks", "r", ("a", "b"), [lookup_cqltype("int")] * 2)
    with pytest.raises(TypeError, match="r takes a record"):
        cqltype.serialize(value, 4)


def test_composites_refuse_what_they_cannot_hold():
    composite = lookup_casstype("CompositeType(UTF8Type)")
    with pytest.raises(ValueError, match="1 components"):
        composite.serialize(("a", "b"), 4)
    with pytest.raises(TypeError, match="sequence"):
        composite.serialize("a", 4)
    with pytest.raises(OverflowError, match="65535"):
        composite.serialize(("a" * 65536,), 4)
    with pytest.raises(MarshalException):
        composite.deserialize(b"\0", 4)
    with pytest.raises(MarshalException):
        composite.deserialize(b"\0\5a", 4)
    dynamic = lookup_casstype("DynamicCompositeType(i=>Int32Type)")
    with pytest.raises(MarshalException, match="no component type"):
        dynamic.deserialize(b"\x80x\0\0\0", 4)


def test_the_empty_type_holds_nothing():
    empty = lookup_casstype("EmptyType")
    assert empty.serialize(None, 4) == b""
    assert empty.from_binary(b"", 4) is None
    with pytest.raises(TypeError):
        empty.serialize(5, 4)
    with pytest.raises(MarshalException):
        empty.deserialize(b"a", 4)


def test_a_custom_type_takes_bytes_only():
    custom = mkUnrecognizedType("com.acme.Sketch")
    assert custom.serialize(b"a", 4) == b"a"
    with pytest.raises(TypeError, match="takes bytes"):
        custom.serialize("a", 4)
