"""What compiled modules that read results decode their rows with."""


cdef list rows_of(
    bytes body, Py_ssize_t offset, object columns, object deserializers, int protocol_version,
    object policy,
)
