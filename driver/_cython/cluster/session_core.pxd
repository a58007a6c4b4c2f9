cdef object new_request_of(
    object session, object execution, object query, object parameters, object trace,
    object custom_payload, object timeout, object execution_profile, object paging_state,
    object host, object row_factory, object more,
)
