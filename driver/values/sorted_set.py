"""A sorted set whose elements need no hash: what a CQL ``set`` is in Python."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, MutableSet
from collections.abc import Set as AbstractSet
from itertools import islice, pairwise
from operator import lt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..protocol.typing import CqlValue


def _ascends(items: list[Any]) -> bool:
    """Whether each element is less than the next, and none is NaN, which equals nothing.

    Raises:
        TypeError: two elements cannot be compared.
    """
    if len(items) == 1:
        return bool(items[0] == items[0])
    return all(map(lt, items, islice(items, 1, None)))


def _bucket(item: CqlValue) -> int:
    """A number that equal elements share, of those without a hash too."""
    if isinstance(item, list | tuple):
        return hash(tuple(map(_bucket, item)))
    if isinstance(item, AbstractSet):
        return hash(frozenset(map(_bucket, item)))
    if isinstance(item, Mapping):
        return hash(frozenset((_bucket(key), _bucket(value)) for key, value in item.items()))
    try:
        return hash(item)
    except TypeError:
        return 0


class SortedSet(MutableSet[Any]):
    """A set in order of its elements, for elements that may be lists, maps or sets themselves.

    A collection inside a CQL set has no hash, so this set compares. Elements that no total order
    covers (NaN, sets inside, tuples with None) are kept in no particular order, and looked up among
    those of the same hash.
    """

    # Only a set without order has buckets: elements by what equal ones share.
    __slots__ = ("_buckets", "_items", "_ordered")

    def __init__(self, iterable: Iterable[Any] = ()) -> None:
        """Take the elements of an iterable, in any order, with repetitions."""
        items = list(iterable)
        self._items: list[Any] = items
        self._ordered = False
        try:
            items.sort()
            # What the server sends has no repetitions: one pass tells.
            if not _ascends(items):
                items[:] = [*items[:1], *(b for a, b in pairwise(items) if a != b)]
            self._ordered = _ascends(items)
        except TypeError:
            pass
        if not self._ordered:
            self._give_up_order()

    def _give_up_order(self) -> None:
        """Keep each of the elements once, from now on by buckets."""
        items, self._items, self._ordered = self._items, [], False
        self._buckets: dict[int, list[Any]] = {}
        for item in items:
            bucket = self._buckets.setdefault(_bucket(item), [])
            if item not in bucket:
                bucket.append(item)
                self._items.append(item)

    def _position(self, item: object) -> tuple[int, bool]:
        """Where an element stands, in order, or would be added, and whether it is there."""
        if self._ordered:
            try:
                index = bisect_left(self._items, item)
            except TypeError:  # of another type than the elements: not comparable, not in
                return len(self._items), False
            return index, index < len(self._items) and self._items[index] == item
        return len(self._items), item in self._buckets.get(_bucket(item), ())

    def __contains__(self, item: object) -> bool:
        """Whether an equal element is in the set."""
        return self._position(item)[1]

    def __iter__(self) -> Iterator[Any]:
        """The elements in order."""
        return iter(self._items)

    def __reversed__(self) -> Iterator[Any]:
        """The elements in reverse order."""
        return iter(self._items[::-1])

    def __len__(self) -> int:
        """How many elements there are."""
        return len(self._items)

    def __getitem__(self, index: int | slice) -> CqlValue:
        """The element at a position in the order; a list for a slice."""
        return self._items[index]

    def __eq__(self, other: object) -> bool:
        """Equal to any set or sequence-backed set with equal elements."""
        if isinstance(other, SortedSet) and self._ordered and other._ordered:
            return self._items == other._items
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # mutable, as the built-in set

    def __repr__(self) -> str:
        """The elements in order."""
        return f"SortedSet({self._items!r})"

    def __reduce__(self) -> tuple[type[SortedSet], tuple[list[Any]]]:
        """Pickle the elements."""
        return (type(self), (self._items,))

    def add(self, value: object) -> None:
        """Add an element, unless an equal one is there."""
        index, found = self._position(value)
        if found:
            return
        self._items.insert(index, value)
        if not self._ordered:
            self._buckets.setdefault(_bucket(value), []).append(value)
        elif not self._fits(index):
            self._give_up_order()

    def _fits(self, index: int) -> bool:
        """Whether the order is still total with a new element at an index."""
        try:
            return _ascends(self._items[max(index - 1, 0) : index + 2])
        except TypeError:
            return False

    def discard(self, value: object) -> None:
        """Remove an element if it is there."""
        index, found = self._position(value)
        if not found:
            return
        if self._ordered:
            del self._items[index]
        else:
            self._items.remove(value)
            self._buckets[_bucket(value)].remove(value)

    def pop(self) -> CqlValue:
        """Remove and return the last element.

        Raises:
            KeyError: the set is empty.
        """
        if not self._items:
            raise KeyError("pop from an empty set")
        item = self._items.pop()
        if not self._ordered:
            self._buckets[_bucket(item)].remove(item)
        return item

    def copy(self) -> SortedSet:
        """A shallow copy."""
        return SortedSet(self._items)

    def update(self, *others: Iterable[Any]) -> None:
        """Add the elements of other iterables."""
        for other in others:
            for item in other:
                self.add(item)

    def union(self, *others: Iterable[Any]) -> SortedSet:
        """A new set with the elements of this one and of others."""
        result = self.copy()
        result.update(*others)
        return result

    def difference(self, *others: Iterable[Any]) -> SortedSet:
        """A new set with the elements that no other has."""
        excluded = [SortedSet(other) for other in others]
        return SortedSet(i for i in self._items if not any(i in other for other in excluded))

    def intersection(self, *others: Iterable[Any]) -> SortedSet:
        """A new set with the elements that every other has too."""
        required = [SortedSet(other) for other in others]
        return SortedSet(i for i in self._items if all(i in other for other in required))

    def symmetric_difference(self, other: Iterable[Any]) -> SortedSet:
        """A new set with the elements that only one of the two has."""
        theirs = SortedSet(other)
        return self.difference(theirs).union(theirs.difference(self))

    def issubset(self, other: Iterable[Any]) -> bool:
        """Whether the other has every element of this one."""
        theirs = SortedSet(other)
        return all(item in theirs for item in self._items)

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Whether this one has every element of the other."""
        return all(item in self for item in other)


#: The lower-case name that the field also uses.
sortedset = SortedSet
