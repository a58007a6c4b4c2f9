"""Collections: list, set, map. A 32-bit count, then parts with 32-bit lengths (protocol v3 on)."""

# ruff: noqa: D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, Any

from ..protocol.errors import MarshalException
from ..values.ordered_map import OrderedMapSerializedKey
from ..values.sorted_set import SortedSet
from . import marshal
from .base import CQLType
from .framing import pack_part, read_count, read_part

if TYPE_CHECKING:
    from collections.abc import Collection

#: What nearly all values of lists and sets are: they need not be asked what else they could be.
_USUAL = frozenset({list, tuple, set, frozenset, SortedSet})


def _check_end(typename: str, data: bytes, offset: int) -> None:
    """Refuse bytes behind the last element, as Cassandra does."""
    if offset != len(data):
        raise MarshalException(f"{typename}: {len(data) - offset} bytes behind the last element")


class _Sequence(CQLType):
    """What list and set share: elements of one type, one after the other."""

    num_subtypes = 1

    @classmethod
    def serialize(cls, value: Collection[Any], protocol_version: int) -> bytes:
        if type(value) not in _USUAL and (
            isinstance(value, str | bytes | Mapping) or not isinstance(value, Sized)
        ):
            raise TypeError(f"{cls.typename} takes a sequence or a set, not {type(value).__name__}")
        (subtype,) = cls.subtypes
        parts = [marshal.int32_pack(len(value))]
        parts += [pack_part(subtype, item, protocol_version) for item in value]
        return b"".join(parts)

    @classmethod
    def _elements(cls, data: bytes, protocol_version: int) -> list[Any]:
        (subtype,) = cls.subtypes
        elements, offset = [], 4
        for _ in range(read_count(data, 4, cls.typename)):
            part, offset = read_part(data, offset, cls.typename)
            elements.append(subtype.from_binary(part, protocol_version))
        _check_end(cls.typename, data, offset)
        return elements


class ListType(_Sequence):
    """list: a list in Python; takes any sized iterable but text, bytes and mappings."""

    typename = "list"
    option_code = 0x0020
    arrow = "+l"

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> list[Any]:
        return cls._elements(data, protocol_version)


class SetType(_Sequence):
    """set: a ``SortedSet`` in Python; takes any sized iterable but text, bytes and mappings."""

    typename = "set"
    option_code = 0x0022
    arrow = "+l"

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> SortedSet:
        return SortedSet(cls._elements(data, protocol_version))


class MapType(CQLType):
    """map: an ``OrderedMapSerializedKey`` in Python, in wire order; takes any mapping."""

    typename = "map"
    option_code = 0x0021
    arrow = "+m"
    num_subtypes = 2

    @classmethod
    def serialize(cls, value: Mapping[Any, Any], protocol_version: int) -> bytes:
        # Programs have mappings that can be hashed, and are none for collections.abc.
        if not isinstance(value, Mapping) and not hasattr(value, "items"):
            raise TypeError(f"map takes a mapping, not {type(value).__name__}")
        key_type, value_type = cls.subtypes
        parts = [marshal.int32_pack(len(value))]
        for key, item in value.items():
            parts.append(pack_part(key_type, key, protocol_version))
            parts.append(pack_part(value_type, item, protocol_version))
        return b"".join(parts)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> OrderedMapSerializedKey:
        key_type, value_type = cls.subtypes
        items, offset = [], 4
        for _ in range(read_count(data, 8, cls.typename)):
            key, offset = read_part(data, offset, cls.typename)
            item, offset = read_part(data, offset, cls.typename)
            items.append(
                (
                    key_type.from_binary(key, protocol_version),
                    value_type.from_binary(item, protocol_version),
                )
            )
        _check_end(cls.typename, data, offset)
        return OrderedMapSerializedKey.from_items(key_type, protocol_version, items)
