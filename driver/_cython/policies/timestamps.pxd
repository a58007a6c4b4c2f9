cdef object stamp_of(object generator)
