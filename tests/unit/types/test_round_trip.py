"""What is written is read back, for every type, by the type and by its deserializer."""

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.cql import CUSTOM, SCALARS, damaged, types_with_values, values_of

from driver.protocol.errors import MarshalException
from driver.protocol.unset import UNSET_VALUE
from driver.types import EMPTY, lookup_casstype, lookup_cqltype
from driver.types.deserializers import find_deserializer, make_deserializers

VERSIONS = st.sampled_from([3, 4, 5])
SIMPLE = [lookup_cqltype(name) for name in SCALARS] + [lookup_casstype(CUSTOM)]


@pytest.mark.parametrize("cqltype", SIMPLE, ids=repr)
@given(data=st.data(), version=VERSIONS)
def test_a_simple_value_comes_back(cqltype, data, version):
    value = data.draw(values_of(cqltype))
    encoded = cqltype.serialize(value, version)
    assert cqltype.deserialize(encoded, version) == value
    assert find_deserializer(cqltype).deserialize_bytes(encoded, version) == value
    assert cqltype.serialize(cqltype.deserialize(encoded, version), version) == encoded


@given(drawn=types_with_values(), version=VERSIONS)
def test_a_value_of_any_nested_type_comes_back(drawn, version):
    cqltype, value = drawn
    encoded = cqltype.to_binary(value, version)
    assert cqltype.from_binary(encoded, version) == value
    assert find_deserializer(cqltype).deserialize_bytes(encoded, version) == value


@given(drawn=types_with_values(), version=VERSIONS)
def test_a_type_is_found_again_by_its_own_name(drawn, version):
    cqltype, value = drawn
    again = lookup_casstype(cqltype.cass_parameterized_type(full=True))
    assert again is cqltype
    assert again.serialize(value, version) == cqltype.serialize(value, version)


@given(drawn=types_with_values(), data=st.data())
def test_damaged_bytes_are_a_value_or_a_value_error(drawn, data):
    cqltype, value = drawn
    encoded = data.draw(damaged(cqltype.serialize(value, 4)))
    with suppress(ValueError, OverflowError):  # OverflowError: a timestamp outside of datetime
        find_deserializer(cqltype).deserialize_bytes(encoded, 4)


@pytest.mark.parametrize("cqltype", SIMPLE, ids=repr)
def test_null_is_none_and_none_is_no_bytes(cqltype):
    assert cqltype.from_binary(None, 4) is None
    assert find_deserializer(cqltype).deserialize_bytes(None, 4) is None
    assert cqltype.to_binary(None, 4) == b""


@pytest.mark.parametrize("cqltype", SIMPLE, ids=repr)
def test_empty_is_a_value_of_texts_and_bytes_alone(cqltype):
    value = cqltype.from_binary(b"", 4)
    text_or_bytes = {"ascii", "text", "varchar"}, {"blob", CUSTOM}
    expected = next(
        (v for v, t in zip(("", b""), text_or_bytes, strict=True) if cqltype.typename in t), None
    )
    assert value == expected
    assert find_deserializer(cqltype).deserialize_bytes(b"", 4) == expected
    assert cqltype.to_binary(EMPTY, 4) == b""


@pytest.mark.parametrize(
    "name",
    [*SCALARS, "list<int>", "set<int>", "map<int, int>", "tuple<int>", "vector<int, 1>"],
)
def test_unset_is_a_value_of_no_type(name):
    with pytest.raises(TypeError):
        lookup_cqltype(name).serialize(UNSET_VALUE, 4)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("tinyint", 1),
        ("smallint", 2),
        ("int", 4),
        ("bigint", 8),
        ("counter", 8),
        ("float", 4),
        ("double", 8),
        ("boolean", 1),
        ("timestamp", 8),
        ("date", 4),
        ("time", 8),
        ("uuid", 16),
        ("timeuuid", 16),
        ("vector<int, 3>", 12),
    ],
)
def test_a_fixed_width_value_has_its_width(name, size):
    cqltype = lookup_cqltype(name)
    for wrong in (size - 1, size + 1):
        for decode in (cqltype.deserialize, find_deserializer(cqltype).deserialize_bytes):
            if wrong:
                with pytest.raises(MarshalException, match=f"{size} bytes|{size}, got|has {size}"):
                    decode(bytes(wrong), 4)


def test_a_nested_null_and_a_nested_empty_are_told_apart():
    cqltype = lookup_cqltype("list<text>")
    encoded = cqltype.serialize([None, ""], 4)
    assert encoded == bytes.fromhex("00000002 ffffffff 00000000")
    assert cqltype.deserialize(encoded, 4) == [None, ""]


@pytest.mark.parametrize("value", [None, UNSET_VALUE], ids=repr)
def test_nothing_is_no_boolean_inside_of_a_vector(value):
    with pytest.raises(TypeError, match="takes a bool"):
        lookup_cqltype("vector<boolean, 1>").serialize([value], 4)


@pytest.mark.parametrize("digits", [100, 500, 5000])
def test_a_decimal_may_have_more_digits_than_python_writes_as_text(digits):
    cqltype = lookup_cqltype("decimal")
    value = Decimal((1, (9,) * digits, -3))
    encoded = cqltype.serialize(value, 4)
    assert cqltype.deserialize(encoded, 4) == value
    assert find_deserializer(cqltype).deserialize_bytes(encoded, 4) == value


def test_nan_comes_back_as_nan():
    for name in ("float", "double"):
        cqltype = lookup_cqltype(name)
        value = cqltype.deserialize(cqltype.serialize(float("nan"), 4), 4)
        assert value != value  # noqa: PLR0124  (that is what NaN is)


def test_deserializers_come_in_the_order_of_their_types():
    cqltypes = [lookup_cqltype("int"), lookup_cqltype("frozen<list<int>>")]
    found = make_deserializers(cqltypes)
    assert [d.cqltype for d in found] == [cqltypes[0], lookup_cqltype("list<int>")]
    assert find_deserializer(cqltypes[1]) is found[1]
