"""Numbers: tinyint, smallint, int, bigint, counter, float, double, boolean, varint, decimal."""

# ruff: noqa: ARG003, D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

import struct
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

from . import marshal
from .base import CQLType, truncated, wrong_size

if TYPE_CHECKING:
    from ..protocol.typing import CqlValue


def _refusal(typename: str, value: object, wanted: type) -> Exception:
    """Why a number cannot be packed: OverflowError if it is one, TypeError if it is not."""
    if isinstance(value, wanted):
        return OverflowError(f"{typename} cannot hold {value!r}")
    article = "an integer" if wanted is Integral else "a number"
    return TypeError(f"{typename} takes {article}, not {type(value).__name__}")


#: Exact: nothing is rounded, whatever the application's context says.
_EXACT = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
#: Bytes of a number that are converted at once; that takes the square of them.
_AT_ONCE = 256


def _long_decimal(unscaled: int, scale: int) -> Decimal:
    """A decimal with more digits than Python writes as text.

    Pieces of the number are converted, then joined in pairs, by multiplications that take little
    more than linear time.
    """
    size = abs(unscaled).bit_length() // 8 + 1
    data = abs(unscaled).to_bytes(size, "little")
    pieces = [
        Decimal(int.from_bytes(data[start : start + _AT_ONCE], "little"))
        for start in range(0, size, _AT_ONCE)
    ]
    base = Decimal(1 << 8 * _AT_ONCE)
    while len(pieces) > 1:
        highs = [*pieces[1::2], Decimal(0)]
        pieces = [
            _EXACT.fma(high, base, low) for low, high in zip(pieces[::2], highs, strict=False)
        ]
        if len(pieces) > 1:
            base = _EXACT.multiply(base, base)
    value = _EXACT.scaleb(pieces[0], -scale)
    return value.copy_negate() if unscaled < 0 else value


class _FixedWidth(CQLType):
    """A number with a fixed number of bytes, described by class attributes alone."""

    width: ClassVar[int]
    python_type: ClassVar[type] = Integral  # NumPy's are, and no subclasses of int
    _pack: ClassVar[staticmethod[[Any], bytes]]
    _unpack: ClassVar[staticmethod[[bytes], Any]]

    @classmethod
    def serialize(cls, value: CqlValue, protocol_version: int) -> bytes:
        try:
            return cls._pack(value)
        except (struct.error, OverflowError):
            raise _refusal(cls.typename, value, cls.python_type) from None

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> CqlValue:
        try:
            return cls._unpack(data)
        except struct.error:
            raise wrong_size(cls.typename, str(cls.width), len(data)) from None


class _FixedInVector(_FixedWidth):
    """A fixed-width number that Cassandra packs without lengths inside a vector."""

    @classmethod
    def serial_size(cls) -> int | None:
        return cls.width


class ByteType(_FixedWidth):
    """tinyint: 8 bits, signed."""

    typename = "tinyint"
    option_code = 0x0014
    arrow = "c"
    dtype = ">i1"
    width = 1
    _pack = staticmethod(marshal.int8_pack)
    _unpack = staticmethod(marshal.int8_unpack)


class ShortType(_FixedWidth):
    """smallint: 16 bits, signed."""

    typename = "smallint"
    option_code = 0x0013
    arrow = "s"
    dtype = ">i2"
    width = 2
    _pack = staticmethod(marshal.int16_pack)
    _unpack = staticmethod(marshal.int16_unpack)


class Int32Type(_FixedInVector):
    """int: 32 bits, signed."""

    typename = "int"
    option_code = 0x0009
    arrow = "i"
    dtype = ">i4"
    width = 4
    _pack = staticmethod(marshal.int32_pack)
    _unpack = staticmethod(marshal.int32_unpack)


class LongType(_FixedInVector):
    """bigint: 64 bits, signed."""

    typename = "bigint"
    option_code = 0x0002
    arrow = "l"
    dtype = ">i8"
    width = 8
    _pack = staticmethod(marshal.int64_pack)
    _unpack = staticmethod(marshal.int64_unpack)


class CounterColumnType(LongType):
    """counter: a bigint that only changes by increments."""

    typename = "counter"
    option_code = 0x0005


class FloatType(_FixedInVector):
    """float: IEEE 754, 32 bits."""

    typename = "float"
    option_code = 0x0008
    arrow = "f"
    dtype = ">f4"
    width = 4
    python_type = Real
    _pack = staticmethod(marshal.float_pack)
    _unpack = staticmethod(marshal.float_unpack)


class DoubleType(_FixedInVector):
    """double: IEEE 754, 64 bits."""

    typename = "double"
    option_code = 0x0007
    arrow = "g"
    dtype = ">f8"
    width = 8
    python_type = Real
    _pack = staticmethod(marshal.double_pack)
    _unpack = staticmethod(marshal.double_unpack)


class BooleanType(CQLType):
    """boolean: one byte; any but zero is true. Takes bools and numbers, NumPy's included."""

    typename = "boolean"
    option_code = 0x0004
    arrow = "b"

    @classmethod
    def serialize(cls, value: object, protocol_version: int) -> bytes:
        # Not the truth of anything: None would be false, and UNSET and "false" true.
        if value is None or not hasattr(value, "__bool__"):
            raise TypeError(f"boolean takes a bool, not {type(value).__name__}")
        return b"\x01" if value else b"\x00"

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> bool:
        if len(data) != 1:
            raise wrong_size(cls.typename, "1", len(data))
        return data != b"\x00"

    @classmethod
    def serial_size(cls) -> int | None:
        return 1


class IntegerType(CQLType):
    """varint: an integer of any size."""

    typename = "varint"
    option_code = 0x000E
    arrow = "u"

    @classmethod
    def serialize(cls, value: int, protocol_version: int) -> bytes:
        try:
            return marshal.varint_pack(value)
        except TypeError:
            raise _refusal(cls.typename, value, Integral) from None

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> int:
        return marshal.varint_unpack(data)


class DecimalType(CQLType):
    """decimal: a 32-bit scale, then the unscaled number as a varint. Takes what Decimal takes."""

    typename = "decimal"
    option_code = 0x0006
    arrow = "u"

    @classmethod
    def serialize(cls, value: Decimal | float | str, protocol_version: int) -> bytes:
        try:
            sign, digits, exponent = Decimal(value).as_tuple()
        except (TypeError, ValueError, ArithmeticError):
            raise TypeError(f"decimal takes a number, not {value!r}") from None
        if not isinstance(exponent, int):
            raise ValueError(f"decimal cannot hold {value!r}")  # noqa: TRY004  (NaN and infinity)
        # Not through text, where Python limits the digits of an int.
        unscaled = int(Decimal((0, digits, 0)))
        try:
            scale = marshal.int32_pack(-exponent)
        except struct.error:
            raise OverflowError(f"decimal has a scale of 32 bits, not {-exponent}") from None
        return scale + marshal.varint_pack(-unscaled if sign else unscaled)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> Decimal:
        if len(data) < 4:
            raise truncated(cls.typename, 4, len(data))
        scale = marshal.int32_unpack(data[:4])
        unscaled = marshal.varint_unpack(data[4:])
        if len(data) <= 256:
            return Decimal(f"{unscaled}E{-scale}")
        return _long_decimal(unscaled, scale)
