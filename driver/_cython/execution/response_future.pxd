cdef object sent_and_answered(object future)
