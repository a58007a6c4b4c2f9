cpdef bint begin_read() noexcept
cpdef int end_read(Py_ssize_t answers) except -1
cpdef int call_after_read(object loop, object function) except -1


cdef class Latch:
    cdef public object lock, turns

    cpdef bint wait(self, object timeout) except -1
    cpdef int open(self) except -1


cdef enum State:
    WAITS, ANSWERED, CANCELLED


cdef class Waiter:
    cdef readonly object loop
    cdef public object _asyncio_future_blocking
    cdef object _fn, _context, _message
    cdef list _others
    cdef State _state

    cpdef void blocks(self) noexcept
    cpdef bint done(self) noexcept
    cpdef bint cancelled(self) noexcept
    cpdef bint cancel(self, msg=*) except -1
    cpdef object result(self)
    cpdef int wake(self) except -1
    cpdef int step(self) except -1
    cpdef int step_soon(self) except -1
    cdef int step_one(self, object fn, object context) except -1
