"""What other compiled modules call of the serializers without Python in between."""


cdef class Serializer:
    cdef readonly object cqltype
    cdef readonly object serialize
    cdef char format  # of struct, if values are numbers

    cpdef object encode(self, object value, int protocol_version)


cdef class ValuesSerializer:
    cdef list serializers

    cdef int fill(self, list values, object given, int protocol_version) except -1
    cdef object encoded(self, Py_ssize_t i, object value, int protocol_version)
