"""New objects of Python classes with slots, without calls: slots by their place in the object.

``object.__new__`` through the interpreter and a look-up for each attribute cost a UUID three times
what its number costs. A slot is a pointer at an offset that the class tells.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF


cdef extern from *:
    """
    #include <structmember.h>

    /* Where instances have a slot; -1 with an exception if the class has no such slot. */
    static inline Py_ssize_t driver_slot_offset(PyObject *cls, const char *name)
    {
        Py_ssize_t offset = -1;
        PyObject *found = PyObject_GetAttrString(cls, name);
        if (found == NULL)
            return -1;
        if (Py_IS_TYPE(found, &PyMemberDescr_Type))
            offset = ((PyMemberDescrObject *)found)->d_member->offset;
        else
            PyErr_Format(PyExc_TypeError, "%R has no slot %s", cls, name);
        Py_DECREF(found);
        return offset;
    }

    /* A number of 16 unsigned big-endian bytes. Where numbers are made of digits of 30 bits, five
       shifts fill them; the interpreter's own function takes each byte by itself, and seven times
       as many instructions. Short numbers are left to it: it shares the smallest. */
    static inline PyObject *driver_number_of_16(const unsigned char *bytes)
    {
    #if PyLong_SHIFT == 30 && PY_VERSION_HEX < 0x030E0000
        uint64_t high = 0, low = 0;
        int i;
        for (i = 0; i < 8; i++) {
            high = high << 8 | bytes[i];
            low = low << 8 | bytes[i + 8];
        }
        if (high >> 26) {
            Py_ssize_t count = high >> 56 ? 5 : 4;
            PyLongObject *number = _PyLong_New(count);
            digit *digits;
            if (number == NULL)
                return NULL;
    #if PY_VERSION_HEX >= 0x030C0000
            digits = number->long_value.ob_digit;
    #else
            digits = number->ob_digit;
    #endif
            digits[0] = (digit)(low & PyLong_MASK);
            digits[1] = (digit)(low >> 30 & PyLong_MASK);
            digits[2] = (digit)((low >> 60 | high << 4) & PyLong_MASK);
            digits[3] = (digit)(high >> 26 & PyLong_MASK);
            if (count == 5)
                digits[4] = (digit)(high >> 56);
            return (PyObject *)number;
        }
    #endif
    #if PY_VERSION_HEX >= 0x030D0000
        return PyLong_FromUnsignedNativeBytes(
            bytes, 16, Py_ASNATIVEBYTES_BIG_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER);
    #else
        return _PyLong_FromByteArray(bytes, 16, 0, 0);
    #endif
    }
    """
    ctypedef struct PyTypeObject:
        pass
    Py_ssize_t slot_offset "driver_slot_offset"(object cls, const char *name) except -1
    object number_of_16 "driver_number_of_16"(const unsigned char *bytes)
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)


cdef inline object new_object(object cls):
    """An instance of a class that keeps all it has in slots, with nothing in them."""
    return PyType_GenericAlloc(<PyTypeObject *><PyObject *>cls, 0)


cdef inline void set_slot(object made, Py_ssize_t offset, object value) noexcept:
    """Fill a slot that is empty."""
    Py_INCREF(value)
    (<PyObject **>(<char *><PyObject *>made + offset))[0] = <PyObject *>value
