"""Compiled form of driver/results/result_set.py: the next row, for who iterates.

A method ``__next__`` of a class of Python's is looked up and called for each row. Here it is a slot
of the class, as classes written in C have it, and the rows of a page come from the iterator of
their list. Fetching a page is left to the plain method.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from driver._cython.slots cimport put, slot_offset, taken

from ...results import result_set as pure

cdef extern from *:
    """
    /* A method of a class that stands for a slot, as that of another class does. */
    static PyObject *driver_slot_method(PyObject *cls, PyObject *like, void *function) {
        if (!PyObject_TypeCheck(like, &PyWrapperDescr_Type)) {
            PyErr_Format(PyExc_TypeError, "%R stands for no slot", like);
            return NULL;
        }
        return PyDescr_NewWrapper(
            (PyTypeObject *)cls, ((PyWrapperDescrObject *)like)->d_base, function);
    }
    """
    object slot_method "driver_slot_method"(object cls, object like, void *function)
    PyObject *PyIter_Next(object iterator) except? NULL

__all__ = []

cdef object ResultSet = pure.ResultSet
cdef object next_plainly = ResultSet.__next__
cdef object iterate_plainly = ResultSet.__iter__
cdef Py_ssize_t FUTURE = slot_offset(ResultSet, b"response_future")
cdef Py_ssize_t ITERATOR = slot_offset(ResultSet, b"_page_iter")
cdef Py_ssize_t ROWS = slot_offset(ResultSet, b"_current_rows")


cdef PyObject *next_row(PyObject *me) except? NULL:
    """The next row; fetches the next page when the current one is used up."""
    cdef object rows = taken(me, ITERATOR)
    cdef object self
    cdef PyObject *row
    if rows is None:
        rows = iter(taken(me, ROWS))
        put(me, ITERATOR, rows)
    row = PyIter_Next(rows)
    if row == NULL:
        self = <object>me
        if taken(me, FUTURE).has_more_pages:
            rows = next_plainly(self)
            Py_INCREF(rows)
            return <PyObject *>rows
        if not self._is_list:
            put(me, ROWS, [])
    return row


cdef PyObject *iterate(PyObject *me) except? NULL:
    """All rows from the current page on."""
    cdef object rows = <object>me
    if taken(me, ITERATOR) is not None:
        rows = iterate_plainly(rows)
    Py_INCREF(rows)
    return <PyObject *>rows


METHODS = {
    "ResultSet.__iter__": slot_method(ResultSet, type(iter([])).__iter__, <void *>iterate),
    "ResultSet.__next__": slot_method(ResultSet, type(iter([])).__next__, <void *>next_row),
}
