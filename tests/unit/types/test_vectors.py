"""Vectors of numbers, packed at once, are what their elements are one by one."""

import array
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.types import DoubleType, FloatType, Int32Type, LongType, VectorType
from driver.types.numeric import CounterColumnType

VALUES = {
    Int32Type: st.integers(-(2**31), 2**31 - 1),
    LongType: st.integers(-(2**63), 2**63 - 1),
    CounterColumnType: st.integers(-(2**63), 2**63 - 1),
    FloatType: st.floats(width=32),
    DoubleType: st.floats() | st.integers(-(2**53), 2**53),
}
#: What each of them refuses, each in its own way.
REFUSED = {
    Int32Type: [2**31, 0.5, None, "1", np.int64(-(2**31) - 1)],
    LongType: [2**63, 0.5, None, np.uint64(2**63)],
    CounterColumnType: [-(2**63) - 1, b"1"],
    FloatType: [1e39, "1", None, 10**400],
    DoubleType: [10**400, "1", None],
}

of_each_type = pytest.mark.parametrize("subtype", VALUES, ids=lambda each: each.typename)


class Once:
    """Has a length and can be iterated once."""

    def __init__(self, items):
        self.items, self.count = iter(items), len(items)

    def __len__(self):
        return self.count

    def __iter__(self):
        return self.items


class ReversedFloat(FloatType, register=False):
    """A type of an application, with bytes of its own."""

    @classmethod
    def serialize(cls, value, protocol_version):
        return super().serialize(value, protocol_version)[::-1]

    @classmethod
    def deserialize(cls, data, protocol_version):
        return super().deserialize(data[::-1], protocol_version)


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


@of_each_type
@given(data=st.data())
def test_are_their_elements_one_after_the_other(subtype, data):
    items = data.draw(st.lists(VALUES[subtype], min_size=1, max_size=20))
    vector = VectorType.with_size(subtype, len(items))
    parts = [subtype.serialize(item, 4) for item in items]
    packed = b"".join(parts)
    for given_as in (items, tuple(items), Once(items)):
        assert vector.serialize(given_as, 4) == packed
    found = vector.deserialize(packed, 4)
    assert isinstance(found, list)
    assert all(map(same, found, [subtype.deserialize(part, 4) for part in parts]))


@pytest.mark.parametrize(
    ("subtype", "value"), [(subtype, value) for subtype in REFUSED for value in REFUSED[subtype]]
)
@pytest.mark.parametrize("kind", [list, Once])
def test_refuse_an_element_in_the_words_of_its_type(subtype, value, kind):
    with pytest.raises((TypeError, OverflowError)) as alone:
        subtype.serialize(value, 4)
    with pytest.raises((TypeError, OverflowError)) as inside:
        VectorType.with_size(subtype, 3).serialize(kind([1, value, 2]), 4)
    assert type(inside.value) is type(alone.value)
    assert str(inside.value) == str(alone.value)


@pytest.mark.parametrize("typecode", ["f", "d"])
def test_take_arrays_of_another_width(typecode):
    vector = VectorType.with_size(FloatType, 2)
    expected = vector.serialize([0.5, -1.0], 4)
    assert vector.serialize(array.array(typecode, [0.5, -1.0]), 4) == expected
    assert vector.serialize(np.array([0.5, -1.0], typecode), 4) == expected


def test_ask_a_type_of_an_application_for_each_element():
    vector = VectorType.with_size(ReversedFloat, 2)
    plain = VectorType.with_size(FloatType, 2).serialize([0.5, -1.0], 4)
    packed = vector.serialize([0.5, -1.0], 4)
    assert packed == plain[3::-1] + plain[:3:-1]
    assert vector.deserialize(packed, 4) == [0.5, -1.0]
