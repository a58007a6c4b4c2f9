"""Row factories: the same rows in each shape."""

import copy
import pickle
import subprocess
import sys
from collections import OrderedDict

import pytest

from driver.results import (
    dict_factory,
    named_tuple_factory,
    ordered_dict_factory,
    tuple_factory,
)
from driver.results.rows import make_rows

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


AGAIN = [copy.copy, copy.deepcopy]
AGAIN += [lambda row, n=n: pickle.loads(pickle.dumps(row, n)) for n in range(6)]  # noqa: S301  (our own)


@pytest.mark.parametrize("names", [["a", "b"], ["_x", "class"], ["a", "a"], ["a"] * 12, []])
@pytest.mark.parametrize("again", AGAIN)
def test_a_named_tuple_survives_a_copy_and_a_pickle(names, again):
    (row,) = named_tuple_factory(names, [tuple([i] for i in range(len(names)))])
    kept = again(row)
    assert kept == row
    assert (type(kept), kept._fields) == (type(row), row._fields)


def test_a_named_tuple_is_unpickled_where_no_such_rows_were_read():
    script = """
import pickle, sys
row = pickle.loads(sys.stdin.buffer.read())
assert (row.a, row.b, repr(row)) == (1, "x", "Row(a=1, b='x')")
"""
    kept = pickle.dumps(named_tuple_factory(NAMES, ROWS)[0])
    subprocess.run([sys.executable, "-c", script], input=kept, check=True)


def test_a_deep_copy_of_a_named_tuple_has_values_of_its_own():
    (row,) = named_tuple_factory(["a"], [([1],)])
    assert copy.copy(row).a is row.a
    assert copy.deepcopy(row).a is not row.a


@pytest.mark.parametrize(
    "factory", [tuple_factory, named_tuple_factory, dict_factory, ordered_dict_factory]
)
def test_a_page_of_columns_is_handed_on(factory):
    page = {"a": [1, 2], "b": ["x", None]}
    assert factory(NAMES, page) is page


def test_named_tuples_are_equal_to_tuples_in_sets_and_dicts_too():
    rows = named_tuple_factory(NAMES, ROWS)
    assert [hash(row) for row in rows] == [hash(row) for row in ROWS]
    assert dict.fromkeys(rows, 1)[2, None] == 1


def test_rows_that_are_given_stay_as_they_are():
    given = [tuple([number, "x"]) for number in range(3)]  # noqa: C409  (nobody else has them)
    made = named_tuple_factory(NAMES, given)
    assert made is not given
    assert {type(row) for row in given} == {tuple}


@pytest.mark.parametrize("rows", [ROWS[:], iter(ROWS), [[1, "x"], (2, None)]])
def test_rows_that_only_the_caller_has_become_named_tuples(rows):
    assert [(row.a, row.b) for row in make_rows(named_tuple_factory, NAMES, rows)] == ROWS
    assert {type(row) for row in ROWS} == {tuple}


def test_rows_of_an_answer_that_is_handed_out_again_are_made_once():
    rows = make_rows(named_tuple_factory, NAMES, [(1, "x"), (2, None)])
    again = make_rows(named_tuple_factory, NAMES, rows)
    assert again == ROWS
    assert {type(row) for row in again} == {type(row) for row in rows}


def test_rows_of_another_length_are_refused_wherever_they_are():
    for length in (1, 3):
        rows = [(1, "x"), tuple(range(length))]
        with pytest.raises(TypeError, match=f"Expected 2 arguments, got {length}"):
            make_rows(named_tuple_factory, NAMES, rows)


def test_rows_of_other_factories_are_made_as_by_these():
    assert make_rows(tuple_factory, NAMES, ROWS) is ROWS
    assert make_rows(dict_factory, NAMES, ROWS) == dict_factory(NAMES, ROWS)
    page = {"a": 1}
    assert make_rows(named_tuple_factory, NAMES, page) is page
    assert make_rows(named_tuple_factory, [], [()]) == [()]
