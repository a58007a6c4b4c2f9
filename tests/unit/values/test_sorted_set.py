"""A sorted set agrees with the built-in set, and takes elements that the built-in one does not."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.values.sorted_set import SortedSet, sortedset

NAN = float("nan")
INTEGERS = st.lists(st.integers(-5, 5))


@given(values=INTEGERS, other=INTEGERS)
def test_it_agrees_with_the_built_in_set(values, other):
    ours, theirs = SortedSet(values), set(values)
    assert list(ours) == sorted(theirs)
    assert ours == theirs
    assert list(reversed(ours)) == sorted(theirs, reverse=True)
    for method in ("union", "intersection", "difference", "symmetric_difference"):
        assert getattr(ours, method)(other) == getattr(theirs, method)(other)
    assert ours.issubset(other) == theirs.issubset(other)
    assert ours.issuperset(other) == theirs.issuperset(other)
    assert ours.isdisjoint(other) == theirs.isdisjoint(other)
    assert (ours | set(other)) == (theirs | set(other))
    assert (ours < set(other)) == (theirs < set(other))


@given(values=INTEGERS, changes=st.lists(st.tuples(st.booleans(), st.integers(-5, 5))))
def test_adding_and_discarding_agree_with_the_built_in_set(values, changes):
    ours, theirs = SortedSet(values), set(values)
    for adds, value in changes:
        (ours.add if adds else ours.discard)(value)
        (theirs.add if adds else theirs.discard)(value)
        assert list(ours) == sorted(theirs)
        assert (value in ours) == (value in theirs)


@given(elements=st.lists(st.lists(st.integers(0, 3), max_size=3)))
def test_elements_need_no_hash(elements):
    ours = SortedSet(elements)
    assert all(element in ours for element in elements)
    assert [3, 3, 3, 3] not in ours
    assert len(ours) == len({tuple(element) for element in elements})


@given(elements=st.lists(st.frozensets(st.integers(0, 3))))
def test_elements_may_be_sets_which_have_no_total_order(elements):
    ours = SortedSet(map(SortedSet, elements))
    assert len(ours) == len(set(elements))
    assert all(SortedSet(element) in ours for element in elements)


@given(elements=st.lists(st.tuples(st.none() | st.integers(0, 2), st.integers(0, 2))))
def test_elements_may_have_parts_that_do_not_compare(elements):
    ours = SortedSet(elements)
    assert set(ours) == set(elements)
    assert len(ours) == len(set(elements))
    assert all(element in ours for element in elements)


@pytest.mark.parametrize("values", [[NAN], [1.0, NAN, 0.5], [NAN, NAN]])
def test_nan_is_found_by_identity_as_in_the_built_in_set(values):
    ours = SortedSet(values)
    assert NAN in ours
    assert len(ours) == len(set(values))
    assert all(value in ours for value in values)


def test_adding_what_has_no_order_keeps_everything():
    ours = SortedSet([1.0, 3.0])
    ours.add(NAN)
    ours.add("text")
    ours.add(2.0)
    assert all(value in ours for value in (1.0, 2.0, 3.0, NAN, "text"))
    assert 4.0 not in ours


def test_a_value_of_another_type_is_not_in_the_set():
    assert "a" not in SortedSet([1, 2])


def test_positions_slices_and_the_last_one_out():
    ours = sortedset([3, 1, 2])
    assert (ours[0], ours[-1], ours[:2]) == (1, 3, [1, 2])
    assert ours.pop() == 3
    with pytest.raises(KeyError):
        SortedSet().pop()
    with pytest.raises(KeyError):
        ours.remove(9)


def test_a_copy_is_another_set():
    ours = SortedSet([1])
    other = ours.copy()
    other.update([2], [3])
    assert (ours, other) == ({1}, {1, 2, 3})
    assert ours != other


def test_it_survives_pickling_and_has_no_hash():
    ours = SortedSet([2, 1])
    assert pickle.loads(pickle.dumps(ours)) == ours  # noqa: S301  (our own bytes)
    assert repr(ours) == "SortedSet([1, 2])"
    with pytest.raises(TypeError):
        hash(ours)
