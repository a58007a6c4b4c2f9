cdef object replicas_for(object metadata, object keyspace, object key, object table)
