"""Texts of a frame's buffer."""

from cpython.object cimport PyObject


cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* A text of UTF-8. Most are ASCII: eight bytes are looked at in one go, then the text is of its
       size at once and copied; the interpreter's own function does both as it goes along. */
    static inline PyObject *driver_text(const char *utf8, Py_ssize_t size)
    {
        const uint64_t beyond = 0x8080808080808080u;
        uint64_t seen = 0, eight;
        Py_ssize_t i;
        PyObject *text;
        if (size < 2)
            return PyUnicode_DecodeUTF8(utf8, size, NULL);
        if (size >= 8) {
            for (i = 0; i < size - 8; i += 8) {
                memcpy(&eight, utf8 + i, 8);
                if (eight & beyond)
                    return PyUnicode_DecodeUTF8(utf8, size, NULL);
            }
            memcpy(&eight, utf8 + size - 8, 8);
            seen = eight;
        }
        else {
            for (i = 0; i < size; i++)
                seen |= (unsigned char)utf8[i];
        }
        if (seen & beyond)
            return PyUnicode_DecodeUTF8(utf8, size, NULL);
        text = PyUnicode_New(size, 127);
        if (text != NULL)
            memcpy(PyUnicode_1BYTE_DATA(text), utf8, size);
        return text;
    }
    """
    object text_of "driver_text"(const char *utf8, Py_ssize_t size)
    # The same, owned by whoever calls.
    PyObject *new_text "driver_text"(const char *utf8, Py_ssize_t size) except NULL
