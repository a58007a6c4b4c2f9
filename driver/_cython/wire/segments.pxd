"""What a conversation calls of segments without Python in between."""


cdef object whole_payload(
    bytes data, Py_ssize_t position, Py_ssize_t header_length, unsigned long long *bits,
    Py_ssize_t *after
)
