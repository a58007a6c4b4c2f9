from libc.stdint cimport int64_t


cdef int64_t hash_of_key(bytes key) noexcept
