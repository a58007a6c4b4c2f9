"""Parts of a value with their lengths in front, taken from a buffer; mirrors types/framing.py."""

from driver._cython.types.marshal cimport read_int32


cdef struct Cursor:
    const unsigned char *at
    const unsigned char *end


cdef inline bint take_part(
    Cursor *cursor, const unsigned char **part, Py_ssize_t *size
) noexcept nogil:
    """The next length and its bytes; False if the buffer ends before. Null has a size of -1."""
    cdef Py_ssize_t announced
    if cursor.end - cursor.at < 4:
        return False
    announced = read_int32(cursor.at)
    cursor.at += 4
    part[0] = cursor.at
    if announced < 0:
        size[0] = -1
        return True
    if announced > cursor.end - cursor.at:
        return False
    size[0] = announced
    cursor.at += announced
    return True


cdef inline Py_ssize_t take_count(Cursor *cursor, Py_ssize_t smallest) noexcept nogil:
    """The number of elements, each of at least ``smallest`` bytes; -1 if they cannot be there."""
    cdef Py_ssize_t count
    if cursor.end - cursor.at < 4:
        return -1
    count = read_int32(cursor.at)
    cursor.at += 4
    if count < 0 or count > (cursor.end - cursor.at) // smallest:
        return -1
    return count
