cdef object plan_by(object policy, object working_keyspace, object query)
