cdef object message_of(
    object statement, object options, object protocol_version, object encoder,
    object parameters, object timestamp,
)
