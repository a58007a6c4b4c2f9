cdef class Receiver:
    cdef int receive(self, object response) except -1


cdef object send_over(
    object connection, object msg, object request_id, object cb, object result_metadata,
    object handler,
)
cdef bint takes_over(object connection) except -1
