"""vector: a fixed number of elements of one type, packed without a count (Cassandra 5).

Elements of a fixed size follow each other; others have their length in front as an unsigned vint.
Numbers are packed and unpacked in one call of ``struct``, all others one by one.
"""

# ruff: noqa: ARG003, D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

import io
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ..protocol.errors import MarshalException
from . import marshal
from .base import CQLType, specialise, truncated
from .numeric import CounterColumnType, DoubleType, FloatType, Int32Type, LongType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .type_string import Argument

#: Types of numbers that ``struct`` packs as they do, by its code. Not their subclasses, which may
#: do it in their own way.
_CODES: dict[type[CQLType], str] = {
    Int32Type: "i",
    LongType: "q",
    CounterColumnType: "q",
    FloatType: "f",
    DoubleType: "d",
}


@lru_cache(maxsize=256)
def _layout(code: str, count: int) -> struct.Struct:
    """So many numbers of a code of ``struct``, one after the other."""
    return struct.Struct(f">{count}{code}")


class VectorType(CQLType):
    """vector<subtype, vector_size>: a list in Python; takes any sized iterable of that length.

    Attributes:
        subtype: the type of the elements.
        vector_size: how many there are.
    """

    typename = "vector"
    arrow = "+w"
    num_subtypes = 1
    subtype: ClassVar[type[CQLType]]
    vector_size: ClassVar[int]

    @classmethod
    def with_size(cls, subtype: type[CQLType], vector_size: int) -> type[VectorType]:
        """The vector of a subtype and a number of elements.

        Raises:
            ValueError: the size is not a positive 32-bit number.
        """
        if not 0 < vector_size < 1 << 31:
            raise ValueError(f"a vector has 1 to {(1 << 31) - 1} elements, not {vector_size}")
        new = specialise(cls, subtypes=(subtype,), subtype=subtype, vector_size=vector_size)
        return cast("type[VectorType]", new)

    @classmethod
    def apply_parameters(
        cls,
        subtypes: Sequence[Any],
        names: Sequence[str | None] | None = None,
    ) -> type[CQLType]:
        """``with_size`` in the form of all types: a subtype and a size.

        Raises:
            ValueError: not these two.
        """
        if len(subtypes) != 2:
            raise ValueError(f"vector takes a subtype and a size, got {subtypes!r}")
        subtype, size = subtypes
        return cls.with_size(subtype, int(size))

    @classmethod
    def from_arguments(
        cls, arguments: Sequence[Argument], build: Callable[[Argument], type[CQLType]]
    ) -> type[CQLType]:
        """``VectorType(subtype, size)``."""
        if len(arguments) != 2:
            raise ValueError(f"vector takes a subtype and a size, got {arguments!r}")
        return cls.with_size(build(arguments[0]), int(arguments[1].name))

    @classmethod
    def serial_size(cls) -> int | None:
        size = cls.subtype.serial_size() if cls.subtypes else None
        return None if size is None else size * cls.vector_size

    @classmethod
    def serialize(cls, value: Sequence[Any], protocol_version: int) -> bytes:
        try:
            length = len(value)
        except TypeError:
            raise TypeError(f"vector takes a sequence, not {type(value).__name__}") from None
        if length != cls.vector_size:
            raise ValueError(f"{cls.cql_parameterized_type()} got {length} elements")
        code = _CODES.get(cls.subtype)
        if code is not None:
            value = tuple(value)
            try:
                return _layout(code, length).pack(*value)
            except (struct.error, OverflowError):
                pass  # which element it is, and what is wrong with it, its type can tell
        fixed = cls.subtype.serial_size() is not None
        buffer = io.BytesIO()
        serialize, write = cls.subtype.serialize, buffer.write
        for item in value:
            data = serialize(item, protocol_version)
            if not fixed:
                write(marshal.uvint_pack(len(data)))
            write(data)
        return buffer.getvalue()

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> list[Any]:
        size = cls.subtype.serial_size()
        if size is None:
            return cls._variable(data, protocol_version)
        if len(data) != size * cls.vector_size:
            raise MarshalException(
                f"{cls.cql_parameterized_type()}: a value has {size * cls.vector_size} bytes, "
                f"got {len(data)}"
            )
        code = _CODES.get(cls.subtype)
        if code is not None:
            return list(_layout(code, cls.vector_size).unpack(data))
        deserialize = cls.subtype.deserialize
        starts = range(0, len(data), size)
        return [deserialize(data[start : start + size], protocol_version) for start in starts]

    @classmethod
    def _variable(cls, data: bytes, protocol_version: int) -> list[Any]:
        """The elements, each with its length in front."""
        elements: list[Any] = []
        offset = 0
        for _ in range(cls.vector_size):
            # A length takes 9 bytes at most.
            size, taken = marshal.uvint_unpack(data[offset : offset + 9])
            offset += taken
            if size > len(data) - offset:
                raise truncated(cls.cql_parameterized_type(), size, len(data) - offset)
            elements.append(cls.subtype.from_binary(data[offset : offset + size], protocol_version))
            offset += size
        if offset != len(data):
            raise MarshalException(
                f"{cls.cql_parameterized_type()}: "
                f"{len(data) - offset} bytes behind the last element"
            )
        return elements

    @classmethod
    def cql_parameterized_type(cls) -> str:
        """``vector<float, 3>``."""
        if not cls.subtypes:
            return cls.typename
        return f"vector<{cls.subtype.cql_parameterized_type()}, {cls.vector_size}>"

    @classmethod
    def cass_parameterized_type(cls, full: bool = False) -> str:
        """``VectorType(FloatType, 3)``."""
        name = cls._cass_name(full)
        if not cls.subtypes:
            return name
        return f"{name}({cls.subtype.cass_parameterized_type(full)}, {cls.vector_size})"
