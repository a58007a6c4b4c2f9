"""Maps in wire order whose keys need no hash: what a CQL ``map`` is in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..protocol.typing import CqlValue


class KeyType(Protocol):
    """What ``OrderedMapSerializedKey`` needs of a CQL type."""

    def to_binary(self, value: CqlValue, protocol_version: int) -> bytes:
        """The bytes of a key."""
        ...


def _hashable(key: CqlValue) -> CqlValue:
    """A hashable stand-in for a key; equal keys have equal stand-ins."""
    try:
        hash(key)
    except TypeError:
        if isinstance(key, Mapping):
            return (Mapping, frozenset((_hashable(k), _hashable(v)) for k, v in key.items()))
        if isinstance(key, Iterable):
            return (type(key).__name__, tuple(map(_hashable, key)))
        raise
    return key


class OrderedMap(Mapping[Any, Any]):
    """A mapping in insertion order, for keys that may be lists, maps or sets.

    Read as a mapping; equal to another OrderedMap with the same items in the same order, and to
    any other mapping with the same items.
    """

    def __init__(
        self,
        *args: Mapping[CqlValue, CqlValue] | Iterable[tuple[CqlValue, CqlValue]],
        **kwargs: CqlValue,
    ) -> None:
        """Take a mapping or an iterable of pairs, and keyword items, as dict does.

        Raises:
            TypeError: more than one positional argument.
        """
        if len(args) > 1:
            raise TypeError(f"expected at most 1 argument, got {len(args)}")
        self._items: list[tuple[Any, Any]] = []
        # Built at the first look-up: most decoded maps are only iterated.
        self._index: dict[Any, int] | None = None
        for source in (*args, kwargs):
            pairs = source.items() if isinstance(source, Mapping) else source
            for key, value in pairs:
                self._insert(key, value)

    def _serialize_key(self, key: CqlValue) -> CqlValue:
        """What stands for a key in the index."""
        return _hashable(key)

    def _positions(self) -> dict[Any, int]:
        """The index, built now if it was not yet."""
        if self._index is None:
            self._index = {
                self._serialize_key(key): position
                for position, (key, _value) in enumerate(self._items)
            }
        return self._index

    def _insert(self, key: CqlValue, value: CqlValue) -> None:
        """Add an item, or replace the value of an equal key in its place."""
        positions = self._positions()
        flat_key = self._serialize_key(key)
        position = positions.get(flat_key)
        if position is None:
            positions[flat_key] = len(self._items)
            self._items.append((key, value))
        else:
            self._items[position] = (key, value)

    def __getitem__(self, key: CqlValue) -> CqlValue:
        """The value of a key.

        Raises:
            KeyError: no such key, or nothing that could be a key of this map.
        """
        try:
            position = self._positions()[self._serialize_key(key)]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise KeyError(key) from None
        return self._items[position][1]

    def __iter__(self) -> Iterator[Any]:
        """The keys in order."""
        for key, _value in self._items:
            yield key

    def __len__(self) -> int:
        """How many items there are."""
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        """Compare items, and their order if the other one has this class's kind of order."""
        if isinstance(other, OrderedMap):
            return self._items == other._items
        if isinstance(other, Mapping):
            if len(self) != len(other):
                return False
            missing = object()
            return all(other.get(key, missing) == value for key, value in self._items)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # values are mutable

    def __repr__(self) -> str:
        """The items in order."""
        return f"{type(self).__name__}({self._items!r})"

    def __str__(self) -> str:
        """As a dict looks."""
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self._items) + "}"

    def popitem(self) -> tuple[Any, Any]:
        """Remove and return the last item.

        Raises:
            KeyError: the map is empty.
        """
        if not self._items:
            raise KeyError("popitem(): the map is empty")
        self._index = None
        return self._items.pop()


class OrderedMapSerializedKey(OrderedMap):
    """An OrderedMap that knows its keys by their bytes: what decoding a CQL map gives.

    A look-up serialises the key that it is given, so any Python value that makes the same bytes
    finds the item: a ``datetime.date`` finds the ``Date`` that came over the wire.
    """

    def __init__(self, cass_type: KeyType, protocol_version: int) -> None:
        """An empty map.

        Args:
            cass_type: the CQL type of the keys.
            protocol_version: of the encoding of the keys.
        """
        self.cass_key_type = cass_type
        self.protocol_version = protocol_version
        super().__init__()

    @classmethod
    def from_items(
        cls, cass_type: KeyType, protocol_version: int, items: list[tuple[Any, Any]]
    ) -> OrderedMapSerializedKey:
        """A map of decoded items, which it keeps (a server sends each key once)."""
        new = cls.__new__(cls)  # not cls(): a page of results makes many of these
        new.cass_key_type = cass_type
        new.protocol_version = protocol_version
        new._items = items  # noqa: SLF001  (a constructor)
        new._index = None  # noqa: SLF001  (a constructor)
        return new

    def _serialize_key(self, key: CqlValue) -> bytes:
        return self.cass_key_type.to_binary(key, self.protocol_version)

    def __reduce__(self) -> tuple[type[OrderedMap], tuple[list[tuple[Any, Any]]]]:
        """Pickle as an OrderedMap: parameterised CQL types have no name to be found by."""
        return (OrderedMap, (self._items,))
