"""What compiled modules that write frames and segments compress with, into place."""

from cpython.object cimport PyObject


cdef extern from *:
    """
    /* Takes over the reference to bytes that nobody else has; NULL where there is no memory. */
    static inline PyObject *driver_shortened(PyObject *bytes, Py_ssize_t size)
    {
        _PyBytes_Resize(&bytes, size);
        return bytes;
    }
    """
    object shortened "driver_shortened"(PyObject *bytes, Py_ssize_t size)


cdef extern from "Python.h":
    # Owned by whoever calls, who hands them to ``shortened`` or lets them go.
    PyObject *new_bytes "PyBytes_FromStringAndSize"(const char *data, Py_ssize_t size) except NULL


# Bytes that a block needs at most; 0 where the functions are not to be had, or refuse as many.
cdef Py_ssize_t room_for(Py_ssize_t size) noexcept
# A bare lz4 block; its length, or 0 where it does not fit. Only where ``room_for`` gives a room.
cdef Py_ssize_t compress_into(
    const char *source, Py_ssize_t size, char *target, Py_ssize_t room
) noexcept
