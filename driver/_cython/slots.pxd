"""Attributes of Python classes that are slots, read and set where they are.

A class stays plain Python; compiled code that knows an object to be of exactly that class takes
what it needs by its offset, some 5 instructions, where a look-up by name takes 60 to 120. An object
that has nothing but slots can be made the same way, without ``object.__new__`` through the
interpreter, which costs a UUID three times what its number costs.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF


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


cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)
    bint PyObject_TypeCheck(object instance, PyTypeObject *type)


cdef inline bint is_instance(object instance, PyObject *cls) noexcept:
    """Whether an instance of a class, or of one below it, has its slots where that class does."""
    return PyObject_TypeCheck(instance, <PyTypeObject *>cls)


cdef inline PyObject *slot_of(PyObject *instance, Py_ssize_t offset) noexcept:
    """What is in a slot, borrowed; NULL if it was never set, or deleted."""
    return (<PyObject **>(<char *>instance + offset))[0]


cdef inline object taken(PyObject *instance, Py_ssize_t offset):
    """What is in a slot; AttributeError if nothing is."""
    cdef PyObject *value = slot_of(instance, offset)
    if value == NULL:
        raise AttributeError("an attribute that is needed was never set, or deleted")
    return <object>value


cdef inline void put(PyObject *instance, Py_ssize_t offset, object value) noexcept:
    """Set a slot, whatever was in it."""
    cdef PyObject **place = <PyObject **>(<char *>instance + offset)
    cdef PyObject *before = place[0]
    Py_INCREF(value)
    place[0] = <PyObject *>value
    Py_XDECREF(before)


cdef inline void set_slot(object made, Py_ssize_t offset, object value) noexcept:
    """Fill a slot that is empty."""
    Py_INCREF(value)
    (<PyObject **>(<char *><PyObject *>made + offset))[0] = <PyObject *>value


cdef inline object new_object(object cls):
    """An instance of a class that keeps all it has in slots, with nothing in them."""
    return PyType_GenericAlloc(<PyTypeObject *><PyObject *>cls, 0)
