"""The checksums of v5 segments: CRC24 over headers, CRC32 over payloads.

Source: native protocol v5, section 2, and Cassandra's ``org.apache.cassandra.net.Crc``.
"""

from __future__ import annotations

import zlib

CRC24_INIT = 0x875060
CRC24_POLY = 0x1974F0B
CRC24_LENGTH = 3

#: Four bytes that are fed to CRC32 before each payload.
CRC32_PREFIX = b"\xfa\x2d\x55\xca"
CRC32_LENGTH = 4
_CRC32_INIT = zlib.crc32(CRC32_PREFIX)


def _crc24_of_byte(byte: int) -> int:
    """Eight steps of the shift register, for the table."""
    crc = byte << 16
    for _ in range(8):
        crc <<= 1
        if crc & 0x1000000:
            crc ^= CRC24_POLY
    return crc


_CRC24_TABLE = tuple(_crc24_of_byte(byte) for byte in range(256))


def compute_crc24(data: bytes) -> int:
    """The CRC24 of a segment's header, as its bytes are on the wire."""
    crc = CRC24_INIT
    for byte in data:
        crc = ((crc << 8) & 0xFFFFFF) ^ _CRC24_TABLE[(crc >> 16) ^ byte]
    return crc


def compute_crc32(payload: bytes) -> int:
    """The CRC32 of a segment's payload as it is on the wire, compressed if it is compressed."""
    return zlib.crc32(payload, _CRC32_INIT)
