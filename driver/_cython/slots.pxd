"""Attributes of Python classes that are slots, read and set where they are.

A class stays plain Python; compiled code that knows an object to be of exactly that class takes
what it needs by its offset, some 5 instructions, where a look-up by name takes 60 to 120.
"""

from cpython.object cimport PyObject


cdef extern from *:
    """
    #include <structmember.h>

    static Py_ssize_t slot_offset(PyObject *cls, const char *name) {
        Py_ssize_t offset = -1;
        PyObject *slot = PyObject_GetAttrString(cls, name);
        if (slot == NULL) return -1;
        if (Py_TYPE(slot) == &PyMemberDescr_Type)
            offset = ((PyMemberDescrObject *)slot)->d_member->offset;
        else
            PyErr_Format(PyExc_TypeError, "%s is no slot of %R", name, cls);
        Py_DECREF(slot);
        return offset;
    }
    """
    # Of a class; raises AttributeError or TypeError where there is no such slot.
    Py_ssize_t slot_offset(object cls, const char *name) except -1


cdef inline PyObject *slot_of(PyObject *instance, Py_ssize_t offset) noexcept:
    """What is in a slot, borrowed; NULL if it was never set, or deleted."""
    return (<PyObject **>(<char *>instance + offset))[0]
