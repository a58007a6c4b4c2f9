cdef class Timer:
    cdef readonly object fn
    cdef dict _slot

    cpdef bint take(self) except -1


cdef object set_timer(object timers, object seconds, object fn)
cdef int cancel(object timer) except -1
