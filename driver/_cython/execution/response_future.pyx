"""Compiled form of driver/execution/response_future.py: an answer that is here already."""

from cpython.object cimport PyObject

from driver._cython.execution.request cimport has_outcome, send
from driver._cython.net.after_read cimport Latch
from driver._cython.net.transport cimport send_postponed
from driver._cython.results.page cimport new_page
from driver._cython.slots cimport FREE_THREADED, is_instance, put, slot_offset, taken

from ...execution import response_future as pure
from ...execution import waiting
from ...execution.late_page import LatePage
from ...execution.options import Options
from ...results.result_set import ResultSet

__all__ = []

cdef object Future = pure.ResponseFuture
cdef object wait_plainly = pure.ResponseFuture.wait_for_page
cdef object _NOT_SET = pure.NOT_SET
cdef object _LatePage = LatePage
cdef object _ResultSet = ResultSet
cdef object _refuse_on_loop = waiting.refuse_on_loop
cdef object _GRACE = waiting.GRACE
cdef Py_ssize_t TIMEOUT_AT = Options._fields.index("timeout")
cdef Py_ssize_t RESULT = slot_offset(Future, b"_final_result")
cdef Py_ssize_t OPTIONS = slot_offset(Future, b"options")
cdef Py_ssize_t SESSION = slot_offset(Future, b"session")
cdef Py_ssize_t WAITED_FOR = slot_offset(Future, b"_waited_for")
cdef Py_ssize_t READS = slot_offset(Future, b"_reads")
cdef Py_ssize_t EXCEPTION = slot_offset(Future, b"_final_exception")
cdef Py_ssize_t NAMES = slot_offset(Future, b"_col_names")
cdef Py_ssize_t TYPES = slot_offset(Future, b"_col_types")


cdef object page_of(object self):
    """The page that is here; NOT_SET while none is, or instead of one that failed."""
    cdef PyObject *me = <PyObject *>self
    if not is_instance(self, <PyObject *>Future):
        raise TypeError(f"a ResponseFuture is needed, not a {type(self).__name__}")
    return _NOT_SET if taken(me, EXCEPTION) is not None else taken(me, RESULT)


def result(self):
    """Wait for the answer; see driver/execution/response_future.py."""
    return result_of(self)


cdef inline object result_of(object self):
    cdef PyObject *me = <PyObject *>self
    cdef object page = waited_for(self)
    return new_page(_ResultSet, self, taken(me, NAMES), taken(me, TYPES), page)


def wait_for_page(self):
    """Wait for the current page; see driver/execution/response_future.py."""
    return waited_for(self)


cdef inline object waited_for(object self):
    """The page: most are here, for which nothing more is called."""
    cdef object page = page_of(self)
    if page is _NOT_SET:
        page = page_to_come(self)
    # What is late is made there.
    return wait_plainly(self) if type(page) is _LatePage else page


cdef object page_to_come(object self):
    cdef object page = _NOT_SET
    while page is _NOT_SET:
        if taken(<PyObject *>self, EXCEPTION) is not None:
            return wait_plainly(self)  # which raises it
        wait(self)
        page = page_of(self)
    return page


cdef int wait(object self) except -1:
    cdef PyObject *me = <PyObject *>self
    cdef object limit = taken(me, OPTIONS)[TIMEOUT_AT]
    cdef object latch
    cdef Latch made
    _refuse_on_loop(taken(me, SESSION))
    send_postponed()
    if FREE_THREADED:
        latch = self._latch()
    else:
        made = Latch()
        # Nothing of Python's runs from here on: it ends before, and is seen here, or it sees this.
        if has_outcome(me):
            return 0
        latch = taken(me, WAITED_FOR)
        if latch is None:
            latch = made
            put(me, WAITED_FOR, made)
    if (
        latch is not None
        and not (<Latch?>latch).wait(None if limit is None else max(limit + _GRACE, 0))
        and not has_outcome(me)
    ):
        raise self._timed_out()
    return 0


def send_and_wait(self):
    """Send the request and wait for the answer; see driver/execution/response_future.py."""
    return sent_and_answered(self)


cdef object sent_and_answered(object future):
    cdef PyObject *me = <PyObject *>future
    if not is_instance(future, <PyObject *>Future):
        raise TypeError(f"a ResponseFuture is needed, not a {type(future).__name__}")
    put(me, READS, True)
    try:
        send(future)
        return result_of(future)
    finally:
        if taken(me, READS) is not False:
            future._stop_reading()


METHODS = {
    "ResponseFuture.result": result,
    "ResponseFuture.send_and_wait": send_and_wait,
    "ResponseFuture.wait_for_page": wait_for_page,
}
