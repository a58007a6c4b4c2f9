"""The compiled form of types/serializers.py.

A class of its own encodes what it is sure of; any other value goes to the type's own
``serialize``, so that what is taken, the exception and its message are those of the pure
implementation by construction.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_ND,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize
from cpython.datetime cimport (
    PyDateTime_CheckExact,
    datetime_day,
    datetime_hour,
    datetime_microsecond,
    datetime_minute,
    datetime_month,
    datetime_second,
    datetime_tzinfo,
    datetime_year,
    get_utc,
    import_datetime,
)
from cpython.list cimport (
    PyList_Append,
    PyList_CheckExact,
    PyList_GET_ITEM,
    PyList_GET_SIZE,
)
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.sequence cimport (
    PySequence_Fast,
    PySequence_Fast_GET_ITEM,
    PySequence_Fast_GET_SIZE,
    PySequence_Fast_ITEMS,
)
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_AsASCIIString, PyUnicode_AsUTF8String, PyUnicode_CheckExact
from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t

from driver._cython.slots cimport FREE_THREADED
from driver._cython.types.calendar cimport days_to
from driver._cython.types.marshal cimport (
    write_double,
    write_float,
    write_int32,
    write_uint64,
)

from uuid import UUID

from ...types.identity import TimeUUIDType, UUIDType
from ...types.numeric import (
    BooleanType,
    ByteType,
    CounterColumnType,
    DoubleType,
    FloatType,
    Int32Type,
    LongType,
    ShortType,
)
from ...types.temporal import DateType, TimestampType
from ...types.text import AsciiType, BytesType, UTF8Type, VarcharType
from ...types.vector import VectorType
from ...types.wrapper import unwrapped
from ...protocol.unset import UNSET_VALUE

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    static inline Py_ssize_t width_of(char format) {
        return format == 'd' || format == 'q' ? 8 : format == 'h' ? 2 : format == 'b' ? 1 : 4;
    }

    /* So that a format that is known when this is compiled leaves nothing of the others. */
    #if defined(__GNUC__)
    #define ALWAYS_INLINE inline __attribute__((always_inline))
    #else
    #define ALWAYS_INLINE inline
    #endif

    /* Write a number, big-endian, in a format of Python's struct; whether that was done. It is for
       floats and ints of exactly the builtin types: to read them runs no code of anybody else.
       What is out of range is left to the type, as are ints beyond 64 bits, and a NaN of 32
       bits: which of them a conversion keeps is for struct to say. */
    static ALWAYS_INLINE int write_number(char format, PyObject *value, unsigned char *target) {
        uint64_t bits;
        if (format == 'f' || format == 'd') {
            double number;
            if (PyFloat_CheckExact(value))
                number = PyFloat_AS_DOUBLE(value);
            else if (!PyLong_CheckExact(value))
                return 0;
            else {
                /* Not PyLong_AsDouble: its exception may be made at once, and with it run code that
                   takes the value away from whoever has it. */
                int overflow;
                number = (double)PyLong_AsLongLongAndOverflow(value, &overflow);
                if (overflow)
                    return 0;
            }
            if (format == 'd')
                memcpy(&bits, &number, 8);
            else {
                float narrow = (float)number;
                uint32_t narrow_bits;
                memcpy(&narrow_bits, &narrow, 4);
                /* All bits of the exponent: infinite, or no number. */
                if ((narrow_bits & 0x7F800000) == 0x7F800000 && !isinf(number))
                    return 0;
                bits = narrow_bits;
            }
        }
        else {
            int overflow;
            long long number;
            if (!PyLong_CheckExact(value))
                return 0;
            number = PyLong_AsLongLongAndOverflow(value, &overflow);
            if (overflow || number >> (8 * width_of(format) - 1) != number >> 63)
                return 0;
            bits = (uint64_t)number;
        }
        switch (width_of(format)) {
        case 8:
            driver_write_64(target, bits);
            break;
        case 4:
            driver_write_32(target, (uint32_t)bits);
            break;
        case 2:
            *target++ = (unsigned char)(bits >> 8); /* fall through */
        default:
            *target = (unsigned char)bits;
        }
        return 1;
    }

    /* The same of several; whether all were written. */
    static ALWAYS_INLINE int write_numbers(
        char format, PyObject **items, Py_ssize_t count, unsigned char *target
    ) {
        Py_ssize_t i;
        for (i = 0; i < count; i++)
            if (!write_number(format, items[i], target + i * width_of(format)))
                return 0;
        return 1;
    }

    /* Floats that are float objects and stay finite as floats; the index of the first other one.
       Without a way to go on after that, a float takes 13 instructions and not 16. */
    static Py_ssize_t write_usual_floats(
        PyObject **items, Py_ssize_t count, unsigned char *target
    ) {
        Py_ssize_t i;
    #if defined(__GNUC__)
    #pragma GCC unroll 4
    #endif
        for (i = 0; i < count; i++) {
            float number;
            uint32_t bits;
            if (!PyFloat_CheckExact(items[i])) return i;
            number = (float)PyFloat_AS_DOUBLE(items[i]);
            memcpy(&bits, &number, 4);
            if ((bits & 0x7F800000) == 0x7F800000) return i;
            driver_write_32(target + 4 * i, bits);
        }
        return count;
    }

    /* Out of line, where it costs a vector without such floats nothing. */
    static int write_other_floats(PyObject **items, Py_ssize_t count, unsigned char *target) {
        return write_numbers('f', items, count, target);
    }

    static ALWAYS_INLINE PyObject *new_number(char format, PyObject *value) {
        PyObject *data;
        if (width_of(format) == 1) {
            unsigned char byte;
            /* The interpreter shares bytes objects of one byte. */
            return write_number(format, value, &byte)
                ? PyBytes_FromStringAndSize((char *)&byte, 1) : NULL;
        }
        data = PyBytes_FromStringAndSize(NULL, width_of(format));
        if (data != NULL && !write_number(format, value, (unsigned char *)PyBytes_AS_STRING(data)))
            Py_CLEAR(data);
        return data;
    }

    /* A number as bytes; NULL where the type must decide, or with an exception. Each format has
       code of its own: a number takes 30 instructions, and would take 100 in one for all. */
    static ALWAYS_INLINE PyObject *number_bytes(char format, PyObject *value) {
        switch (format) {
        case 'd': return new_number('d', value);
        case 'f': return new_number('f', value);
        case 'i': return new_number('i', value);
        case 'q': return new_number('q', value);
        case 'h': return new_number('h', value);
        default: return new_number('b', value);
        }
    }
    """
    bint write_number(char format, PyObject *value, unsigned char *target) noexcept
    bint write_numbers(
        char format, PyObject **items, Py_ssize_t count, unsigned char *target
    ) noexcept
    Py_ssize_t write_usual_floats(
        PyObject **items, Py_ssize_t count, unsigned char *target
    ) noexcept
    bint write_other_floats(
        PyObject **items, Py_ssize_t count, unsigned char *target
    ) noexcept
    PyObject *number_bytes(char format, PyObject *value) except? NULL

cdef extern from "Python.h":
    void Py_SET_SIZE(object sequence, Py_ssize_t size)
    void PyList_SET_ITEM(object sequence, Py_ssize_t i, PyObject *value)

__all__ = ["Serializer", "ValuesSerializer", "find_serializer", "make_serializers"]

import_datetime()
cdef object _UTC = get_utc()

# Names looked up once: module globals would be dictionary look-ups for each value.
cdef object _UUID = UUID
cdef object _UNSET = UNSET_VALUE
cdef bytes _TRUE = b"\x01"
cdef bytes _FALSE = b"\x00"


cdef class Serializer:
    """Encodes the values of one CQL type, by the type's own method.

    Attributes:
        cqltype: the type; of a frozen or reversed type the one inside.
        serialize: ``serialize(value, protocol_version) -> bytes``; see the pure module.
    """

    def __init__(self, cqltype):
        """Take the type."""
        self.cqltype = cqltype
        self.serialize = cqltype.serialize

    cpdef object encode(self, object value, int protocol_version):
        """As ``serialize``."""
        return self.serialize(value, protocol_version)


cdef class _Exact(Serializer):
    """Base of the classes that know their type's encoding."""

    def __init__(self, cqltype):
        self.cqltype = cqltype
        self.serialize = self.encode

    cpdef object encode(self, object value, int protocol_version):
        """The bytes of a value."""
        raise NotImplementedError


cdef class _Number(_Exact):
    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.format = _FORMATS[cqltype]

    cpdef object encode(self, object value, int protocol_version):
        cdef PyObject *data = number_bytes(self.format, <PyObject *>value)
        cdef object encoded
        if data == NULL:
            return self.cqltype.serialize(value, protocol_version)
        encoded = <object>data
        Py_DECREF(encoded)  # counted once by each of the two names
        return encoded


cdef class _Boolean(_Exact):
    cpdef object encode(self, object value, int protocol_version):
        if value is True:
            return _TRUE
        if value is False:
            return _FALSE
        return self.cqltype.serialize(value, protocol_version)


cdef class _Utf8(_Exact):
    cpdef object encode(self, object value, int protocol_version):
        if not PyUnicode_CheckExact(value):
            return self.cqltype.serialize(value, protocol_version)
        return PyUnicode_AsUTF8String(value)


cdef class _Ascii(_Exact):
    cpdef object encode(self, object value, int protocol_version):
        if not PyUnicode_CheckExact(value):
            return self.cqltype.serialize(value, protocol_version)
        return PyUnicode_AsASCIIString(value)


cdef class _Blob(_Exact):
    cpdef object encode(self, object value, int protocol_version):
        if not PyBytes_CheckExact(value):
            return self.cqltype.serialize(value, protocol_version)
        return value


cdef class _Uuid(_Exact):
    cpdef object encode(self, object value, int protocol_version):
        if type(value) is not _UUID:
            return self.cqltype.serialize(value, protocol_version)
        return value.int.to_bytes(16, "big")  # as UUID.bytes does, by way of a property


cdef class _Timestamp(_Exact):
    cpdef object encode(self, object value, int protocol_version):
        cdef object data = PyBytes_FromStringAndSize(NULL, 8)
        cdef unsigned char *target = <unsigned char *>PyBytes_AS_STRING(data)
        if PyDateTime_CheckExact(value) and is_in_utc(value):
            write_uint64(target, _milliseconds(value))
        elif not write_number(c"q", <PyObject *>value, target):
            return self.cqltype.serialize(value, protocol_version)
        return data


cdef inline bint is_in_utc(object moment):
    """Whether a datetime's fields are those of UTC; a naive one is taken as that."""
    cdef object zone = datetime_tzinfo(moment)
    return zone is None or zone is _UTC


cdef inline int64_t _milliseconds(object moment):
    """Of a datetime in UTC since the epoch; a fraction is dropped towards the epoch."""
    cdef int64_t seconds = (
        days_to(datetime_year(moment), datetime_month(moment), datetime_day(moment)) * 86_400
        + datetime_hour(moment) * 3_600
        + datetime_minute(moment) * 60
        + datetime_second(moment)
    )
    cdef int microseconds = datetime_microsecond(moment)
    # Before the epoch, towards it is up.
    return seconds * 1_000 + (
        microseconds // 1_000 if seconds >= 0 else (microseconds + 999) // 1_000
    )


cdef class _Vector(_Exact):
    """A vector of numbers, written into one bytes object of the right size.

    Lists and tuples of builtin numbers are read element by element, arrays of the same machine
    type (NumPy's, ``array.array``) from their buffer. For anything else the type does it all again
    from the start; until then nothing ran that could have changed the value.
    """

    cdef Py_ssize_t count
    cdef Py_ssize_t width
    cdef char format

    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.count = cqltype.vector_size
        self.width, self.format = _ELEMENTS[cqltype.subtype][1:]

    cpdef object encode(self, object value, int protocol_version):
        cdef bytes data = PyBytes_FromStringAndSize(NULL, self.count * self.width)
        cdef unsigned char *target = <unsigned char *>PyBytes_AS_STRING(data)
        cdef bint filled = False
        if PyList_CheckExact(value) or PyTuple_CheckExact(value):
            if FREE_THREADED:
                # Where no other thread changes the list meanwhile.
                with cython.critical_section(value):
                    if PySequence_Fast_GET_SIZE(value) == self.count:
                        filled = self.from_items(value, target)
            elif PySequence_Fast_GET_SIZE(value) == self.count:
                filled = self.from_items(value, target)
        elif PyObject_CheckBuffer(value):
            filled = self.from_buffer(value, target)
        if not filled:
            return self.cqltype.serialize(value, protocol_version)
        return data

    cdef bint from_buffer(self, object value, unsigned char *target) except -1:
        """Fill the target from an array; false if it is not one of this vector's numbers."""
        cdef Py_buffer view
        try:
            PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_ND | PyBUF_C_CONTIGUOUS)
        except (BufferError, ValueError):  # not contiguous, or already released
            return False
        try:
            if view.ndim != 1 or view.shape[0] != self.count or view.format == NULL:
                return False
            if view.format[0] != self.format or view.format[1] != 0:
                return False
            return self.from_numbers(view.buf, target)
        finally:
            PyBuffer_Release(&view)

    cdef bint from_items(self, object items, unsigned char *target) except -1:
        """Fill the target from a list or tuple; false if an element is not of the builtin type."""
        raise NotImplementedError

    cdef bint from_numbers(self, const void *numbers, unsigned char *target) except -1:
        """Fill the target from numbers in the machine's order; false if the type must decide."""
        raise NotImplementedError


cdef class _FloatVector(_Vector):
    cdef bint from_items(self, object items, unsigned char *target) except -1:
        cdef PyObject **numbers = PySequence_Fast_ITEMS(items)
        cdef Py_ssize_t i = write_usual_floats(numbers, self.count, target)
        return i == self.count or write_other_floats(numbers + i, self.count - i, target + 4 * i)

    cdef bint from_numbers(self, const void *numbers, unsigned char *target) except -1:
        cdef const float *source = <const float *>numbers
        cdef Py_ssize_t i
        for i in range(self.count):
            if isnan(source[i]):
                return False
            write_float(target + 4 * i, source[i])
        return True


cdef class _DoubleVector(_Vector):
    cdef bint from_items(self, object items, unsigned char *target) except -1:
        return write_numbers(c"d", PySequence_Fast_ITEMS(items), self.count, target)

    cdef bint from_numbers(self, const void *numbers, unsigned char *target) except -1:
        cdef const double *source = <const double *>numbers
        cdef Py_ssize_t i
        for i in range(self.count):
            write_double(target + 8 * i, source[i])
        return True


cdef class _IntVector(_Vector):
    cdef bint from_items(self, object items, unsigned char *target) except -1:
        return write_numbers(c"i", PySequence_Fast_ITEMS(items), self.count, target)

    cdef bint from_numbers(self, const void *numbers, unsigned char *target) except -1:
        cdef const int32_t *source = <const int32_t *>numbers
        cdef Py_ssize_t i
        for i in range(self.count):
            write_int32(target + 4 * i, source[i])
        return True


#: Numbers, and their format in Python's struct.
cdef dict _FORMATS = {
    ByteType: ord("b"),
    ShortType: ord("h"),
    Int32Type: ord("i"),
    LongType: ord("q"),
    CounterColumnType: ord("q"),
    FloatType: ord("f"),
    DoubleType: ord("d"),
}

cdef dict _CLASSES = {
    BooleanType: _Boolean,
    AsciiType: _Ascii,
    UTF8Type: _Utf8,
    VarcharType: _Utf8,
    BytesType: _Blob,
    UUIDType: _Uuid,
    TimeUUIDType: _Uuid,
    TimestampType: _Timestamp,
    DateType: _Timestamp,
    **dict.fromkeys(_FORMATS, _Number),
}

#: Element type -> class for vectors of it, bytes an element, format of arrays of it.
cdef dict _ELEMENTS = {
    FloatType: (_FloatVector, 4, ord("f")),
    DoubleType: (_DoubleVector, 8, ord("d")),
    Int32Type: (_IntVector, 4, ord("i")),
}

cdef dict _found = {}


cdef object _class_for(object cqltype):
    """The class for a type; Serializer for all that have none, and for types of applications."""
    # Only vectors as this package makes them: a subclass may encode in its own way.
    if cqltype.__dict__.get("generic", cqltype) is VectorType and cqltype.subtypes:
        return _ELEMENTS.get(cqltype.subtype, (Serializer,))[0]
    return _CLASSES.get(cqltype, Serializer)


def find_serializer(cqltype):
    """The serializer of a type; the same one for the same type."""
    found = _found.get(cqltype)
    if found is None:
        inner = unwrapped(cqltype)
        found = _found.setdefault(cqltype, _class_for(inner)(inner))
    return found


def make_serializers(cqltypes):
    """The serializer of each type, in order."""
    return [find_serializer(cqltype) for cqltype in cqltypes]


cdef class ValuesSerializer:
    """Encodes the values of one statement, in the order of its bind markers."""

    def __init__(self, cqltypes):
        """Choose a serializer for each bind marker."""
        self.serializers = make_serializers(cqltypes)

    def append(self, list values not None, given, int protocol_version):
        """Append the bytes of values up to one that is unset; see the pure module."""
        cdef object items = PySequence_Fast(given, b"values are a list or a tuple")
        cdef Py_ssize_t i = PyList_GET_SIZE(values)
        cdef object value
        # Asked each time: a type of an application may change the list.
        while i < PySequence_Fast_GET_SIZE(items) and i < PyList_GET_SIZE(self.serializers):
            value = <object>PySequence_Fast_GET_ITEM(items, i)
            if value is _UNSET:
                return
            PyList_Append(values, self.encoded(i, value, protocol_version))
            i += 1

    cdef int fill(self, list values, object given, int protocol_version) except -1:
        """The same into an empty list that has room for all of them, and the given list or tuple.

        A list that need not grow costs 40 instructions a value less. Its size is always that of
        what is in it, also where an exception ends this.
        """
        cdef Py_ssize_t i = 0
        cdef object value, encoded
        cdef PyObject *item
        cdef PyObject *data
        cdef char format
        while i < PySequence_Fast_GET_SIZE(given) and i < PyList_GET_SIZE(self.serializers):
            item = PySequence_Fast_GET_ITEM(given, i)
            if item == <PyObject *>_UNSET:
                return 0
            format = (<Serializer>PyList_GET_ITEM(self.serializers, i)).format
            # Numbers without a call, and without counting references: no code of anybody else runs.
            data = number_bytes(format, item) if format and item != <PyObject *>None else NULL
            if data == NULL:
                value = <object>item
                encoded = self.encoded(i, value, protocol_version)
                Py_INCREF(encoded)
                data = <PyObject *>encoded
            PyList_SET_ITEM(values, i, data)
            i += 1
            Py_SET_SIZE(values, i)
        return 0

    cdef object encoded(self, Py_ssize_t i, object value, int protocol_version):
        """The bytes of a value for a bind marker; None is null."""
        if value is None:
            return None
        return (<Serializer>PyList_GET_ITEM(self.serializers, i)).encode(value, protocol_version)
