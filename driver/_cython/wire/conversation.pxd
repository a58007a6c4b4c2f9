cdef object encoded(object self, object msg, object stream_id, object handler)
cdef int reads_plain_frames(object self) except -1
cdef Py_ssize_t take_frames(
    const unsigned char *data, Py_ssize_t size, int version, list found
) except -1
