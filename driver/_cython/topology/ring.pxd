from libc.stdint cimport int64_t


cdef object replicas_of(object ring, object keyspace, int64_t value)
