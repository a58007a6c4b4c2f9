"""Compiled form of driver/statements/routing_key.py: a composite key in one piece of its size."""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.list cimport PyList_CheckExact
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Fast_GET_SIZE, PySequence_Fast_ITEMS
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport UINT16_MAX
from libc.string cimport memcpy

from driver._cython.types.marshal cimport write_uint16

from ...statements.routing_key import pack_parts as plain

__all__ = ["pack_parts"]


cdef object packed(PyObject **parts, Py_ssize_t count):
    """A composite key in one piece; None if a part is none that can be copied."""
    cdef Py_ssize_t index, length
    cdef Py_ssize_t size = 0
    cdef unsigned char *target
    cdef object key
    for index in range(count):
        if not PyBytes_CheckExact(<object>parts[index]):
            return None
        length = PyBytes_GET_SIZE(<object>parts[index])
        if length > UINT16_MAX:
            return None
        size += length + 3
    key = PyBytes_FromStringAndSize(NULL, size)
    target = <unsigned char *>PyBytes_AS_STRING(key)
    for index in range(count):
        length = PyBytes_GET_SIZE(<object>parts[index])
        write_uint16(target, <unsigned short>length)
        memcpy(target + 2, PyBytes_AS_STRING(<object>parts[index]), length)
        target[2 + length] = 0
        target += length + 3
    return key


def pack_parts(parts):
    """The routing key of the serialised columns; see driver/statements/routing_key.py."""
    cdef object key = None
    if len(parts) == 1:
        return parts[0]
    if PyTuple_CheckExact(parts) or PyList_CheckExact(parts):
        key = packed(PySequence_Fast_ITEMS(parts), PySequence_Fast_GET_SIZE(parts))
    return plain(parts) if key is None else key
