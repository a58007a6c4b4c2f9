"""What a server may send takes time in proportion to its length, whatever is in it.

No clock decides: each input is so long that the square of its length would take minutes.
"""

import random
from decimal import Decimal

import pytest

from driver.results.rows import named_tuple_class, named_tuple_factory
from driver.types import DecimalType, Int32Type, UserType, lookup_casstype
from driver.values.ordered_map import OrderedMap
from driver.values.sorted_set import SortedSet


def test_columns_of_one_name():
    fields = named_tuple_class(("a",) * 20_000)._fields
    assert fields[:3] == ("a", "a_", "a__")
    assert fields[8:11] == ("a" + 8 * "_", "field_9_", "field_10_")
    assert len(set(fields)) == 20_000


def test_columns_that_are_called_as_others_would_be_by_their_position():
    names = ("field_10_", *["a"] * 12, "field_11_", "field_10__")
    row = named_tuple_factory(names, [tuple(range(len(names)))])[0]
    assert tuple(row) == tuple(range(len(names)))


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("é" * 2_000_000 + "a", "a"),
        ("a" + "é" * 2_000_000, "a"),
        ("a" + "é" * 2_000_000 + "b", "a" + "_" * 2_000_000 + "b"),
        ("_" * 2_000_000, "field_0_"),
        ("a!\n", "a"),
        ("(x)__", "x___"),
    ],
    ids=["before", "behind", "inside", "only", "line", "underscores"],
)
def test_names_that_are_no_identifiers(name, field):
    assert named_tuple_class.__wrapped__((name,))._fields == (field,)


def test_fields_of_a_user_type():
    names = [f"f{number}" for number in range(30_000)]
    made = UserType.make_udt_class("ks", "wide", names, [Int32Type] * len(names))
    assert made.tuple_type._fields == tuple(names)


def test_fields_of_a_user_type_that_are_called_as_others_would_be():
    names = ["_x", "field_0_", "x", "x", "field_3_"]
    made = UserType.make_udt_class("ks", "odd", names, [Int32Type] * len(names))
    assert made.tuple_type._fields == ("field_0__", "field_0_", "x", "field_3__", "field_3_")


@pytest.mark.parametrize("size", [253, 300, 511, 512, 513, 5000])
@pytest.mark.parametrize("scale", [0, 7, -7, 2**31 - 1, -(2**31)])
def test_long_decimals_keep_every_digit(size, scale):
    digits = random.Random(size).randbytes(size)
    for data in (digits, b"\x80" + digits, b"\x00" + bytes(size), b"\xff" * size):
        sign, unscaled, _ = Decimal(int.from_bytes(data, "big", signed=True)).as_tuple()
        packed = scale.to_bytes(4, "big", signed=True) + data
        assert DecimalType.deserialize(packed, 4).as_tuple() == (sign, unscaled, -scale)


def test_a_decimal_of_a_megabyte():
    assert DecimalType.deserialize(bytes(4) + b"\x01" + bytes(1_000_000), 4).adjusted() > 2_400_000


ELEMENTS = {
    "sets": lambda number: SortedSet([number, number + 1]),
    "maps": lambda number: OrderedMap([(number, number + 1)]),
    "lists of sets": lambda number: [SortedSet([number])],
    "nan": lambda _: float("nan"),
    "nulls": lambda number: (number, None),
}


@pytest.mark.parametrize("kind", ELEMENTS)
def test_sets_of_what_has_no_order(kind):
    elements = [ELEMENTS[kind](number) for number in range(50_000)]
    random.Random(5).shuffle(elements)
    found = SortedSet(elements + elements)
    assert len(found) == len(elements)
    assert all(element in found for element in elements)
    assert found == SortedSet(elements[::-1])


def test_a_set_without_order_is_a_set_all_the_same():
    nan = float("nan")
    found = SortedSet([nan, 1, nan])
    assert len(found) == 2
    found.add(1.0)
    found.add(2)
    found.discard(1)
    assert nan in found
    assert list(found) == [nan, 2]
    assert found.pop() == 2
    assert 2 not in found
    found.add(2)
    assert 2 in found
    kept = SortedSet([1, 2])
    kept.add("a")  # no order any more
    assert 1 in kept
    assert "a" in kept
    sets = [frozenset({2}), frozenset({1})]
    assert SortedSet([SortedSet([1]), SortedSet([2])]) == SortedSet(sets)


def test_type_strings_with_many_fields():
    fields = ",".join(f"{f'f{number}'.encode().hex()}:Int32Type" for number in range(20_000))
    assert len(lookup_casstype(f"UserType(ks,61,{fields})").subtypes) == 20_000
