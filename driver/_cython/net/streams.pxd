cdef object taken_by(object method)
