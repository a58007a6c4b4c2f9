cdef object borrow(object pool)
cdef int give_back(object pool, object connection) except -1
