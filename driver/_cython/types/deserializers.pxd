"""What compiled modules of higher layers decode values with, straight from a frame's buffer."""

# Types so common that loops over values decode them in line, by ``Deserializer.step``: a call for
# each value costs more than the smallest of them.
cdef enum:
    OTHER
    INT
    BIGINT
    DOUBLE
    TEXT


cdef class Deserializer:
    cdef readonly object cqltype
    cdef bint empty_binary_ok
    cdef int step
    cdef object deserialize(
        self, const unsigned char *ptr, Py_ssize_t size, int protocol_version
    )


cdef object empty_value(Deserializer deserializer)


cdef inline object from_binary(
    Deserializer deserializer, const unsigned char *ptr, Py_ssize_t size, int protocol_version
):
    """The value at ptr; None for a size below 0, which is null."""
    if size <= 0:
        if size < 0:
            return None
        if not deserializer.empty_binary_ok:
            return empty_value(deserializer)
    return deserializer.deserialize(ptr, size, protocol_version)
