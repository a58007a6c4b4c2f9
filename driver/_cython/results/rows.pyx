"""Compiled form of driver/results/rows.py: named tuples of their size, without one in between."""

from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport (
    PyTuple_CheckExact,
    PyTuple_GET_ITEM,
    PyTuple_GET_SIZE,
    PyTuple_SET_ITEM,
)

from ...results import rows as pure

__all__ = ["make_named_tuples", "named_tuple_factory"]

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)


cdef object class_of = pure.named_tuple_class
#: The names of the last columns, and their class: most requests are like the one before. In a list,
#: which threads that run beside each other may read and set.
cdef list _last = [((), class_of(()))]


@pure.makes_single_rows
def named_tuple_factory(colnames, rows):
    """Rows as named tuples; see driver/results/rows.py."""
    cdef object known
    if isinstance(rows, dict):
        return rows  # a NumPy page
    known = _last[0]
    if not are_same(<tuple>PyTuple_GET_ITEM(known, 0), colnames):
        colnames = tuple(colnames)
        known = _last[0] = (colnames, class_of(colnames))
    return make_named_tuples(<object>PyTuple_GET_ITEM(known, 1), rows)


cdef bint are_same(tuple known, object names):
    """Whether a list has these very objects, which is cheaper to see than that they are equal."""
    cdef Py_ssize_t index
    if not PyList_CheckExact(names) or PyList_GET_SIZE(names) != PyTuple_GET_SIZE(known):
        return False
    for index in range(PyTuple_GET_SIZE(known)):
        if PyList_GET_ITEM(names, index) != PyTuple_GET_ITEM(known, index):
            return False
    return True


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
