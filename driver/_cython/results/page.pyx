"""Compiled form of driver/results/page.py: a page of rows, as nearly every answer is."""

from cpython.list cimport PyList_CheckExact, PyList_GET_SIZE
from cpython.object cimport PyObject

from driver._cython.slots cimport is_instance, is_made_by, new_object, put_alone, slot_offset, taken

from ...results import page as pure

__all__ = []

cdef object Page = pure.ResultPage
cdef Py_ssize_t FUTURE = slot_offset(Page, b"response_future")
cdef Py_ssize_t NAMES = slot_offset(Page, b"_names")
cdef Py_ssize_t TYPES = slot_offset(Page, b"_types")
cdef Py_ssize_t ITERATOR = slot_offset(Page, b"_page_iter")
cdef Py_ssize_t ROWS = slot_offset(Page, b"_current_rows")


cdef inline PyObject *checked(object self) except NULL:
    """A page, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Page):
        raise TypeError(f"a ResultPage is needed, not a {type(self).__name__}")
    return <PyObject *>self


def init(self, response_future, initial_response):
    """Hold a page."""
    hold(
        self, response_future, response_future._col_names, response_future._col_types,
        initial_response,
    )


cdef int hold(
    object self, object response_future, object names, object types, object initial_response
) except -1:
    cdef PyObject *me = checked(self)
    put_alone(me, FUTURE, response_future)
    put_alone(me, NAMES, names)
    put_alone(me, TYPES, types)
    put_alone(me, ITERATOR, None)
    if PyList_CheckExact(initial_response):  # as nearly always
        put_alone(me, ROWS, initial_response)
    elif initial_response is None:
        put_alone(me, ROWS, [])
    else:
        self._set_current_rows(initial_response)
    return 0


cdef object new_page(object cls, object response, object names, object types, object rows):
    """What calling a class of pages gives; nothing of Python's runs if it has no own ways.

    Args:
        cls: the class.
        response: whose answer it is.
        names: of its columns.
        types: of its columns.
        rows: what came.
    """
    cdef object made
    if not is_made_by(cls, _init):
        return cls(response, rows)
    made = new_object(cls)
    hold(made, response, names, types, rows)
    return made


def current_rows(self):
    """The rows of the current page."""
    return taken(checked(self), ROWS)


def one(self):
    """The first row of the current page; None if it has none."""
    cdef object rows = taken(checked(self), ROWS)
    if PyList_CheckExact(rows):
        return rows[0] if PyList_GET_SIZE(rows) else None
    return next(iter(rows), None)


METHODS = {
    "ResultPage.__init__": init,
    "ResultPage.current_rows": current_rows,
    "ResultPage.one": one,
}

cdef object _init = init
