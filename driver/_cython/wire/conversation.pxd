cdef object encoded(object self, object msg, object stream_id, object handler)
