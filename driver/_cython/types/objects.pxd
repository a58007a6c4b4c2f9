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
    static Py_ssize_t driver_slot_offset(PyObject *cls, const char *name)
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

    #if PY_VERSION_HEX >= 0x030D0000
    #define driver_unsigned(ptr, size) PyLong_FromUnsignedNativeBytes( \\
        ptr, size, Py_ASNATIVEBYTES_BIG_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER)
    #else
    #define driver_unsigned(ptr, size) _PyLong_FromByteArray(ptr, size, 0, 0)
    #endif
    """
    ctypedef struct PyTypeObject:
        pass
    Py_ssize_t slot_offset "driver_slot_offset"(object cls, const char *name) except -1
    # A number of any size from unsigned big-endian bytes.
    object unsigned_number "driver_unsigned"(const unsigned char *ptr, size_t size)
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)


cdef inline object new_object(object cls):
    """An instance of a class that keeps all it has in slots, with nothing in them."""
    return PyType_GenericAlloc(<PyTypeObject *><PyObject *>cls, 0)


cdef inline void set_slot(object made, Py_ssize_t offset, object value) noexcept:
    """Fill a slot that is empty."""
    Py_INCREF(value)
    (<PyObject **>(<char *><PyObject *>made + offset))[0] = <PyObject *>value
