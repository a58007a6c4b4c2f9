"""Compiled form of driver/wire/frame.py: frames cut out of the bytes, one after the other."""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM

from driver._cython.types.marshal cimport read_int16, read_int32

from ...wire.frame import MAX_FRAME_LENGTH, Frame
from ...wire.frame import take_whole_frames as plain

__all__ = ["take_whole_frames"]

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)

cdef Py_ssize_t MOST = MAX_FRAME_LENGTH
cdef Py_ssize_t HEADER = 9


cdef inline int _set(object frame, Py_ssize_t index, object value) except -1:
    Py_INCREF(value)
    PyTuple_SET_ITEM(frame, index, value)
    return 0


def take_whole_frames(data, version_byte, list found):
    """Append the frames that data begins with; see driver/wire/frame.py."""
    if not PyBytes_CheckExact(data):
        return plain(data, version_byte, found)
    return take_frames(
        <const unsigned char *>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), version_byte, found
    )


cdef Py_ssize_t take_frames(
    const unsigned char *data, Py_ssize_t size, int version, list found
) except -1:
    cdef const unsigned char *bytes_ = data
    cdef Py_ssize_t left = size, length
    cdef object frame
    while left >= HEADER:
        length = read_int32(bytes_ + 5)
        if bytes_[0] != version or not 0 <= length <= MOST or left - HEADER < length:
            break
        frame = PyType_GenericAlloc(<PyTypeObject *><PyObject *>Frame, 5)
        _set(frame, 0, read_int16(bytes_ + 2))
        _set(frame, 1, version & 0x7F)
        _set(frame, 2, bytes_[1])
        _set(frame, 3, bytes_[4])
        _set(frame, 4, PyBytes_FromStringAndSize(<const char *>bytes_ + HEADER, length))
        found.append(frame)
        bytes_ += HEADER + length
        left -= HEADER + length
    return size - left
