from driver._cython.net.shared_reading cimport Seat


cdef class Receiver:
    #: Of a thread that shares reading: where it waits, and what it has not sent yet.
    cdef Seat seat
    cdef object unsent

    cdef int receive(self, object response) except -1


cdef object send_over(
    object connection, object msg, object request_id, object cb, object result_metadata,
    object handler,
)
cdef bint takes_over(object connection, Receiver receiver, object request_id) except -1
cdef int read_for(
    object connection, Receiver receiver, object request_id, object timeout
) except -1
cdef int stop_reading(object connection, Receiver receiver) except -1
