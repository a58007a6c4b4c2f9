"""Ordered maps agree with dict, and take keys that dict does not."""

import datetime as dt
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.types import EMPTY, Int32Type, SimpleDateType, lookup_cqltype
from driver.values.date import Date
from driver.values.ordered_map import OrderedMap, OrderedMapSerializedKey

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers()))


@given(pairs=PAIRS)
def test_it_agrees_with_dict(pairs):
    ours, theirs = OrderedMap(pairs), dict(pairs)
    assert list(ours.items()) == list(theirs.items())
    assert list(ours.keys()) == list(theirs)
    assert list(ours.values()) == list(theirs.values())
    assert ours == theirs
    assert str(ours) == str(theirs)
    assert all(ours[key] == theirs[key] for key in theirs)
    assert 9 not in ours


def test_it_is_made_as_dict_is():
    assert OrderedMap({"a": 1}, b=2) == {"a": 1, "b": 2}
    with pytest.raises(TypeError, match="at most 1"):
        OrderedMap({}, {})


def test_order_counts_between_ordered_maps_and_not_with_others():
    ours, reverse = OrderedMap([(1, 1), (2, 2)]), OrderedMap([(2, 2), (1, 1)])
    assert ours != reverse
    assert ours == {2: 2, 1: 1}
    assert ours != {1: 1}
    assert ours != [(1, 1), (2, 2)]


@pytest.mark.parametrize("key", [[1, [2]], {"a": [1]}, {1, 2}, [{"b": {3}}]], ids=repr)
def test_keys_need_no_hash(key):
    ours = OrderedMap([(key, "found"), ("other", 0)])
    assert ours[key] == "found"
    assert ours.get([9]) is None


def test_items_leave_from_the_end():
    ours = OrderedMap([(1, "a"), (2, "b")])
    assert 2 in ours
    assert ours.popitem() == (2, "b")
    assert 2 not in ours
    assert ours.popitem() == (1, "a")
    with pytest.raises(KeyError):
        ours.popitem()


def test_a_key_is_found_by_any_value_of_the_same_bytes():
    ours = OrderedMapSerializedKey.from_items(SimpleDateType, 4, [(Date(0), "epoch")])
    assert ours[dt.date(1970, 1, 1)] == "epoch"
    assert ours["1970-01-01"] == "epoch"
    assert EMPTY not in ours


@pytest.mark.parametrize("key", ["text", 1 << 40, None, [1]], ids=repr)
def test_what_cannot_be_a_key_is_a_missing_key(key):
    ours = OrderedMapSerializedKey.from_items(Int32Type, 4, [(1, "one")])
    assert key not in ours
    with pytest.raises(KeyError):
        ours[key]


def test_a_decoded_map_survives_pickling():
    cqltype = lookup_cqltype("map<frozen<list<int>>, text>")
    ours = cqltype.deserialize(cqltype.serialize(OrderedMap([([1], "a")]), 4), 4)
    copy = pickle.loads(pickle.dumps(ours))  # noqa: S301  (our own bytes)
    assert copy == ours
    assert copy[[1]] == "a"


def test_maps_have_no_hash_and_a_repr():
    with pytest.raises(TypeError):
        hash(OrderedMap())
    assert repr(OrderedMapSerializedKey(Int32Type, 4)) == "OrderedMapSerializedKey([])"
