"""Row factories: the same rows in each shape."""

from collections import OrderedDict

import pytest

from driver.results import (
    dict_factory,
    named_tuple_factory,
    ordered_dict_factory,
    tuple_factory,
)

NAMES, ROWS = ["a", "b"], [(1, "x"), (2, None)]


def test_tuples_are_the_decoded_rows_themselves():
    assert tuple_factory(NAMES, ROWS) is ROWS


def test_named_tuples_have_fields():
    first, second = named_tuple_factory(NAMES, ROWS)
    assert (first.a, first.b, second.b) == (1, "x", None)
    assert first == (1, "x")
    assert type(first).__name__ == "Row"


def test_dicts_have_names():
    expected = [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    assert dict_factory(NAMES, ROWS) == expected
    ordered = ordered_dict_factory(NAMES, iter(ROWS))
    assert ordered == expected
    assert isinstance(ordered[0], OrderedDict)


@pytest.mark.parametrize(
    ("names", "fields"),
    [
        (["system.now()", "count"], ["system_now", "count"]),
        (["_x", "__y__", "[applied]"], ["x", "y__", "applied"]),
        (["1a", "class", "", "é", "_"], [f"field_{i}_" for i in range(5)]),
        (["a", "a", "a_"], ["a", "a_", "a__"]),
        (["x(a, b)"], ["x_a__b"]),
    ],
)
def test_names_become_valid_fields(names, fields):
    (row,) = named_tuple_factory(names, [range(len(names))])
    assert list(row._fields) == fields


@pytest.mark.parametrize("factory", [named_tuple_factory, dict_factory, ordered_dict_factory])
def test_no_rows_stay_no_rows(factory):
    assert factory(NAMES, []) == []


def test_the_classes_of_named_tuples_are_kept():
    first, second = (named_tuple_factory(NAMES, ROWS)[0] for _ in range(2))
    assert type(first) is type(second)


@pytest.mark.parametrize(
    "factory", [tuple_factory, named_tuple_factory, dict_factory, ordered_dict_factory]
)
def test_a_page_of_columns_is_handed_on(factory):
    page = {"a": [1, 2], "b": ["x", None]}
    assert factory(NAMES, page) is page
