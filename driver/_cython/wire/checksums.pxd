"""Checksums of segments by tables, for whoever reads or writes them without the interpreter's lock.

Section 2.2 of native protocol v5: CRC-24 of a header, CRC-32 of a payload behind four fixed bytes.
Each module that uses them calls ``make_checksums`` once.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    static uint32_t driver_crc24_start, driver_crc24_of_byte[256];
    /* Of a byte with so many zero bytes behind it; reflected, as in zlib. */
    static uint32_t driver_crc32_start, driver_crc32_of_byte[8][256];

    static void driver_make_checksums(uint32_t start24, uint32_t polynomial, uint32_t start32) {
        driver_crc24_start = start24;
        driver_crc32_start = ~start32;
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t long_one = byte << 16, reflected = byte;
            for (int bit = 0; bit < 8; bit++) {
                long_one <<= 1;
                if (long_one & 0x1000000) long_one ^= polynomial;
                reflected = reflected >> 1 ^ (reflected & 1 ? 0xEDB88320u : 0);
            }
            driver_crc24_of_byte[byte] = long_one;
            driver_crc32_of_byte[0][byte] = reflected;
        }
        for (int zeros = 1; zeros < 8; zeros++)
            for (int byte = 0; byte < 256; byte++) {
                uint32_t before = driver_crc32_of_byte[zeros - 1][byte];
                driver_crc32_of_byte[zeros][byte] =
                    before >> 8 ^ driver_crc32_of_byte[0][before & 0xFF];
            }
    }
    static inline uint64_t driver_little_endian(const uint8_t *data, Py_ssize_t size) {
        uint64_t number = 0;
        for (Py_ssize_t i = 0; i < size; i++) number |= (uint64_t)data[i] << 8 * i;
        return number;
    }
    static inline uint32_t driver_crc24(const uint8_t *data, Py_ssize_t size) {
        uint32_t crc = driver_crc24_start;
        for (Py_ssize_t i = 0; i < size; i++)
            crc = (crc << 8 & 0xFFFFFF) ^ driver_crc24_of_byte[crc >> 16 ^ data[i]];
        return crc;
    }
    static inline uint32_t driver_crc32(const uint8_t *data, Py_ssize_t size) {
        uint32_t crc = driver_crc32_start;
        for (; size >= 8; data += 8, size -= 8) {
            uint32_t low = crc ^ (uint32_t)driver_little_endian(data, 4);
            crc = driver_crc32_of_byte[7][low & 0xFF] ^ driver_crc32_of_byte[6][low >> 8 & 0xFF]
                ^ driver_crc32_of_byte[5][low >> 16 & 0xFF] ^ driver_crc32_of_byte[4][low >> 24]
                ^ driver_crc32_of_byte[3][data[4]] ^ driver_crc32_of_byte[2][data[5]]
                ^ driver_crc32_of_byte[1][data[6]] ^ driver_crc32_of_byte[0][data[7]];
        }
        for (; size; data++, size--)
            crc = crc >> 8 ^ driver_crc32_of_byte[0][(crc ^ data[0]) & 0xFF];
        return ~crc;
    }
    """
    #: What both begin with, and the polynomial of the first one.
    void make_checksums "driver_make_checksums"(
        uint32_t start24, uint32_t polynomial, uint32_t start32
    )
    #: A little-endian number.
    uint64_t little_endian "driver_little_endian"(const uint8_t *data, Py_ssize_t size) nogil
    uint32_t crc24 "driver_crc24"(const uint8_t *data, Py_ssize_t size) nogil
    #: By tables: zlib's function, which is faster for long ones, is called from Python.
    uint32_t crc32_of_payload "driver_crc32"(const uint8_t *data, Py_ssize_t size) nogil
