"""The compiled form of types/marshal.py: what struct does not do in C already.

The ``*_pack`` functions of fixed-width numbers are methods of ``struct.Struct``, compiled as they
are, and stay.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint64_t

from driver._cython.types.marshal cimport (
    read_double,
    read_float,
    read_int16,
    read_int32,
    read_int64,
    read_short_varint,
    read_uint16,
    read_uint32,
    read_uint64,
    read_uvint,
)

from operator import index
from struct import Struct

from ...protocol.errors import MarshalException

__all__ = [
    "double_unpack",
    "float_unpack",
    "int16_unpack",
    "int32_unpack",
    "int64_unpack",
    "int8_unpack",
    "uint16_unpack",
    "uint32_unpack",
    "uint64_unpack",
    "uint8_unpack",
    "uvint_pack",
    "uvint_unpack",
    "varint_pack",
    "varint_unpack",
    "vints_pack",
    "vints_unpack",
]

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int *overflow) except? -1

# For other buffers than bytes, and for the errors.
cdef dict _struct_unpack = {form: Struct(">" + form).unpack for form in "bhiqBHIQfd"}


cdef inline const unsigned char *_exactly(object data, Py_ssize_t size) noexcept:
    """The buffer of bytes of that size; NULL of anything else."""
    if type(data) is bytes and len(<bytes>data) == size:
        return <const unsigned char *><bytes>data
    return NULL


def int8_unpack(data):
    cdef const unsigned char *p = _exactly(data, 1)
    return <signed char>p[0] if p is not NULL else _struct_unpack["b"](data)[0]


def int16_unpack(data):
    cdef const unsigned char *p = _exactly(data, 2)
    return read_int16(p) if p is not NULL else _struct_unpack["h"](data)[0]


def int32_unpack(data):
    cdef const unsigned char *p = _exactly(data, 4)
    return read_int32(p) if p is not NULL else _struct_unpack["i"](data)[0]


def int64_unpack(data):
    cdef const unsigned char *p = _exactly(data, 8)
    return read_int64(p) if p is not NULL else _struct_unpack["q"](data)[0]


def uint8_unpack(data):
    cdef const unsigned char *p = _exactly(data, 1)
    return p[0] if p is not NULL else _struct_unpack["B"](data)[0]


def uint16_unpack(data):
    cdef const unsigned char *p = _exactly(data, 2)
    return read_uint16(p) if p is not NULL else _struct_unpack["H"](data)[0]


def uint32_unpack(data):
    cdef const unsigned char *p = _exactly(data, 4)
    return read_uint32(p) if p is not NULL else _struct_unpack["I"](data)[0]


def uint64_unpack(data):
    cdef const unsigned char *p = _exactly(data, 8)
    return read_uint64(p) if p is not NULL else _struct_unpack["Q"](data)[0]


def float_unpack(data):
    cdef const unsigned char *p = _exactly(data, 4)
    return <double>read_float(p) if p is not NULL else _struct_unpack["f"](data)[0]


def double_unpack(data):
    cdef const unsigned char *p = _exactly(data, 8)
    return read_double(p) if p is not NULL else _struct_unpack["d"](data)[0]


cdef inline bytes _big_endian(uint64_t value, Py_ssize_t size):
    """The last ``size`` bytes of a number."""
    cdef bytes packed = PyBytes_FromStringAndSize(NULL, size)
    cdef unsigned char *p = <unsigned char *><char *>packed
    cdef Py_ssize_t i
    for i in range(size - 1, -1, -1):
        p[i] = value & 0xFF
        value >>= 8
    return packed


cdef inline int _bit_length(uint64_t value) noexcept nogil:
    cdef int bits = 0
    while value:
        bits += 1
        value >>= 1
    return bits


def varint_pack(value):
    """The shortest two's complement of an integer, at least one byte (section 6.17).

    Raises:
        TypeError: the value is no integer.
    """
    cdef int overflow = 0
    cdef int64_t small
    value = index(value)
    small = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow == 0:
        return _big_endian(<uint64_t>small, _bit_length(small if small >= 0 else ~small) // 8 + 1)
    magnitude = value if value >= 0 else ~value
    return value.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def varint_unpack(data):
    """The integer of a two's complement of any length; 0 of no bytes."""
    if type(data) is bytes and len(<bytes>data) <= 8:
        return read_short_varint(<const unsigned char *><bytes>data, len(<bytes>data))
    return int.from_bytes(data, "big", signed=True)


cdef bytes _pack_uvint(uint64_t value):
    # Each byte of length costs one bit of the first byte: 7 bits a byte, until 8 bytes follow.
    cdef int bits = _bit_length(value)
    cdef int extra = min((bits - 1) // 7 if bits else 0, 8)
    cdef bytes packed
    if extra == 8:
        return b"\xff" + _big_endian(value, 8)
    packed = _big_endian(value, extra + 1)
    (<unsigned char *><char *>packed)[0] |= <unsigned char>(0xFF00 >> extra)
    return packed


def uvint_pack(value):
    """An unsigned vint: the first byte has as many leading ones as bytes follow it (section 3).

    Raises:
        OverflowError: the value has more than 64 bits, or is negative.
        TypeError: the value is no integer.
    """
    value = index(value)
    if not 0 <= value < 1 << 64:
        raise OverflowError(f"an unsigned vint has 64 bits, {value} does not fit")
    return _pack_uvint(value)


cdef object _unfinished(const unsigned char *p, Py_ssize_t left):
    """The error of a vint that the data ends in."""
    cdef int needed = 1
    if left == 0:
        return MarshalException("a vint needs 1 byte, 0 are left")
    while p[0] & (0x80 >> (needed - 1)):
        needed += 1
    return MarshalException(f"a vint needs {needed} bytes, {left} are left")


def uvint_unpack(data):
    """The unsigned vint that data begins with.

    Returns:
        The value and how many bytes it took.

    Raises:
        MarshalException: the data ends inside of the vint.
    """
    cdef bytes buffer = data if type(data) is bytes else memoryview(data).tobytes()
    cdef const unsigned char *p = buffer
    cdef uint64_t value = 0
    cdef Py_ssize_t taken = read_uvint(p, len(buffer), &value)
    if taken == 0:
        raise _unfinished(p, len(buffer))
    return value, taken


def vints_pack(values):
    """Signed vints, one after the other: zigzag, then unsigned (section 3, [vint]).

    Raises:
        OverflowError: a value has more than 64 bits.
        TypeError: a value is no integer.
    """
    cdef int64_t number
    cdef list packed = []
    for item in values:
        value = index(item)
        if not -1 << 63 <= value < 1 << 63:
            raise OverflowError(f"a vint has 64 bits, {value} does not fit")
        number = value
        packed.append(_pack_uvint((<uint64_t>number << 1) ^ <uint64_t>(number >> 63)))
    return b"".join(packed)


def vints_unpack(data):
    """All signed vints of the data.

    Raises:
        MarshalException: the data ends inside of a vint.
    """
    cdef bytes buffer = data if type(data) is bytes else memoryview(data).tobytes()
    cdef const unsigned char *p = buffer
    cdef Py_ssize_t left = len(buffer)
    cdef Py_ssize_t taken
    cdef uint64_t zigzag = 0
    cdef list values = []
    while left:
        taken = read_uvint(p, left, &zigzag)
        if taken == 0:
            raise _unfinished(p, left)
        values.append(<int64_t>((zigzag >> 1) ^ (<uint64_t>0 - (zigzag & 1))))
        p += taken
        left -= taken
    return tuple(values)
