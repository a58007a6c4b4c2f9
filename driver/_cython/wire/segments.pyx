"""Compiled form of driver/wire/segments.py: checksums and headers of segments without objects.

What is as it should be is done here; what is not goes to the pure functions, which say what is
wrong with it.
"""

import zlib

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ...wire.crc import CRC24_INIT, CRC24_POLY, CRC32_PREFIX
from ...wire.segments import plain_segment as segment_plainly
from ...wire.segments import read_segment as read_plainly

__all__ = ["plain_segment", "read_segment"]

cdef object crc32 = zlib.crc32
cdef object CRC32_OF_PREFIX = zlib.crc32(CRC32_PREFIX)
cdef uint32_t INIT = CRC24_INIT
cdef uint32_t POLY = CRC24_POLY
cdef uint32_t[256] CRC24_OF_BYTE

cdef int _byte, _bit
cdef uint32_t _crc
for _byte in range(256):
    _crc = _byte << 16
    for _bit in range(8):
        _crc <<= 1
        if _crc & 0x1000000:
            _crc ^= POLY
    CRC24_OF_BYTE[_byte] = _crc


cdef inline uint32_t _crc24(const uint8_t *data, Py_ssize_t size) noexcept nogil:
    cdef uint32_t crc = INIT
    cdef Py_ssize_t i
    for i in range(size):
        crc = ((crc << 8) & 0xFFFFFF) ^ CRC24_OF_BYTE[(crc >> 16) ^ data[i]]
    return crc


cdef inline uint64_t _read(const uint8_t *data, Py_ssize_t size) noexcept nogil:
    """A little-endian number."""
    cdef uint64_t number = 0
    cdef Py_ssize_t i
    for i in range(size):
        number |= <uint64_t>data[i] << (8 * i)
    return number


cdef inline void _write(uint8_t *target, uint64_t number, Py_ssize_t size) noexcept nogil:
    """A number as little-endian bytes."""
    cdef Py_ssize_t i
    for i in range(size):
        target[i] = number >> (8 * i) & 0xFF


def plain_segment(frames):
    """Whole frames as a segment of the uncompressed format; see driver/wire/segments.py."""
    cdef object segment
    cdef uint8_t *target
    cdef Py_ssize_t size
    if not PyBytes_CheckExact(frames):
        return segment_plainly(frames)
    size = PyBytes_GET_SIZE(frames)
    segment = PyBytes_FromStringAndSize(NULL, size + 10)
    target = <uint8_t *>PyBytes_AS_STRING(segment)
    _write(target, <uint64_t>size | 1 << 17, 3)
    _write(target + 3, _crc24(target, 3), 3)
    memcpy(target + 6, PyBytes_AS_STRING(frames), size)
    _write(target + 6 + size, <uint32_t>crc32(frames, CRC32_OF_PREFIX), 4)
    return segment


def read_segment(data, Py_ssize_t position, Py_ssize_t header_length):
    """The segment that begins at a position; see driver/wire/segments.py."""
    cdef const uint8_t *segment
    cdef Py_ssize_t start = header_length + 3
    cdef Py_ssize_t left, size
    cdef uint64_t bits
    cdef object payload
    if not PyBytes_CheckExact(data):
        return read_plainly(data, position, header_length)
    segment = <const uint8_t *>PyBytes_AS_STRING(data) + position
    left = PyBytes_GET_SIZE(data) - position
    if left < start:
        return None, 0, start
    if _read(segment + header_length, 3) != _crc24(segment, header_length):
        return read_plainly(data, position, header_length)
    bits = _read(segment, header_length)
    size = bits & 0x1FFFF
    if left < start + size + 4:
        return None, 0, start + size + 4
    payload = PyBytes_FromStringAndSize(<const char *>segment + start, size)
    if <uint32_t>crc32(payload, CRC32_OF_PREFIX) != _read(segment + start + size, 4):
        return read_plainly(data, position, header_length)
    return payload, bits, position + start + size + 4
