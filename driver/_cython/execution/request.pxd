from cpython.object cimport PyObject


cdef class SessionCalls:
    cdef object query_plan(
        self, object session, object query, object policy, object host, object keyspace
    )
    cdef object pool_for(self, object session, object host)


cdef void use_calls(SessionCalls own) noexcept
cdef object new_request(
    object cls, object session, object message, object query, object options, object prepared,
    object speculation,
)
cdef int send(object self) except -1
cdef bint has_outcome(PyObject *me) except -1
