cdef object new_page(object cls, object response, object names, object types, object rows)
