"""Compiled form of driver/results/rows.py: named tuples of their size, without one in between.

A named tuple is laid out as the tuple that it is, so one that nobody else has becomes the row by
another class. The tuple knows whether the garbage collector has to look at it (rows.pyx of wire);
and what a tuple of a newer Python has in front of its items is as it should be.
"""

from cpython.dict cimport PyDict_Copy, PyDict_SetItem
from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport (
    PyTuple_CheckExact,
    PyTuple_GET_ITEM,
    PyTuple_GET_SIZE,
    PyTuple_New,
    PyTuple_SET_ITEM,
)

from ...results import rows as pure

__all__ = ["dict_factory", "make_named_tuples", "make_rows", "named_tuple_factory"]

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_basicsize
        Py_ssize_t tp_itemsize
        Py_ssize_t tp_dictoffset
    PyTypeObject PyTuple_Type
    Py_ssize_t Py_REFCNT(PyObject *instance)
    PyTypeObject *Py_TYPE(PyObject *instance)
    void Py_SET_TYPE(PyObject *instance, PyTypeObject *cls)
    bint PyObject_GC_IsTracked(object instance)
    void PyObject_GC_UnTrack(PyObject *instance)


cdef object class_of = pure.named_tuple_class
#: The names of the last columns, and their class: most requests are like the one before. In a list,
#: which threads that run beside each other may read and set.
cdef list _last = [((), class_of(()))]


@pure.makes_single_rows
def named_tuple_factory(colnames, rows):
    """Rows as named tuples; see driver/results/rows.py."""
    if isinstance(rows, dict):
        return rows  # a NumPy page
    return make_named_tuples(row_class(colnames), rows)


cdef object row_class(object colnames):
    """The class of named tuples for column names."""
    cdef object known = _last[0]
    if not are_same(<tuple>PyTuple_GET_ITEM(known, 0), colnames):
        colnames = tuple(colnames)
        known = _last[0] = (colnames, class_of(colnames))
    return <object>PyTuple_GET_ITEM(known, 1)


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
    cdef bint is_alike = width and is_like_a_tuple(cls)  # of none there is one empty tuple for all
    cdef list made = []
    for given in rows:
        if not is_alike or not PyTuple_CheckExact(given) or PyTuple_GET_SIZE(given) != width:
            made.append(cls._make(given))
            continue
        row = PyTuple_New(width)
        for index in range(width):
            value = <object>PyTuple_GET_ITEM(given, index)
            Py_INCREF(value)
            PyTuple_SET_ITEM(row, index, value)
        become(<PyObject *>row, cls)
        if not PyObject_GC_IsTracked(given):
            PyObject_GC_UnTrack(<PyObject *>row)
        made.append(row)
    return made


@pure.makes_single_rows
def dict_factory(colnames, rows):
    """Rows as dicts; see driver/results/rows.py."""
    cdef object given, row, empty, name
    cdef Py_ssize_t index
    cdef tuple names
    cdef list made = []
    if isinstance(rows, dict):
        return rows  # a NumPy page
    names = tuple(colnames)
    # A copy has room for all columns at once.
    empty = dict.fromkeys(names)
    for given in rows:
        if not PyTuple_CheckExact(given) or PyTuple_GET_SIZE(given) != PyTuple_GET_SIZE(names):
            made.append(dict(zip(names, given)))
            continue
        row = PyDict_Copy(empty)
        for index in range(PyTuple_GET_SIZE(names)):
            name = <object>PyTuple_GET_ITEM(names, index)
            PyDict_SetItem(row, name, <object>PyTuple_GET_ITEM(given, index))
        made.append(row)
    return made


def make_rows(factory, colnames, rows):
    """What a factory makes of rows that only the caller has; see driver/results/rows.py."""
    return rows_by(factory, colnames, rows)


cdef object rows_by(object factory, object names, object rows):
    cdef PyObject *row
    cdef object cls
    cdef Py_ssize_t index, width
    if factory is not _named_tuple_factory or not PyList_CheckExact(rows):
        return factory(names, rows)
    cls = row_class(names)
    width = len(names)
    if not is_like_a_tuple(cls):
        return make_named_tuples(cls, rows)
    for index in range(PyList_GET_SIZE(rows)):
        row = PyList_GET_ITEM(rows, index)
        if Py_TYPE(row) == <PyTypeObject *><PyObject *>cls:
            continue  # of an answer that is handed out again
        if (
            not PyTuple_CheckExact(<object>row)
            or PyTuple_GET_SIZE(<object>row) != width
            or Py_REFCNT(row) != 1  # as of the empty tuple, which there is once
        ):
            return make_named_tuples(cls, rows)
        become(row, cls)
    return rows


cdef inline bint is_like_a_tuple(object cls) noexcept:
    """Whether a class of tuples adds nothing to how they are laid out."""
    cdef PyTypeObject *row = <PyTypeObject *><PyObject *>cls
    return (
        row.tp_basicsize == PyTuple_Type.tp_basicsize
        and row.tp_itemsize == PyTuple_Type.tp_itemsize
        and row.tp_dictoffset == 0
    )


cdef inline void become(PyObject *row, object cls) noexcept:
    """Let a tuple that nobody else has be of a class below."""
    Py_INCREF(cls)
    Py_SET_TYPE(row, <PyTypeObject *><PyObject *>cls)


cdef object _named_tuple_factory = named_tuple_factory
