cdef int send_by(object method, object data) except -1
cdef object segment_by(object method, object data)
