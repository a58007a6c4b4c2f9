"""Types that wrap another and change no bytes: frozen, and the order of a clustering column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import CQLType

if TYPE_CHECKING:
    from ..protocol.typing import CqlValue


class _Wrapper(CQLType):
    """Hands everything on to its one subtype."""

    num_subtypes = 1

    @classmethod
    def serialize(cls, value: CqlValue, protocol_version: int) -> bytes:
        return cls.subtypes[0].serialize(value, protocol_version)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> CqlValue:
        return cls.subtypes[0].deserialize(data, protocol_version)

    @classmethod
    def from_binary(cls, data: bytes | None, protocol_version: int) -> CqlValue:
        """Whether zero bytes are a value is for the subtype to say; null is null of any."""
        return None if data is None else cls.subtypes[0].from_binary(data, protocol_version)

    @classmethod
    def serial_size(cls) -> int | None:
        return cls.subtypes[0].serial_size() if cls.subtypes else None


class FrozenType(_Wrapper):
    """frozen<...>: stored as one value."""

    typename = "frozen"

    @classmethod
    def cql_parameterized_type(cls) -> str:
        """Tuples and user-defined types say frozen themselves."""
        if not cls.subtypes:
            return cls.typename
        inner = cls.subtypes[0].cql_parameterized_type()
        return inner if inner.startswith("frozen<") else f"frozen<{inner}>"


class ReversedType(_Wrapper):
    """A clustering column in descending order; CQL writes that elsewhere than in the type."""

    @classmethod
    def cql_parameterized_type(cls) -> str:
        """That of the subtype."""
        return cls.subtypes[0].cql_parameterized_type() if cls.subtypes else cls.typename


def unwrapped(cqltype: type[CQLType]) -> type[CQLType]:
    """The type inside of frozen and reversed ones, which change no bytes; another one as it is."""
    while issubclass(cqltype, FrozenType | ReversedType) and cqltype.subtypes:
        (cqltype,) = cqltype.subtypes
    return cqltype
