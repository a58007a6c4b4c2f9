"""The compiled form of types/deserializers.py: one class a type, no bytes objects in between.

Every class reads well-formed values. Anything else, a wrong size or a length that lies, goes to
the type's own ``deserialize`` with a copy of the bytes, so that the exception and its message are
those of the pure implementation by construction.

The families of types are parts of one file, told by their headings, because the table at the end
needs all of these classes and none is of use elsewhere: in files of their own each family would be
a module with declarations for the others, and values of values would be calls between them.
"""

from cpython.datetime cimport datetime_new, import_datetime
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeASCII
from libc.stdint cimport int64_t, uint64_t

from driver._cython.slots cimport new_object, set_slot, slot_offset
from driver._cython.types.calendar cimport FIRST_DAY, LAST_DAY, MS_A_DAY, Day, day_of
from driver._cython.types.framing cimport Cursor, take_count, take_part
from driver._cython.types.marshal cimport (
    number_of_16,
    read_double,
    read_float,
    read_int16,
    read_int32,
    read_int64,
    read_short_varint,
    read_uint32,
    read_uvint,
)
from driver._cython.types.text cimport text_of

import socket
import sys
from decimal import Decimal
from uuid import UUID, SafeUUID

from ...types import collection, identity, numeric, record, temporal, text, vector
from ...types.base import EMPTY
from ...types.custom import _UnrecognizedType
from ...types.wrapper import unwrapped
from ...values.date import Date
from ...values.duration import Duration
from ...values.ordered_map import OrderedMapSerializedKey
from ...values.sorted_set import SortedSet
from ...values.time import Time

__all__ = ["Deserializer", "find_deserializer", "make_deserializers"]

cdef extern from "Python.h":
    object PyUnicode_FromFormat(const char *format, ...)
    void PyObject_GC_UnTrack(PyObject *instance) noexcept

import_datetime()

# Names looked up once: module globals would be dictionary look-ups for each value.
cdef object _new = object.__new__
cdef object _new_tuple = tuple.__new__
cdef object _UUID = UUID
cdef Py_ssize_t _UUID_INT = slot_offset(UUID, b"int")
cdef Py_ssize_t _UUID_IS_SAFE = slot_offset(UUID, b"is_safe")
cdef object _unknown_safety = SafeUUID.unknown
cdef object _Decimal = Decimal
cdef object _Date = Date
cdef object _Time = Time
cdef object _Duration = Duration
cdef object _SortedSet = SortedSet
cdef object _map_from_items = OrderedMapSerializedKey.from_items
cdef object _inet_ntop = socket.inet_ntop
cdef object _AF_INET6 = socket.AF_INET6

cdef int64_t _NANOSECONDS_A_DAY = Time.DAY


cdef class Deserializer:
    """Decodes the values of one CQL type, by the type's own methods.

    Attributes:
        cqltype: the type; of a frozen or reversed type the one inside.
    """

    def __init__(self, cqltype):
        """Take the type."""
        self.cqltype = cqltype
        # The type's own from_binary, which a subclass may have changed, says what is empty.
        self.empty_binary_ok = True

    def deserialize_bytes(self, bytes data, int protocol_version):
        """The value of bytes; None for null (None), and for zero bytes that are no value.

        Raises:
            MarshalException: the bytes are no value of the type.
            UnicodeDecodeError: the bytes are no text.
            OverflowError: a timestamp that ``datetime`` cannot hold.
        """
        if data is None:
            return None
        return from_binary(self, data, len(data), protocol_version)

    cdef object deserialize(
        self, const unsigned char *ptr, Py_ssize_t size, int protocol_version
    ):
        return self.cqltype.from_binary(<bytes>ptr[:size], protocol_version)


cdef object empty_value(Deserializer deserializer):
    """What zero bytes are that are no value."""
    return EMPTY if deserializer.cqltype.support_empty_values else None


cdef class _Exact(Deserializer):
    """Base of the classes that know their type's encoding."""

    def __init__(self, cqltype):
        self.cqltype = cqltype
        self.empty_binary_ok = cqltype.empty_binary_ok

    cdef object slow(self, const unsigned char *ptr, Py_ssize_t size, int protocol_version):
        """By the type itself: for malformed bytes, which it refuses, and for rare values."""
        return self.cqltype.deserialize(<bytes>ptr[:size], protocol_version)


# --- numbers -----------------------------------------------------------------------------------


cdef class _Tinyint(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 1:
            return self.slow(ptr, size, pv)
        return <signed char>ptr[0]


cdef class _Smallint(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 2:
            return self.slow(ptr, size, pv)
        return read_int16(ptr)


cdef class _Int(_Exact):
    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.step = INT

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 4:
            return self.slow(ptr, size, pv)
        return read_int32(ptr)


cdef class _Bigint(_Exact):
    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.step = BIGINT

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 8:
            return self.slow(ptr, size, pv)
        return read_int64(ptr)


cdef class _Float(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 4:
            return self.slow(ptr, size, pv)
        return <double>read_float(ptr)


cdef class _Double(_Exact):
    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.step = DOUBLE

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 8:
            return self.slow(ptr, size, pv)
        return read_double(ptr)


cdef class _Boolean(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 1:
            return self.slow(ptr, size, pv)
        return ptr[0] != 0


cdef class _Varint(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size > 8:
            return self.slow(ptr, size, pv)
        return read_short_varint(ptr, size)


cdef class _Decimal_(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size < 4 or size > 12:
            return self.slow(ptr, size, pv)
        return _Decimal(
            PyUnicode_FromFormat(
                b"%lldE%lld",
                <long long>read_short_varint(ptr + 4, size - 4),
                -<long long>read_int32(ptr),
            )
        )


# --- text, bytes, identifiers ------------------------------------------------------------------


cdef class _Utf8(_Exact):
    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.step = TEXT

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        return text_of(<const char *>ptr, size)


cdef class _Ascii(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        return PyUnicode_DecodeASCII(<const char *>ptr, size, NULL)


cdef class _Blob(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        return <bytes>ptr[:size]


cdef class _Uuid(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 16:
            return self.slow(ptr, size, pv)
        # UUID() spends its time on choosing between its six arguments, and UUIDs refuse setattr.
        uuid = new_object(_UUID)
        set_slot(uuid, _UUID_INT, number_of_16(ptr))
        set_slot(uuid, _UUID_IS_SAFE, _unknown_safety)
        PyObject_GC_UnTrack(<PyObject *>uuid)  # no cycle can be made of it
        return uuid


cdef class _Inet(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size == 4:
            return PyUnicode_FromFormat(
                b"%d.%d.%d.%d", <int>ptr[0], <int>ptr[1], <int>ptr[2], <int>ptr[3]
            )
        if size == 16:
            return _inet_ntop(_AF_INET6, <bytes>ptr[:16])
        return self.slow(ptr, size, pv)


# --- times -------------------------------------------------------------------------------------


# The day of the timestamp before: those of a page are near each other. In one word, which threads
# cannot see half written: days since FIRST_DAY from bit 32 on, then year, month (4), day (5 bits).
# One for each thread where they run beside each other.
cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    static _Thread_local uint64_t driver_last_day = 0;
    #else
    static uint64_t driver_last_day = 0;
    #endif
    """
    uint64_t _last_day "driver_last_day"


cdef inline uint64_t _packed_day(uint64_t number) noexcept:
    """A day of the calendar, by how many days it is after the first one, as ``_last_day``."""
    global _last_day
    cdef uint64_t known = _last_day
    cdef uint64_t year, month
    cdef Day day
    if known >> 32 != number or known == 0:
        day = day_of(<int64_t>number + FIRST_DAY)
        year, month = day.year, day.month
        known = number << 32 | year << 9 | month << 5 | <uint64_t>day.day
        _last_day = known
    return known


cdef class _Timestamp(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        cdef uint64_t since, number, known
        cdef unsigned int ms
        if size != 8:
            return self.slow(ptr, size, pv)
        # From the first day on, so that no number is negative: unsigned division by a constant is
        # a multiplication, and Python's of signed ones four times as long.
        since = <uint64_t>read_int64(ptr) - <uint64_t>FIRST_DAY * MS_A_DAY
        number = since // MS_A_DAY
        if number > LAST_DAY - FIRST_DAY:
            return self.slow(ptr, size, pv)
        ms = <unsigned int>(since - number * MS_A_DAY)
        known = _packed_day(number)
        return datetime_new(
            known >> 9 & 0x3FFF,
            known >> 5 & 0xF,
            known & 0x1F,
            ms // 3_600_000,
            ms // 60_000 % 60,
            ms // 1_000 % 60,
            ms % 1_000 * 1_000,
            None,
        )


cdef class _DateOfDay(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        if size != 4:
            return self.slow(ptr, size, pv)
        date = _new(_Date)
        date.days_from_epoch = <int64_t>read_uint32(ptr) - (<int64_t>1 << 31)
        return date


cdef class _TimeOfDay(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        cdef int64_t nanoseconds
        if size != 8:
            return self.slow(ptr, size, pv)
        nanoseconds = read_int64(ptr)
        if not 0 <= nanoseconds < _NANOSECONDS_A_DAY:
            return self.slow(ptr, size, pv)
        time = _new(_Time)
        time.nanosecond_time = nanoseconds
        return time


cdef class _Duration_(_Exact):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        cdef uint64_t zigzag[3]
        cdef Py_ssize_t offset = 0
        cdef Py_ssize_t taken
        cdef int i
        for i in range(3):
            taken = read_uvint(ptr + offset, size - offset, &zigzag[i])
            if taken == 0:
                return self.slow(ptr, size, pv)
            offset += taken
        if offset != size:
            return self.slow(ptr, size, pv)
        duration = _new(_Duration)
        duration.months = _unzigzag(zigzag[0])
        duration.days = _unzigzag(zigzag[1])
        duration.nanoseconds = _unzigzag(zigzag[2])
        return duration


cdef inline int64_t _unzigzag(uint64_t value) noexcept:
    return <int64_t>((value >> 1) ^ (<uint64_t>0 - (value & 1)))


# --- collections and records -------------------------------------------------------------------


cdef class _List(_Exact):
    cdef Deserializer element

    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.element = find_deserializer(cqltype.subtypes[0])

    cdef list elements(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        """The elements; None if the bytes are malformed."""
        cdef Cursor cursor = Cursor(ptr, ptr + size)
        cdef Py_ssize_t count = take_count(&cursor, 4)
        cdef const unsigned char *part = NULL
        cdef Py_ssize_t part_size = 0
        cdef Py_ssize_t i
        if count < 0:
            return None
        cdef list result = PyList_New(count)
        for i in range(count):
            if not take_part(&cursor, &part, &part_size):
                return None
            item = from_binary(self.element, part, part_size, pv)
            Py_INCREF(item)
            PyList_SET_ITEM(result, i, item)
        return result if cursor.at == cursor.end else None

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        result = self.elements(ptr, size, pv)
        return self.slow(ptr, size, pv) if result is None else result


cdef class _Set(_List):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        result = self.elements(ptr, size, pv)
        return self.slow(ptr, size, pv) if result is None else _SortedSet(result)


cdef class _Map(_Exact):
    cdef Deserializer key
    cdef Deserializer item
    cdef object key_type

    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.key_type, item_type = cqltype.subtypes
        self.key = find_deserializer(self.key_type)
        self.item = find_deserializer(item_type)

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        cdef Cursor cursor = Cursor(ptr, ptr + size)
        cdef Py_ssize_t count = take_count(&cursor, 8)
        cdef const unsigned char *key_part = NULL
        cdef const unsigned char *item_part = NULL
        cdef Py_ssize_t key_size = 0
        cdef Py_ssize_t item_size = 0
        cdef Py_ssize_t i
        if count < 0:
            return self.slow(ptr, size, pv)
        cdef list items = PyList_New(count)
        for i in range(count):
            if not take_part(&cursor, &key_part, &key_size):
                return self.slow(ptr, size, pv)
            if not take_part(&cursor, &item_part, &item_size):
                return self.slow(ptr, size, pv)
            pair = (
                from_binary(self.key, key_part, key_size, pv),
                from_binary(self.item, item_part, item_size, pv),
            )
            Py_INCREF(pair)
            PyList_SET_ITEM(items, i, pair)
        if cursor.at != cursor.end:
            return self.slow(ptr, size, pv)
        return _map_from_items(self.key_type, pv, items)


cdef class _Tuple(_Exact):
    cdef tuple fields

    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.fields = tuple(make_deserializers(cqltype.subtypes))

    cdef tuple values(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        """A value for each field, None for missing ones; None if the bytes are malformed."""
        cdef Cursor cursor = Cursor(ptr, ptr + size)
        cdef const unsigned char *part = NULL
        cdef Py_ssize_t part_size = 0
        cdef Py_ssize_t count = len(self.fields)
        cdef Py_ssize_t i
        cdef bint is_short = False
        if cursor.at == cursor.end and count:  # before as much memory is taken
            record.check_growth(self.cqltype, size)
        cdef tuple result = PyTuple_New(count)
        for i in range(count):
            if cursor.at == cursor.end:
                if not is_short:
                    is_short = True
                    record.check_growth(self.cqltype, size)
                part_size = -1
            elif not take_part(&cursor, &part, &part_size):
                return None
            value = from_binary(<Deserializer>self.fields[i], part, part_size, pv)
            Py_INCREF(value)
            PyTuple_SET_ITEM(result, i, value)
        return result

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        result = self.values(ptr, size, pv)
        return self.slow(ptr, size, pv) if result is None else result


cdef class _UserDefined(_Tuple):
    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        values = self.values(ptr, size, pv)
        if values is None:
            return self.slow(ptr, size, pv)
        mapped_class = self.cqltype.mapped_class
        if mapped_class is None:
            return _new_tuple(self.cqltype.tuple_type, values)
        return mapped_class(**dict(zip(self.cqltype.fieldnames, values)))


# --- vectors -----------------------------------------------------------------------------------


cdef class _Vector(_Exact):
    """A vector of elements of a fixed size."""

    cdef Deserializer element
    cdef Py_ssize_t count
    cdef Py_ssize_t width

    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.element = find_deserializer(cqltype.subtype)
        self.count = cqltype.vector_size
        self.width = cqltype.subtype.serial_size() or 0

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        cdef Py_ssize_t i
        if size != self.count * self.width:
            return self.slow(ptr, size, pv)
        cdef list result = PyList_New(self.count)
        for i in range(self.count):
            item = self.element.deserialize(ptr + i * self.width, self.width, pv)
            Py_INCREF(item)
            PyList_SET_ITEM(result, i, item)
        return result


cdef class _NumberVector(_Vector):
    """A vector of the numbers that vectors are made of in practice: no call an element."""

    cdef char kind

    def __init__(self, cqltype):
        super().__init__(cqltype)
        self.kind = _NUMBERS[cqltype.subtype]

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        cdef Py_ssize_t i
        cdef object item  # not a C number, which has no reference count
        if size != self.count * self.width:
            return self.slow(ptr, size, pv)
        cdef list result = PyList_New(self.count)
        for i in range(self.count):
            if self.kind == c"f":
                item = <double>read_float(ptr + 4 * i)
            elif self.kind == c"d":
                item = read_double(ptr + 8 * i)
            elif self.kind == c"i":
                item = read_int32(ptr + 4 * i)
            else:
                item = read_int64(ptr + 8 * i)
            Py_INCREF(item)
            PyList_SET_ITEM(result, i, item)
        return result


cdef class _VariableVector(_Vector):
    """A vector whose elements have their lengths in front."""

    cdef object deserialize(self, const unsigned char *ptr, Py_ssize_t size, int pv):
        cdef Py_ssize_t _i
        cdef Py_ssize_t offset = 0
        cdef Py_ssize_t taken
        cdef uint64_t length = 0
        cdef list result = []  # not allocated ahead: the size comes from the server's type string
        for _i in range(self.count):
            taken = read_uvint(ptr + offset, size - offset, &length)
            if taken == 0 or length > <uint64_t>(size - offset - taken):
                return self.slow(ptr, size, pv)
            offset += taken
            result.append(from_binary(self.element, ptr + offset, <Py_ssize_t>length, pv))
            offset += <Py_ssize_t>length
        return result if offset == size else self.slow(ptr, size, pv)


# --- which class for which type ----------------------------------------------------------------


cdef dict _CLASSES = {
    text.AsciiType: _Ascii,
    text.UTF8Type: _Utf8,
    text.VarcharType: _Utf8,
    text.BytesType: _Blob,
    _UnrecognizedType: _Blob,
    numeric.ByteType: _Tinyint,
    numeric.ShortType: _Smallint,
    numeric.Int32Type: _Int,
    numeric.LongType: _Bigint,
    numeric.CounterColumnType: _Bigint,
    numeric.FloatType: _Float,
    numeric.DoubleType: _Double,
    numeric.BooleanType: _Boolean,
    numeric.IntegerType: _Varint,
    numeric.DecimalType: _Decimal_,
    identity.UUIDType: _Uuid,
    identity.TimeUUIDType: _Uuid,
    identity.InetAddressType: _Inet,
    temporal.TimestampType: _Timestamp,
    temporal.DateType: _Timestamp,
    temporal.SimpleDateType: _DateOfDay,
    temporal.TimeType: _TimeOfDay,
    temporal.DurationType: _Duration_,
    collection.ListType: _List,
    collection.SetType: _Set,
    collection.MapType: _Map,
    record.TupleType: _Tuple,
    record.UserType: _UserDefined,
    vector.VectorType: _Vector,
}

cdef dict _NUMBERS = {
    numeric.FloatType: ord("f"),
    numeric.DoubleType: ord("d"),
    numeric.Int32Type: ord("i"),
    numeric.LongType: ord("q"),
}

cdef dict _found = {}


cdef object _class_for(object cqltype):
    """The class for a type; Deserializer for types that an application brought."""
    # Only a type itself and its parameterised forms: a subclass may decode in its own way.
    generic = cqltype.__dict__.get("generic", cqltype)
    if generic not in _CLASSES:
        return Deserializer
    if generic is vector.VectorType:
        if cqltype is generic:
            return Deserializer
        size = cqltype.serial_size()
        if size is None:
            return _VariableVector
        if size > sys.maxsize:  # no value is that long; the type says so without C arithmetic
            return Deserializer
        return _NumberVector if cqltype.subtype in _NUMBERS else _Vector
    if generic.num_subtypes and not cqltype.subtypes:
        return Deserializer
    return _CLASSES[generic]


def find_deserializer(cqltype):
    """The deserializer of a type; the same one for the same type."""
    found = _found.get(cqltype)
    if found is None:
        inner = unwrapped(cqltype)
        found = _found.setdefault(cqltype, _class_for(inner)(inner))
    return found


def make_deserializers(cqltypes):
    """The deserializer of each type, in order."""
    return [find_deserializer(cqltype) for cqltype in cqltypes]
