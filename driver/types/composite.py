"""Composite class names, from Thrift and compact storage: values of several components in one.

A component is a 16-bit length, its bytes, and an end-of-component byte (Cassandra's
CompositeType.java, "Encoding of a CompositeType column name").
"""

# ruff: noqa: ARG003, D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..protocol.errors import MarshalException
from . import marshal
from .base import MARSHAL_PREFIX, CQLType, casstypes, truncated, wrong_size
from .text import BytesType

if TYPE_CHECKING:
    from collections.abc import Sequence

_END_OF_COMPONENT = b"\x00"

#: Set in the 16-bit header of a dynamic component whose type is an alias in the low byte.
_ALIAS = 0x8000


def _pack_component(subtype: type[CQLType], value: object, protocol_version: int) -> bytes:
    data = subtype.to_binary(value, protocol_version)
    if len(data) > 0xFFFF:
        raise OverflowError(f"a component has at most 65535 bytes, not {len(data)}")
    return marshal.uint16_pack(len(data)) + data + _END_OF_COMPONENT


def _read_short_bytes(data: bytes, offset: int, typename: str) -> tuple[bytes, int]:
    """The bytes behind a 16-bit length, and the offset behind them."""
    if len(data) - offset < 2:
        raise truncated(typename, 2, len(data) - offset)
    size = marshal.uint16_unpack(data[offset : offset + 2])
    offset += 2
    if len(data) - offset < size:
        raise truncated(typename, size, len(data) - offset)
    return data[offset : offset + size], offset + size


class _Composite(CQLType):
    """A class name with subtypes that CQL writes as a custom type, in single quotes."""

    num_subtypes = None

    @classmethod
    def cql_parameterized_type(cls) -> str:
        return f"'{cls.cass_parameterized_type(full=True)}'"


class CompositeType(_Composite):
    """A fixed list of components; a tuple in Python, shorter if the last ones are missing."""

    @classmethod
    def serialize(cls, value: Sequence[Any], protocol_version: int) -> bytes:
        if isinstance(value, str | bytes):
            raise TypeError(f"{cls.cassname} takes a sequence, not {type(value).__name__}")
        if len(value) > len(cls.subtypes):
            raise ValueError(f"{cls.cassname} has {len(cls.subtypes)} components, got {value!r}")
        pairs = zip(cls.subtypes, value, strict=False)
        return b"".join(_pack_component(s, item, protocol_version) for s, item in pairs)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> tuple[Any, ...]:
        values, offset = [], 0
        for subtype in cls.subtypes:
            if offset >= len(data):
                break
            component, offset = _read_short_bytes(data, offset, cls.cassname)
            values.append(subtype.from_binary(component, protocol_version))
            offset += 1  # the end-of-component byte
        return tuple(values)


class DynamicCompositeType(_Composite):
    """Components that each name their type, by an alias or by its class name.

    A tuple of pairs in Python, ``(alias or class name, value)``.
    """

    @classmethod
    def serialize(cls, value: Sequence[tuple[str, Any]], protocol_version: int) -> bytes:
        packed = []
        for name, item in value:
            subtype = cls._component_type(name)
            if len(name) == 1:
                packed.append(marshal.uint16_pack(_ALIAS | ord(name)))
            else:
                packed.append(marshal.uint16_pack(len(name.encode())) + name.encode())
            packed.append(_pack_component(subtype, item, protocol_version))
        return b"".join(packed)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> tuple[tuple[str, Any], ...]:
        values, offset = [], 0
        while offset < len(data):
            if data[offset] & _ALIAS >> 8 and offset + 1 < len(data):
                name = chr(data[offset + 1])
                offset += 2
            else:
                encoded, offset = _read_short_bytes(data, offset, cls.cassname)
                name = encoded.decode()
            component, offset = _read_short_bytes(data, offset, cls.cassname)
            subtype = cls._component_type(name)
            values.append((name, subtype.from_binary(component, protocol_version)))
            offset += 1  # the end-of-component byte
        return tuple(values)

    @classmethod
    def _component_type(cls, name: str) -> type[CQLType]:
        """The type of an alias or of the class name of a simple type."""
        for alias, subtype in zip(cls.fieldnames or (), cls.subtypes, strict=False):
            if alias == name:
                return subtype
        found = casstypes.get(name.removeprefix(MARSHAL_PREFIX))
        if found is None:
            raise MarshalException(f"{cls.cassname}: no component type {name!r}")
        return found

    @classmethod
    def cass_parameterized_type(cls, full: bool = False) -> str:
        """With aliases: ``DynamicCompositeType(a=>Int32Type)``."""
        aliases = cls.fieldnames or ()
        pairs = zip(aliases, cls.subtypes, strict=False)
        inner = ", ".join(f"{alias}=>{s.cass_parameterized_type(full)}" for alias, s in pairs)
        return cls._cass_name(full) + (f"({inner})" if inner else "")


class ColumnToCollectionType(_Composite, BytesType):
    """Describes the collections of a compact table's comparator; its values stay bytes."""

    num_subtypes = None

    @classmethod
    def cass_parameterized_type(cls, full: bool = False) -> str:
        """With names in hexadecimal: ``ColumnToCollectionType(666f6f:ListType(Int32Type))``."""
        pairs = zip(cls.fieldnames or (), cls.subtypes, strict=False)
        inner = ",".join(f"{name}:{s.cass_parameterized_type(full)}" for name, s in pairs)
        return cls._cass_name(full) + (f"({inner})" if inner else "")


class EmptyType(CQLType):
    """The type of the value column of a table that has none: zero bytes, None in Python."""

    typename = "empty"
    arrow = "n"
    empty_binary_ok = True

    @classmethod
    def serialize(cls, value: object, protocol_version: int) -> bytes:
        if value is not None:
            raise TypeError(f"empty takes None, not {type(value).__name__}")
        return b""

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> None:
        if data:
            raise wrong_size(cls.typename, "0", len(data))
