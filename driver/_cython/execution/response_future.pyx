"""Compiled form of driver/execution/response_future.py: an answer that is here already."""

from cpython.object cimport PyObject

from driver._cython.execution.request cimport send
from driver._cython.slots cimport is_instance, put, slot_offset, taken

from ...execution import response_future as pure
from ...results.result_set import ResultSet

__all__ = []

cdef object Future = pure.ResponseFuture
cdef object wait_plainly = pure.ResponseFuture.wait_for_page
cdef object result_plainly = pure.ResponseFuture.result
cdef object _NOT_SET = pure.NOT_SET
cdef object _ResultSet = ResultSet
cdef Py_ssize_t RESULT = slot_offset(Future, b"_final_result")
cdef Py_ssize_t READS = slot_offset(Future, b"_reads")
cdef Py_ssize_t EXCEPTION = slot_offset(Future, b"_final_exception")


cdef object page_of(object self):
    """The page that is here; NOT_SET while none is, or an exception."""
    cdef PyObject *me = <PyObject *>self
    if not is_instance(self, <PyObject *>Future):
        raise TypeError(f"a ResponseFuture is needed, not a {type(self).__name__}")
    return _NOT_SET if taken(me, EXCEPTION) is not None else taken(me, RESULT)


def result(self):
    """Wait for the answer; see driver/execution/response_future.py."""
    cdef object page = page_of(self)
    return result_plainly(self) if page is _NOT_SET else _ResultSet(self, page)


def wait_for_page(self):
    """Wait for the current page; see driver/execution/response_future.py."""
    cdef object page = page_of(self)
    return wait_plainly(self) if page is _NOT_SET else page


def send_and_wait(self):
    """Send the request and wait for the answer; see driver/execution/response_future.py."""
    return sent_and_answered(self)


cdef object sent_and_answered(object future):
    cdef PyObject *me = <PyObject *>future
    cdef object page
    if not is_instance(future, <PyObject *>Future):
        raise TypeError(f"a ResponseFuture is needed, not a {type(future).__name__}")
    put(me, READS, True)
    try:
        send(future)
        page = page_of(future)
        return result_plainly(future) if page is _NOT_SET else _ResultSet(future, page)
    finally:
        if taken(me, READS) is not False:
            future._stop_reading()


METHODS = {
    "ResponseFuture.result": result,
    "ResponseFuture.send_and_wait": send_and_wait,
    "ResponseFuture.wait_for_page": wait_for_page,
}
