cdef object bound_to(object prepared, object values)
cdef object key_of(object self)
