from driver._cython.net.after_read cimport Waiter


cdef Waiter begin_waiting(object self)
cdef int end_waiting(object self, Waiter waiter) except -1
cdef bint is_late(object self) except -1
cdef object outcome(object self)
