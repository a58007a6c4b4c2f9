"""What binding calls of routing keys without Python in between."""

from cpython.object cimport PyObject


cdef object packed(PyObject **parts, Py_ssize_t count)
