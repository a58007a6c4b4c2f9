"""``cassandra.marshal``: steps of variable-length integers, little-endian numbers, headers."""

from __future__ import annotations

import struct
from typing import IO

from ...wire.frame import FRAME_HEADER

v3_header_pack = FRAME_HEADER.pack
v3_header_unpack = FRAME_HEADER.unpack
#: The header of protocols v1 and v2, which this driver does not speak.
header_pack = struct.Struct(">BBbB").pack
header_unpack = struct.Struct(">BBbB").unpack


def bit_length(n: int) -> int:
    """Bits of a number's magnitude."""
    return n.bit_length()


def encode_zig_zag(n: int) -> int:
    """Fold the sign of a 64-bit number into its lowest bit."""
    return (n << 1) ^ (n >> 63)


def decode_zig_zag(n: int) -> int:
    """Undo ``encode_zig_zag``."""
    return (n >> 1) ^ -(n & 1)


def uint32_le_pack(value: int) -> bytes:
    """Four bytes, little-endian.

    Raises:
        OverflowError: the number does not fit.
    """
    return value.to_bytes(4, "little")


def uint32_le_unpack(data: bytes) -> int:
    """A little-endian number of four bytes.

    Raises:
        ValueError: there are more or fewer.
    """
    if len(data) != 4:
        raise ValueError(f"uint32_le has 4 bytes, got {len(data)}")
    return int.from_bytes(data, "little")


def read_uint_le(f: IO[bytes], size: int = 4) -> int:
    """Read a little-endian number."""
    return int.from_bytes(f.read(size), "little")


def write_uint_le(f: IO[bytes], i: int, size: int = 4) -> None:
    """Write a little-endian number."""
    f.write(i.to_bytes(size, "little"))
