cdef object new_request(
    object cls, object session, object message, object query, object options, object prepared,
    object speculation,
)
cdef int send(object self) except -1
