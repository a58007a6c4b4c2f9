"""What a connection asks of its transport, where threads read in turn."""

from driver._cython.net.shared_reading cimport SharedReading

cdef SharedReading shared_of(object self)
cdef SharedReading begin_sharing(
    object self, int version, bint in_segments, Py_ssize_t strays
)
cdef int leave_to_loop(object self, bint is_disturbed) except -1
cdef int end_sharing(object self) except -1
cdef int read_alone(object self) except -1
cdef int send_rest(object self) except -1
cdef bint writes(object method) except -1
cdef int write_by(object transport, object data) except -1
cpdef int send_postponed(bint on_loop=*) except -1
