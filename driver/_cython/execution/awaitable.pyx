"""Compiled form of driver/execution/awaitable.py: an answer that is awaited, and wakes who does."""

import asyncio

from cpython.object cimport PyObject

from driver._cython.net.after_read cimport Waiter
from driver._cython.slots cimport is_instance, put, slot_offset, taken

from ...execution import awaitable as pure
from ...execution.request import NOT_SET

__all__ = []

cdef object Response = pure.AwaitableResponse
cdef object _NOT_SET = NOT_SET
cdef object _running_loop = asyncio.get_running_loop
cdef Py_ssize_t SESSION = slot_offset(Response, b"session")
cdef Py_ssize_t WAITED_FOR = slot_offset(Response, b"_waited_for")
cdef Py_ssize_t RESULT = slot_offset(Response, b"_final_result")
cdef Py_ssize_t EXCEPTION = slot_offset(Response, b"_final_exception")


cdef inline PyObject *checked(object self) except NULL:
    """A response, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Response):
        raise TypeError(f"an AwaitableResponse is needed, not a {type(self).__name__}")
    return <PyObject *>self


cdef inline bint has_outcome(PyObject *me) except -1:
    return taken(me, RESULT) is not _NOT_SET or taken(me, EXCEPTION) is not None


def waiter_of(self):
    """What whoever awaits the outcome waits for; see driver/execution/awaitable.py."""
    cdef PyObject *me = checked(self)
    cdef object waiter = taken(me, WAITED_FOR)
    if waiter is None:
        waiter = Waiter(taken(me, SESSION).loop or _running_loop())
        put(me, WAITED_FOR, waiter)
    return waiter


def wake(self):
    """Have whoever awaits the outcome go on."""
    (<Waiter?>taken(checked(self), WAITED_FOR)).wake()


def await_(self):
    """The current page; see driver/execution/awaitable.py."""
    cdef PyObject *me = checked(self)
    cdef object waited_for = taken(me, WAITED_FOR)
    cdef object error
    cdef Waiter waiter
    if not has_outcome(me) or (waited_for is not None and (<Waiter?>waited_for).cancelled()):
        waiter = waiter_of(self)
        try:
            if not waiter.done():
                waiter.blocks()
                yield waiter
            waiter.result()
        finally:
            if waiter.cancelled() or not waiter.done():
                waiter.cancel()
                self.abandon()
    error = taken(me, EXCEPTION)
    if error is not None:
        try:
            raise error
        finally:
            del self, error  # the traceback leads here, and from here it would to the error
    return self.page_class(self, taken(me, RESULT))


METHODS = {
    "AwaitableResponse._waiter": waiter_of,
    "AwaitableResponse._wake": wake,
    "AwaitableResponse.__await__": await_,
}
