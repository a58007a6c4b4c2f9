"""Compiled form of driver/results/rows.py: named tuples of their size, without one in between."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport (
    PyTuple_CheckExact,
    PyTuple_GET_ITEM,
    PyTuple_GET_SIZE,
    PyTuple_SET_ITEM,
)

__all__ = ["make_named_tuples"]

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)


def make_named_tuples(cls, rows):
    """An instance of a class of named tuples for each row; see driver/results/rows.py."""
    cdef object given, row, value
    cdef Py_ssize_t index
    cdef Py_ssize_t width = len(cls._fields)
    cdef list made = []
    for given in rows:
        if not PyTuple_CheckExact(given) or PyTuple_GET_SIZE(given) != width:
            made.append(cls._make(given))
            continue
        # What ``_make`` does, but for a tuple in between, whose items it would copy.
        row = PyType_GenericAlloc(<PyTypeObject *><PyObject *>cls, width)
        for index in range(width):
            value = <object>PyTuple_GET_ITEM(given, index)
            Py_INCREF(value)
            PyTuple_SET_ITEM(row, index, value)
        made.append(row)
    return made
