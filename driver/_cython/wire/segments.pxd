"""What a conversation calls of segments without Python in between."""


cdef const char *payload_at(
    bytes data, Py_ssize_t position, Py_ssize_t header_length, unsigned long long *bits,
    Py_ssize_t *after
) noexcept
