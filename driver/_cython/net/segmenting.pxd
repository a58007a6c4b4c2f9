cdef int send_by(object method, object data) except -1
