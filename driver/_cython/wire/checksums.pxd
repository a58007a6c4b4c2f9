"""Checksums of segments, for whoever reads or writes them, without the interpreter's lock, too.

Section 2.2 of native protocol v5: CRC-24 of a header, CRC-32 of a payload behind four fixed bytes.
Each module that uses them calls ``make_checksums`` once.

zlib's CRC-32 takes most of a nanosecond a byte, which is a tenth of what a page of rows takes.
Where the processor multiplies without carries, 16 bytes are folded into the next 16 by two such
products: V. Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction,
Intel, 2009. What is left, and all of it on other processors, is looked up, 8 bytes at a time.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__) && defined(__x86_64__)
    #define DRIVER_FOLDS
    #include <immintrin.h>
    /* x to the power of n modulo the polynomial, for n of two distances: 64 and 16 bytes. */
    static uint64_t driver_folds[2][2];
    static int driver_can_fold;
    #endif
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
    #ifdef DRIVER_FOLDS
        for (int which = 0; which < 4; which++) {
            uint32_t power = 0x80000000u;
            for (int bits = (which < 2 ? 512 : 128) + (which % 2 ? -32 : 32); bits; bits--)
                power = power >> 1 ^ (power & 1 ? 0xEDB88320u : 0);
            driver_folds[which / 2][which % 2] = (uint64_t)power << 1;
        }
        driver_can_fold = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
    #endif
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
    static inline uint32_t driver_crc32_looked_up(
        uint32_t crc, const uint8_t *data, Py_ssize_t size
    ) {
        for (; size >= 8; data += 8, size -= 8) {
            uint32_t low = crc ^ (uint32_t)driver_little_endian(data, 4);
            crc = driver_crc32_of_byte[7][low & 0xFF] ^ driver_crc32_of_byte[6][low >> 8 & 0xFF]
                ^ driver_crc32_of_byte[5][low >> 16 & 0xFF] ^ driver_crc32_of_byte[4][low >> 24]
                ^ driver_crc32_of_byte[3][data[4]] ^ driver_crc32_of_byte[2][data[5]]
                ^ driver_crc32_of_byte[1][data[6]] ^ driver_crc32_of_byte[0][data[7]];
        }
        for (; size; data++, size--)
            crc = crc >> 8 ^ driver_crc32_of_byte[0][(crc ^ data[0]) & 0xFF];
        return crc;
    }
    #ifdef DRIVER_FOLDS
    #define DRIVER_FOLD(folded, by, data) _mm_xor_si128( \
        _mm_xor_si128( \
            _mm_clmulepi64_si128(folded, by, 0x00), _mm_clmulepi64_si128(folded, by, 0x11)), \
        _mm_loadu_si128((const __m128i *)(data)))
    /* Of 16 bytes or more. */
    __attribute__((target("pclmul,sse4.1")))
    static uint32_t driver_crc32_folded(uint32_t crc, const uint8_t *data, Py_ssize_t size) {
        __m128i far = _mm_loadu_si128((const __m128i *)driver_folds[0]);
        __m128i near = _mm_loadu_si128((const __m128i *)driver_folds[1]);
        __m128i folded = _mm_xor_si128(
            _mm_loadu_si128((const __m128i *)data), _mm_cvtsi32_si128((int)crc));
        uint8_t last[16];
        if (size >= 128) {
            /* Four at a time, since a product takes some cycles. */
            __m128i second = _mm_loadu_si128((const __m128i *)(data + 16));
            __m128i third = _mm_loadu_si128((const __m128i *)(data + 32));
            __m128i fourth = _mm_loadu_si128((const __m128i *)(data + 48));
            for (data += 64, size -= 64; size >= 64; data += 64, size -= 64) {
                folded = DRIVER_FOLD(folded, far, data);
                second = DRIVER_FOLD(second, far, data + 16);
                third = DRIVER_FOLD(third, far, data + 32);
                fourth = DRIVER_FOLD(fourth, far, data + 48);
            }
            folded = DRIVER_FOLD(folded, near, &second);
            folded = DRIVER_FOLD(folded, near, &third);
            folded = DRIVER_FOLD(folded, near, &fourth);
        } else
            data += 16, size -= 16;
        for (; size >= 16; data += 16, size -= 16) folded = DRIVER_FOLD(folded, near, data);
        _mm_storeu_si128((__m128i *)last, folded);
        return driver_crc32_looked_up(driver_crc32_looked_up(0, last, 16), data, size);
    }
    #endif
    static inline uint32_t driver_crc32(const uint8_t *data, Py_ssize_t size) {
    #ifdef DRIVER_FOLDS
        if (driver_can_fold && size >= 32)
            return ~driver_crc32_folded(driver_crc32_start, data, size);
    #endif
        return ~driver_crc32_looked_up(driver_crc32_start, data, size);
    }
    """
    #: What both begin with, and the polynomial of the first one.
    void make_checksums "driver_make_checksums"(
        uint32_t start24, uint32_t polynomial, uint32_t start32
    )
    #: A little-endian number.
    uint64_t little_endian "driver_little_endian"(const uint8_t *data, Py_ssize_t size) nogil
    uint32_t crc24 "driver_crc24"(const uint8_t *data, Py_ssize_t size) nogil
    uint32_t crc32_of_payload "driver_crc32"(const uint8_t *data, Py_ssize_t size) nogil
