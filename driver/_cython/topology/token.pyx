"""Compiled form of topology/token.py: Murmur3 over the key's own buffer, nothing allocated."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint64_t

__all__ = ["murmur3"]

cdef uint64_t C1 = 0x87C37B91114253D5ULL
cdef uint64_t C2 = 0x4CF5AD432745937FULL


cdef inline uint64_t rotate_left(uint64_t x, int bits) noexcept nogil:
    return (x << bits) | (x >> (64 - bits))


cdef inline uint64_t final_mix(uint64_t h) noexcept nogil:
    h ^= h >> 33
    h *= 0xFF51AFD7ED558CCDULL
    h ^= h >> 33
    h *= 0xC4CEB9FE1A85EC53ULL
    return h ^ (h >> 33)


cdef inline uint64_t word_at(const unsigned char* p) noexcept nogil:
    # Byte by byte so that alignment and byte order do not matter; compilers make it one load.
    return (
        <uint64_t>p[0]
        | (<uint64_t>p[1] << 8)
        | (<uint64_t>p[2] << 16)
        | (<uint64_t>p[3] << 24)
        | (<uint64_t>p[4] << 32)
        | (<uint64_t>p[5] << 40)
        | (<uint64_t>p[6] << 48)
        | (<uint64_t>p[7] << 56)
    )


cdef inline uint64_t signed_tail(const unsigned char* p, Py_ssize_t size) noexcept nogil:
    # Each byte is sign-extended, as in the pure module: a sign turns over all bits above.
    cdef uint64_t word = 0
    cdef uint64_t signs
    cdef Py_ssize_t i
    if size == 8:
        word = word_at(p)
    else:
        for i in range(size):
            word |= <uint64_t>p[i] << (8 * i)
    signs = word >> 7 & 0x0101010101010101ULL
    if signs:
        signs ^= signs << 8
        signs ^= signs << 16
        signs ^= signs << 32
        word ^= (signs << 8) * 0xFF
    return word


cdef int64_t hash_of(const unsigned char* p, Py_ssize_t length) noexcept nogil:
    cdef uint64_t h1 = 0, h2 = 0, k1, k2
    cdef Py_ssize_t left = length
    while left >= 16:
        k1 = word_at(p)
        k2 = word_at(p + 8)
        h1 ^= rotate_left(k1 * C1, 31) * C2
        h1 = (rotate_left(h1, 27) + h2) * 5 + 0x52DCE729
        h2 ^= rotate_left(k2 * C2, 33) * C1
        h2 = (rotate_left(h2, 31) + h1) * 5 + 0x38495AB5
        p += 16
        left -= 16

    if left > 8:
        h2 ^= rotate_left(signed_tail(p + 8, left - 8) * C2, 33) * C1
    if left > 0:
        h1 ^= rotate_left(signed_tail(p, left if left < 8 else 8) * C1, 31) * C2

    h1 ^= <uint64_t>length
    h2 ^= <uint64_t>length
    h1 += h2
    h2 += h1
    h1 = final_mix(h1)
    h2 = final_mix(h2)
    return <int64_t>(h1 + h2)


def murmur3(key):
    """The first 64 bits of MurmurHash3 x64 128 of a key, in Cassandra's signed variant."""
    cdef bytes data
    if PyBytes_CheckExact(key):
        data = <bytes>key
    else:
        data = bytes(memoryview(key))
    return hash_of_key(data)


cdef int64_t hash_of_key(bytes key) noexcept:
    """The same of bytes, as a C integer."""
    return hash_of(<const unsigned char*>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key))
