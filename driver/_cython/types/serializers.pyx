"""The compiled twin of types/serializers.py.

A class of its own encodes what it is sure of; any other value goes to the type's own
``serialize``, so that what is taken, the exception and its message are those of the pure
implementation by construction.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from libc.math cimport isinf, isnan
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t

from driver._cython.types.marshal cimport write_double, write_float, write_int32

from ...types.numeric import DoubleType, FloatType, Int32Type
from ...types.wrapper import FrozenType, ReversedType

__all__ = ["Serializer", "find_serializer", "make_serializers"]


cdef class Serializer:
    """Encodes the values of one CQL type, by the type's own method.

    Attributes:
        cqltype: the type; of a frozen or reversed type the one inside.
        serialize: ``serialize(value, protocol_version) -> bytes``; see the pure module.
    """

    cdef readonly object cqltype
    cdef readonly object serialize

    def __init__(self, cqltype):
        """Take the type."""
        self.cqltype = cqltype
        self.serialize = cqltype.serialize


# What follows reads numbers of exactly the builtin types: their conversion runs no code of anybody
# else, and is the one that struct does. A false return leaves the value to the type itself.


cdef inline bint _as_double(object value, double *number):
    """A float or an int as a double; false for anything else, and for an int that is too large."""
    if PyFloat_CheckExact(value):
        number[0] = PyFloat_AS_DOUBLE(value)
        return True
    if PyLong_CheckExact(value):
        try:
            number[0] = PyLong_AsDouble(value)
        except OverflowError:
            return False
        return True
    return False


cdef inline bint _as_float(object value, float *number):
    """The same as a float; false also for a double that has no float."""
    cdef double wide = 0
    if not _as_double(value, &wide):
        return False
    number[0] = <float>wide
    # Not a NaN either: which bits a conversion keeps is for struct to say.
    return not isnan(wide) and (not isinf(number[0]) or isinf(wide))


cdef inline bint _as_int32(object value, int32_t *number):
    """An int of 32 bits; false for anything else."""
    cdef int overflow = 0
    cdef long long wide
    if not PyLong_CheckExact(value):
        return False
    wide = PyLong_AsLongLongAndOverflow(value, &overflow)
    number[0] = <int32_t>wide
    return not overflow and INT32_MIN <= wide <= INT32_MAX


cdef class _Exact(Serializer):
    """Base of the classes that know their type's encoding."""

    def __init__(self, cqltype):
        self.cqltype = cqltype
        self.serialize = self.encode

    cpdef bytes encode(self, object value, int protocol_version):
        """The bytes of a value."""
        raise NotImplementedError


cdef class _Float(_Exact):
    cpdef bytes encode(self, object value, int protocol_version):
        cdef float number = 0
        cdef unsigned char data[4]
        if not _as_float(value, &number):
            return self.cqltype.serialize(value, protocol_version)
        write_float(data, number)
        return PyBytes_FromStringAndSize(<char *>data, 4)


cdef class _Double(_Exact):
    cpdef bytes encode(self, object value, int protocol_version):
        cdef double number = 0
        cdef unsigned char data[8]
        if not _as_double(value, &number):
            return self.cqltype.serialize(value, protocol_version)
        write_double(data, number)
        return PyBytes_FromStringAndSize(<char *>data, 8)


cdef class _Int(_Exact):
    cpdef bytes encode(self, object value, int protocol_version):
        cdef int32_t number = 0
        cdef unsigned char data[4]
        if not _as_int32(value, &number):
            return self.cqltype.serialize(value, protocol_version)
        write_int32(data, number)
        return PyBytes_FromStringAndSize(<char *>data, 4)


cdef dict _CLASSES = {FloatType: _Float, DoubleType: _Double, Int32Type: _Int}

cdef dict _found = {}


cdef object _class_for(object cqltype):
    """The class for a type; Serializer for all that have none, and for types of applications."""
    return _CLASSES.get(cqltype, Serializer)


def find_serializer(cqltype):
    """The serializer of a type; the same one for the same type."""
    found = _found.get(cqltype)
    if found is None:
        inner = cqltype
        while issubclass(inner, (FrozenType, ReversedType)) and inner.subtypes:
            inner = inner.subtypes[0]
        found = _found.setdefault(cqltype, _class_for(inner)(inner))
    return found


def make_serializers(cqltypes):
    """The serializer of each type, in order."""
    return [find_serializer(cqltype) for cqltype in cqltypes]
