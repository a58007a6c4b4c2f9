"""What a conversation calls of frames without Python in between."""


cdef Py_ssize_t take_frames(
    const unsigned char *data, Py_ssize_t size, int version, list found
) except -1
