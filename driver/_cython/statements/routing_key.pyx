"""Compiled form of driver/statements/routing_key.py: a composite key in one piece of its size."""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.list cimport PyList_CheckExact
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Fast_GET_ITEM, PySequence_Fast_GET_SIZE
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport UINT16_MAX
from libc.string cimport memcpy

from driver._cython.types.marshal cimport write_uint16

from ...statements.routing_key import pack_parts as plain

__all__ = ["pack_parts"]


cdef Py_ssize_t _size(object parts) noexcept:
    """How many bytes the key has; -1 if a part is none that can be copied."""
    cdef Py_ssize_t index
    cdef Py_ssize_t size = 0
    cdef PyObject *part
    for index in range(PySequence_Fast_GET_SIZE(parts)):
        part = PySequence_Fast_GET_ITEM(parts, index)
        if not PyBytes_CheckExact(<object>part) or PyBytes_GET_SIZE(<object>part) > UINT16_MAX:
            return -1
        size += PyBytes_GET_SIZE(<object>part) + 3
    return size


def pack_parts(parts):
    """The routing key of the serialised columns; see driver/statements/routing_key.py."""
    cdef Py_ssize_t index, size
    cdef unsigned char *target
    cdef PyObject *part
    cdef object key
    if len(parts) == 1:
        return parts[0]
    if not PyTuple_CheckExact(parts) and not PyList_CheckExact(parts):
        return plain(parts)
    size = _size(parts)
    if size < 0:
        return plain(parts)
    key = PyBytes_FromStringAndSize(NULL, size)
    target = <unsigned char *>PyBytes_AS_STRING(key)
    for index in range(PySequence_Fast_GET_SIZE(parts)):
        part = PySequence_Fast_GET_ITEM(parts, index)
        size = PyBytes_GET_SIZE(<object>part)
        write_uint16(target, <unsigned short>size)
        memcpy(target + 2, PyBytes_AS_STRING(<object>part), size)
        target[2 + size] = 0
        target += size + 3
    return key
