"""Numbers <-> bytes: the fixed-width integers and floats, varints and vints of the protocol.

``<kind>_pack(value) -> bytes`` and ``<kind>_unpack(data) -> value``, big-endian. The fixed-width
ones raise ``struct.error`` for a value of the wrong type or range and for data of the wrong
length; the types turn that into the exceptions that they promise.
"""

from __future__ import annotations

from operator import index
from struct import Struct
from typing import TYPE_CHECKING

from ..implementation import hand_over
from ..protocol.errors import MarshalException

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


def _pair(form: str) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """The pack and unpack functions of one fixed-width number."""
    layout = Struct(">" + form)
    unpack = layout.unpack
    return layout.pack, lambda data: unpack(data)[0]


int8_pack, int8_unpack = _pair("b")
int16_pack, int16_unpack = _pair("h")
int32_pack, int32_unpack = _pair("i")
int64_pack, int64_unpack = _pair("q")
uint8_pack, uint8_unpack = _pair("B")
uint16_pack, uint16_unpack = _pair("H")
uint32_pack, uint32_unpack = _pair("I")
uint64_pack, uint64_unpack = _pair("Q")
float_pack, float_unpack = _pair("f")
double_pack, double_unpack = _pair("d")


def varint_pack(value: int) -> bytes:
    """The shortest two's complement of an integer, at least one byte (section 6.17).

    Raises:
        TypeError: the value is no integer.
    """
    value = index(value)
    magnitude = value if value >= 0 else ~value
    return value.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def varint_unpack(data: bytes) -> int:
    """The integer of a two's complement of any length; 0 of no bytes."""
    return int.from_bytes(data, "big", signed=True)


def uvint_pack(value: int) -> bytes:
    """An unsigned vint: the first byte has as many leading ones as bytes follow it (section 3).

    Raises:
        OverflowError: the value has more than 64 bits, or is negative.
        TypeError: the value is no integer.
    """
    value = index(value)
    if not 0 <= value < 1 << 64:
        raise OverflowError(f"an unsigned vint has 64 bits, {value} does not fit")
    # Each byte of length costs one bit of the first byte: 7 bits a byte, until 8 bytes follow.
    extra = min(max(value.bit_length() - 1, 0) // 7, 8)
    leading_ones = (0xFF00 >> extra & 0xFF) << 8 * extra
    return (leading_ones | value).to_bytes(extra + 1, "big")


def uvint_unpack(data: bytes) -> tuple[int, int]:
    """The unsigned vint that data begins with.

    Returns:
        The value and how many bytes it took.

    Raises:
        MarshalException: the data ends inside of the vint.
    """
    if not data:
        raise MarshalException("a vint needs 1 byte, 0 are left")
    first = data[0]
    extra = 8 - (first ^ 0xFF).bit_length()
    if len(data) <= extra:
        raise MarshalException(f"a vint needs {extra + 1} bytes, {len(data)} are left")
    value = int.from_bytes(data[1 : extra + 1], "big")
    return value | (first & 0x7F >> extra) << 8 * extra, extra + 1


def vints_pack(values: Iterable[int]) -> bytes:
    """Signed vints, one after the other: zigzag, then unsigned (section 3, [vint]).

    Raises:
        OverflowError: a value has more than 64 bits.
        TypeError: a value is no integer.
    """
    packed = []
    for value in map(index, values):
        if not -1 << 63 <= value < 1 << 63:
            raise OverflowError(f"a vint has 64 bits, {value} does not fit")
        packed.append(uvint_pack(value << 1 if value >= 0 else ~value << 1 | 1))
    return b"".join(packed)


def vints_unpack(data: bytes) -> tuple[int, ...]:
    """All signed vints of the data.

    Raises:
        MarshalException: the data ends inside of a vint.
    """
    values = []
    while data:
        zigzag, size = uvint_unpack(data)
        values.append(zigzag >> 1 ^ -(zigzag & 1))
        data = data[size:]
    return tuple(values)


hand_over(globals())
