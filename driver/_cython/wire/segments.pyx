"""Compiled form of driver/wire/segments.py: checksums and headers of segments without objects.

What is as it should be is done here; what is not goes to the pure functions, which say what is
wrong with it.
"""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from driver._cython.slots cimport has_method, is_instance, slot_offset, taken
from driver._cython.wire.checksums cimport (
    crc24,
    crc32_of_payload,
    little_endian,
    make_checksums,
)
from driver._cython.wire.compression cimport compress_into, new_bytes, room_for, shortened

from ...wire import segments as pure
from ...wire.compression import segment_compress

__all__ = ["plain_segment", "read_segment"]

cdef object SegmentCodec = pure.SegmentCodec
cdef object segment_plainly = pure.plain_segment
cdef object read_plainly = pure.read_segment
cdef object encode_plainly = pure.SegmentCodec.encode
cdef Py_ssize_t COMPRESSOR = slot_offset(SegmentCodec, b"_compressor")
cdef Py_ssize_t MOST = pure.MAX_PAYLOAD_LENGTH
cdef object _LZ4 = segment_compress
make_checksums(pure.CRC24_INIT, pure.CRC24_POLY, pure.CRC32_INITIAL)


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
    _write(target + 3, crc24(target, 3), 3)
    memcpy(target + 6, PyBytes_AS_STRING(frames), size)
    _write(target + 6 + size, crc32_of_payload(target + 6, size), 4)
    return segment


cdef object lz4_segment(bytes frames):
    """Whole frames as a segment of the compressed format, compressed where they belong."""
    cdef Py_ssize_t size = PyBytes_GET_SIZE(frames)
    cdef PyObject *segment = new_bytes(NULL, size + 12)
    cdef uint8_t *target = <uint8_t *>PyBytes_AS_STRING(<object>segment)
    cdef uint64_t uncompressed = 0
    cdef Py_ssize_t packed = 0
    # What does not shrink travels as it is, and says so with a length of 0.
    if size > 1:
        packed = compress_into(PyBytes_AS_STRING(frames), size, <char *>target + 8, size - 1)
    if packed:
        uncompressed = size
    else:
        packed = size
        memcpy(target + 8, PyBytes_AS_STRING(frames), size)
    _write(target, <uint64_t>packed | uncompressed << 17 | <uint64_t>1 << 34, 5)
    _write(target + 5, crc24(target, 5), 3)
    made = shortened(segment, packed + 12)
    target = <uint8_t *>PyBytes_AS_STRING(made)
    _write(target + 8 + packed, crc32_of_payload(target + 8, packed), 4)
    return made


def read_segment(data, Py_ssize_t position, Py_ssize_t header_length):
    """The segment that begins at a position; see driver/wire/segments.py."""
    cdef unsigned long long bits = 0
    cdef Py_ssize_t after = 0
    cdef const char *payload
    if PyBytes_CheckExact(data):
        payload = payload_at(data, position, header_length, 0, &bits, &after)
        if payload != NULL:
            return PyBytes_FromStringAndSize(payload, bits & 0x1FFFF), bits, after
        if after:
            return None, 0, after
    return read_plainly(data, position, header_length)


cdef const char *payload_at(
    bytes data, Py_ssize_t position, Py_ssize_t header_length, uint64_t flag,
    unsigned long long *bits, Py_ssize_t *after
) noexcept:
    """Where a segment's payload is, the bits of its header, its end.

    Its length is the first 17 bits. Where it is not all there: NULL, and how many bytes are needed
    from the position on; where a checksum is another, or the header lacks a flag, NULL and 0: a
    payload that is read in another way then is not checked here as well.
    """
    cdef const uint8_t *segment
    cdef Py_ssize_t start = header_length + 3
    cdef Py_ssize_t left, size
    after[0] = 0
    segment = <const uint8_t *>PyBytes_AS_STRING(data) + position
    left = PyBytes_GET_SIZE(data) - position
    if left < start:
        after[0] = start
        return NULL
    if little_endian(segment + header_length, 3) != crc24(segment, header_length):
        return NULL
    bits[0] = little_endian(segment, header_length)
    if bits[0] & flag != flag:
        return NULL
    size = bits[0] & 0x1FFFF
    if left < start + size + 4:
        after[0] = start + size + 4
        return NULL
    if crc32_of_payload(segment + start, size) != little_endian(segment + start + size, 4):
        return NULL
    after[0] = position + start + size + 4
    return <const char *>segment + start


def encode(self, frame):
    """Frames as segments; see driver/wire/segments.py."""
    return encoded(self, frame)


cdef object encoded(object self, object frame):
    if not is_instance(self, <PyObject *>SegmentCodec):
        raise TypeError(f"a SegmentCodec is needed, not a {type(self).__name__}")
    compressor = taken(<PyObject *>self, COMPRESSOR)
    if compressor is None and len(frame) <= MOST:
        return plain_segment(frame)
    if compressor is _LZ4 and PyBytes_CheckExact(frame) and room_for(PyBytes_GET_SIZE(frame)):
        if PyBytes_GET_SIZE(frame) <= MOST:
            return lz4_segment(frame)
    return encode_plainly(self, frame)


cdef object encoded_by(object codec, object frame):
    """What a codec makes of a frame, which may be any codec."""
    return encoded(codec, frame) if has_method(codec, "encode", _encode) else codec.encode(frame)


METHODS = {"SegmentCodec.encode": encode}
cdef object _encode = encode
