from driver._cython.net.after_read cimport Waiter


cdef Waiter begin_waiting(object self)
cdef int end_waiting(object self, Waiter waiter) except -1
cdef object rows_of(object self)
cdef bint are_made(object rows) except -1
cdef object page_of(object self, object rows)
