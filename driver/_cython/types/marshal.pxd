"""Big-endian numbers in a buffer, read and written, for all compiled modules; unchecked bounds."""

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    /* Big-endian bits in a buffer. Of shifts GCC 12 makes ten instructions more in some places. */
    #if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    #define driver_big_endian_32(bits) __builtin_bswap32(bits)
    #define driver_big_endian_64(bits) __builtin_bswap64(bits)
    #elif defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define driver_big_endian_32(bits) (bits)
    #define driver_big_endian_64(bits) (bits)
    #endif
    static inline void driver_write_32(unsigned char *target, uint32_t bits)
    {
    #ifdef driver_big_endian_32
        bits = driver_big_endian_32(bits);
        memcpy(target, &bits, 4);
    #else
        target[0] = (unsigned char)(bits >> 24);
        target[1] = (unsigned char)(bits >> 16);
        target[2] = (unsigned char)(bits >> 8);
        target[3] = (unsigned char)bits;
    #endif
    }
    static inline void driver_write_64(unsigned char *target, uint64_t bits)
    {
    #ifdef driver_big_endian_64
        bits = driver_big_endian_64(bits);
        memcpy(target, &bits, 8);
    #else
        driver_write_32(target, (uint32_t)(bits >> 32));
        driver_write_32(target + 4, (uint32_t)bits);
    #endif
    }

    /* A number of so many digits, none of which is set. What the interpreter's own function asks
       beside (whether there can be so many digits, whether references are traced) is a fifth of
       what a small number costs. */
    #if PY_VERSION_HEX < 0x030C0000 && !defined(Py_REF_DEBUG) && !defined(Py_TRACE_REFS)
    static inline PyLongObject *driver_new_number(Py_ssize_t count, int is_negative)
    {
        PyLongObject *number = (PyLongObject *)PyObject_Malloc(
            offsetof(PyLongObject, ob_digit) + count * sizeof(digit));
        if (number == NULL)
            return (PyLongObject *)PyErr_NoMemory();
        Py_SET_REFCNT(number, 1);
        Py_SET_TYPE(number, &PyLong_Type);
        Py_SET_SIZE(number, is_negative ? -count : count);
        return number;
    }
    #elif PY_VERSION_HEX < 0x030E0000
    static inline PyLongObject *driver_new_number(Py_ssize_t count, int is_negative)
    {
        PyLongObject *number = _PyLong_New(count);
    #if PY_VERSION_HEX < 0x030C0000
        if (number != NULL && is_negative)
            Py_SET_SIZE(number, -count);
    #endif
        return number;
    }
    #endif

    /* A number of 16 unsigned big-endian bytes. Where numbers are made of digits of 30 bits, five
       shifts fill them; the interpreter's own function takes each byte by itself, and seven times
       as many instructions. Short numbers are left to it: it shares the smallest. */
    static inline PyObject *driver_number_of_16(const unsigned char *bytes)
    {
    #if PyLong_SHIFT == 30 && PY_VERSION_HEX < 0x030E0000
        uint64_t high = 0, low = 0;
        int i;
        for (i = 0; i < 8; i++) {
            high = high << 8 | bytes[i];
            low = low << 8 | bytes[i + 8];
        }
        if (high >> 26) {
            Py_ssize_t count = high >> 56 ? 5 : 4;
            PyLongObject *number = driver_new_number(count, 0);
            digit *digits;
            if (number == NULL)
                return NULL;
    #if PY_VERSION_HEX >= 0x030C0000
            digits = number->long_value.ob_digit;
    #else
            digits = number->ob_digit;
    #endif
            digits[0] = (digit)(low & PyLong_MASK);
            digits[1] = (digit)(low >> 30 & PyLong_MASK);
            digits[2] = (digit)((low >> 60 | high << 4) & PyLong_MASK);
            digits[3] = (digit)(high >> 26 & PyLong_MASK);
            if (count == 5)
                digits[4] = (digit)(high >> 56);
            return (PyObject *)number;
        }
    #endif
    #if PY_VERSION_HEX >= 0x030D0000
        return PyLong_FromUnsignedNativeBytes(
            bytes, 16, Py_ASNATIVEBYTES_BIG_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER);
    #else
        return _PyLong_FromByteArray(bytes, 16, 0, 0);
    #endif
    }

    /* A number of 64 bits, signed. Of digits of 30 bits there are three at most, of a number of
       32 bits two; the interpreter's own function counts them in loops. */
    static inline PyObject *driver_number_of_64(int64_t value)
    {
    #if PyLong_SHIFT == 30 && PY_VERSION_HEX < 0x030C0000
        uint64_t size = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
        if (size > 256) {
            Py_ssize_t count = size >> 30 ? size >> 60 ? 3 : 2 : 1;
            PyLongObject *number = driver_new_number(count, value < 0);
            if (number == NULL)
                return NULL;
            number->ob_digit[0] = (digit)(size & PyLong_MASK);
            if (count > 1)
                number->ob_digit[1] = (digit)(size >> 30 & PyLong_MASK);
            if (count > 2)
                number->ob_digit[2] = (digit)(size >> 60);
            return (PyObject *)number;
        }
    #endif
        return PyLong_FromLongLong(value);
    }
    """
    object number_of_16 "driver_number_of_16"(const unsigned char *bytes)
    # Owned by whoever calls.
    PyObject *new_number_of_64 "driver_number_of_64"(int64_t value) except NULL
    void write_uint32 "driver_write_32"(unsigned char *target, uint32_t bits) noexcept nogil
    void write_uint64 "driver_write_64"(unsigned char *target, uint64_t bits) noexcept nogil


# Reading is spelled as shifts, which compilers turn into one load and one byte swap everywhere.
cdef inline uint16_t read_uint16(const unsigned char *p) noexcept nogil:
    return <uint16_t>((p[0] << 8) | p[1])


cdef inline uint32_t read_uint32(const unsigned char *p) noexcept nogil:
    return (
        (<uint32_t>p[0] << 24) | (<uint32_t>p[1] << 16) | (<uint32_t>p[2] << 8) | <uint32_t>p[3]
    )


cdef inline uint64_t read_uint64(const unsigned char *p) noexcept nogil:
    return (<uint64_t>read_uint32(p) << 32) | read_uint32(p + 4)


cdef inline int16_t read_int16(const unsigned char *p) noexcept nogil:
    return <int16_t>read_uint16(p)


cdef inline int32_t read_int32(const unsigned char *p) noexcept nogil:
    return <int32_t>read_uint32(p)


cdef inline int64_t read_int64(const unsigned char *p) noexcept nogil:
    return <int64_t>read_uint64(p)


cdef inline float read_float(const unsigned char *p) noexcept nogil:
    cdef uint32_t bits = read_uint32(p)
    cdef float value
    memcpy(&value, &bits, 4)
    return value


cdef inline double read_double(const unsigned char *p) noexcept nogil:
    cdef uint64_t bits = read_uint64(p)
    cdef double value
    memcpy(&value, &bits, 8)
    return value


cdef inline void write_uint16(unsigned char *p, uint16_t bits) noexcept nogil:
    p[0] = bits >> 8
    p[1] = bits


cdef inline void write_int32(unsigned char *p, int32_t value) noexcept nogil:
    write_uint32(p, <uint32_t>value)


cdef inline void write_float(unsigned char *p, float value) noexcept nogil:
    cdef uint32_t bits
    memcpy(&bits, &value, 4)
    write_uint32(p, bits)


cdef inline void write_double(unsigned char *p, double value) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &value, 8)
    write_uint64(p, bits)


cdef inline int64_t read_short_varint(const unsigned char *p, Py_ssize_t size) noexcept nogil:
    """A two's complement of 0 to 8 bytes."""
    cdef uint64_t value = 0
    cdef Py_ssize_t i
    if size and p[0] & 0x80:
        value = <uint64_t>-1
    for i in range(size):
        value = (value << 8) | p[i]
    return <int64_t>value


cdef inline Py_ssize_t read_uvint(
    const unsigned char *p, Py_ssize_t left, uint64_t *value
) noexcept nogil:
    """An unsigned vint into ``value``; how many bytes it took, or 0 if it does not end."""
    cdef unsigned char first
    cdef unsigned char mask = 0x80
    cdef int extra = 0
    cdef int i
    if left < 1:
        return 0
    first = p[0]
    while mask and first & mask:
        extra += 1
        mask >>= 1
    if left <= extra:
        return 0
    # What the leading ones and their end leave of the first byte: nothing, if seven bytes follow.
    value[0] = first & (0x7F >> extra)
    for i in range(1, extra + 1):
        value[0] = (value[0] << 8) | p[i]
    return extra + 1
