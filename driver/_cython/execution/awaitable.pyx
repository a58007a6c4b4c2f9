"""Compiled form of driver/execution/awaitable.py: an answer that is awaited, and wakes who does."""

import asyncio

from cpython.object cimport PyObject

from driver._cython.execution.request cimport has_outcome
from driver._cython.net.after_read cimport Waiter
from driver._cython.results.page cimport new_page
from driver._cython.slots cimport Place, attribute, is_instance, put, slot_offset, taken

from ...execution import awaitable as pure
from ...execution.late_page import LatePage
from ...execution.request import NOT_SET

__all__ = []

cdef object Response = pure.AwaitableResponse
cdef object wait_plainly = Response.wait_for_page
cdef object await_plainly = Response.__await__
cdef object _LatePage = LatePage
cdef object _NOT_SET = NOT_SET
cdef object _running_loop = asyncio.get_running_loop
cdef Place LOOP
cdef Py_ssize_t SESSION = slot_offset(Response, b"session")
cdef Py_ssize_t WAITED_FOR = slot_offset(Response, b"_waited_for")
cdef Py_ssize_t RESULT = slot_offset(Response, b"_final_result")
cdef Py_ssize_t EXCEPTION = slot_offset(Response, b"_final_exception")
cdef Py_ssize_t NAMES = slot_offset(Response, b"_col_names")
cdef Py_ssize_t TYPES = slot_offset(Response, b"_col_types")


cdef inline PyObject *checked(object self) except NULL:
    """A response, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Response):
        raise TypeError(f"an AwaitableResponse is needed, not a {type(self).__name__}")
    return <PyObject *>self


def waiter_of(self):
    """What whoever awaits the outcome waits for; see driver/execution/awaitable.py."""
    return waits_for(self)


cdef Waiter waits_for(object self):
    cdef PyObject *me = checked(self)
    cdef object waiter = taken(me, WAITED_FOR)
    if waiter is None:
        waiter = Waiter(attribute(taken(me, SESSION), "loop", &LOOP) or _running_loop())
        put(me, WAITED_FOR, waiter)
    return <Waiter?>waiter


def wake(self):
    """Have whoever awaits the outcome go on."""
    (<Waiter?>taken(checked(self), WAITED_FOR)).wake()


cdef Waiter begin_waiting(object self):
    """What is to be waited for; None if the outcome is here."""
    cdef PyObject *me = checked(self)
    cdef object waited_for = taken(me, WAITED_FOR)
    if has_outcome(me) and (waited_for is None or not (<Waiter?>waited_for).cancelled()):
        return None
    return waits_for(self)


cdef int end_waiting(object self, Waiter waiter) except -1:
    """Give the request up if whoever waited goes away before there is an answer."""
    if waiter.cancelled() or not waiter.done():
        waiter.cancel()
        self.abandon()
    return 0


cdef object rows_of(object self):
    """The current rows, a late page, or NOT_SET; raises what the request failed with."""
    cdef PyObject *me = checked(self)
    cdef object error = taken(me, EXCEPTION)
    if error is not None:
        raise error
    return taken(me, RESULT)


cdef bint are_made(object rows) except -1:
    """Whether these are rows: neither late, nor of a page that nobody has now."""
    return type(rows) is not _LatePage and rows is not _NOT_SET


cdef object page_of(object self, object rows):
    """The current page, of these rows."""
    cdef PyObject *me = checked(self)
    return new_page(self.page_class, self, taken(me, NAMES), taken(me, TYPES), rows)


async def wait_for_page(self):
    """The rows of the current page; see driver/execution/awaitable.py."""
    cdef Waiter waiter = begin_waiting(self)
    cdef object rows
    if waiter is not None:
        try:
            await waiter
            waiter.result()
        finally:
            end_waiting(self, waiter)
    rows = rows_of(self)
    return rows if are_made(rows) else await wait_plainly(self)


def await_(self):
    """The current page; see driver/execution/awaitable.py."""
    cdef Waiter waiter = begin_waiting(self)
    cdef object rows
    if waiter is not None:
        try:
            if not waiter.done():
                waiter.blocks()
                yield waiter
            waiter.result()
        finally:
            end_waiting(self, waiter)
    rows = rows_of(self)
    return page_of(self, rows) if are_made(rows) else (yield from await_plainly(self))


METHODS = {
    "AwaitableResponse._waiter": waiter_of,
    "AwaitableResponse._wake": wake,
    "AwaitableResponse.__await__": await_,
    "AwaitableResponse.wait_for_page": wait_for_page,
}
