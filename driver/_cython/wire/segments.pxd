"""What a conversation calls of segments without Python in between."""

from libc.stdint cimport uint64_t


cdef const char *payload_at(
    bytes data, Py_ssize_t position, Py_ssize_t header_length, uint64_t flag,
    unsigned long long *bits, Py_ssize_t *after
) noexcept
cdef object encoded_by(object codec, object frame)
