"""Attributes of Python classes that are slots, read and set where they are.

A class stays plain Python; compiled code that knows an object to be of exactly that class takes
what it needs by its offset, some 5 instructions, where a look-up by name takes 60 to 160; of
an object that may be of any class, ``attribute`` remembers the offset for the class that it met
last. An object that has nothing but slots can be made the same way, without ``object.__new__``
through the interpreter, which costs a UUID three times what its number costs.

In a free-threaded interpreter another thread may set a slot between the look at it and the count
of the reference. There slots are read and set as the interpreter does it: by a count that fails if
the object has gone, and else with the instance's own lock. What no other thread can reach needs
neither.
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

    #ifdef Py_GIL_DISABLED
    #define DRIVER_FREE_THREADED 1
    static inline PyObject *driver_shared_slot(PyObject *instance, Py_ssize_t offset) {
        PyMemberDef slot = {"slot", Py_T_OBJECT_EX, offset, 0, NULL};
        PyObject *value;
    #if PY_VERSION_HEX >= 0x030E0000
        /* An object of another thread cannot be counted this way before it is told to allow that,
           and the instance's lock, which follows, is one that all threads share. */
        PyObject **place = (PyObject **)((char *)instance + offset);
        value = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (value != NULL && PyUnstable_TryIncRef(value)) {
            if (value == __atomic_load_n(place, __ATOMIC_ACQUIRE))
                return value;
            Py_DECREF(value);
        }
    #endif
        value = PyMember_GetOne((const char *)instance, &slot);
    #if PY_VERSION_HEX >= 0x030E0000
        if (value != NULL)
            PyUnstable_EnableTryIncRef(value);
    #endif
        return value;
    }
    static inline void driver_set_shared(PyObject *instance, Py_ssize_t offset, PyObject *value) {
        PyMemberDef slot = {"slot", Py_T_OBJECT_EX, offset, 0, NULL};
        PyMember_SetOne((char *)instance, &slot, value);  /* fails for no value that is one */
    }
    #else
    #define DRIVER_FREE_THREADED 0
    #define driver_shared_slot(instance, offset) NULL
    #define driver_set_shared(instance, offset, value)
    #endif

    /* Where an attribute was found last: in a slot of one class, as long as that class and those
       above it stay as they are. The interpreter gives a class another version when one of them
       changes, and no version twice. */
    typedef struct {
        PyTypeObject *type;
        unsigned int version;
        Py_ssize_t offset;
    } driver_place;

    static PyObject *driver_look_up(PyObject *instance, PyObject *name, driver_place *place) {
    #ifndef Py_GIL_DISABLED
        PyTypeObject *type = Py_TYPE(instance);
        if (type->tp_getattro == PyObject_GenericGetAttr) {
            PyObject *slot = _PyType_Lookup(type, name);
            if (slot != NULL && Py_TYPE(slot) == &PyMemberDescr_Type
                    && PyObject_TypeCheck(instance, ((PyDescrObject *)slot)->d_type)
                    && ((PyMemberDescrObject *)slot)->d_member->type == T_OBJECT_EX
                    && type->tp_version_tag) {
                place->type = type;
                place->version = type->tp_version_tag;
                place->offset = ((PyMemberDescrObject *)slot)->d_member->offset;
            }
        }
    #endif
        return PyObject_GetAttr(instance, name);
    }

    static inline PyObject *driver_attribute(
            PyObject *instance, PyObject *name, driver_place *place) {
    #ifndef Py_GIL_DISABLED
        PyTypeObject *type = Py_TYPE(instance);
        if (type == place->type && type->tp_version_tag == place->version) {
            PyObject *value = *(PyObject **)((char *)instance + place->offset);
            if (value != NULL)
                return Py_NewRef(value);
        }
    #endif
        return driver_look_up(instance, name, place);
    }

    /* A class method or a static one, as it was called last: of one class, as long as that stays as
       it is. */
    typedef struct {
        PyObject *cls;
        PyObject *method;
        unsigned int version;
    } driver_bound;

    static PyObject *driver_bind(PyObject *cls, PyObject *name, driver_bound *bound) {
        PyObject *method = PyObject_GetAttr(cls, name);
    #ifndef Py_GIL_DISABLED
        if (method != NULL && Py_TYPE(cls) == &PyType_Type) {
            PyTypeObject *type = (PyTypeObject *)cls;
            PyObject *found = _PyType_Lookup(type, name);
            if (found != NULL && type->tp_version_tag && (Py_TYPE(found) == &PyClassMethod_Type
                    || Py_TYPE(found) == &PyStaticMethod_Type)) {
                PyObject *cls_before = bound->cls, *method_before = bound->method;
                bound->cls = Py_NewRef(cls);
                bound->method = Py_NewRef(method);
                bound->version = type->tp_version_tag;
                Py_XDECREF(cls_before);
                Py_XDECREF(method_before);
            }
        }
    #endif
        return method;
    }

    static inline PyObject *driver_class_method(
            PyObject *cls, PyObject *name, driver_bound *bound) {
    #ifndef Py_GIL_DISABLED
        if (cls == bound->cls && ((PyTypeObject *)cls)->tp_version_tag == bound->version)
            return Py_NewRef(bound->method);
    #endif
        return driver_bind(cls, name, bound);
    }

    /* A second instance with what the slots of the first have, for this thread alone. */
    static inline PyObject *driver_copied(PyObject *instance) {
        PyTypeObject *type = Py_TYPE(instance);
        PyObject *copy = PyType_GenericAlloc(type, 0);
        Py_ssize_t offset;
        for (offset = sizeof(PyObject); copy != NULL && offset < type->tp_basicsize;
                offset += sizeof(PyObject *)) {
            PyObject *value = driver_shared_slot(instance, offset);
            if (value == NULL)
                PyErr_Clear();
            *(PyObject **)((char *)copy + offset) = value;
        }
        return copy;
    }
    """
    # Whether threads run beside each other: known when this is compiled, so that asking is free.
    const bint FREE_THREADED "DRIVER_FREE_THREADED"
    # Of a class; raises AttributeError or TypeError where there is no such slot.
    Py_ssize_t slot_offset(object cls, const char *name) except -1
    # What an attribute was found by; one for each name and place in the code.
    ctypedef struct Place "driver_place":
        pass
    # An attribute of any object. One in a slot costs some 10 instructions where an object of the
    # same class was met last; another one is looked up by its name.
    object attribute "driver_attribute"(object instance, object name, Place *place)
    # A method of a class as it was bound last; one for each name and place in the code.
    ctypedef struct Bound "driver_bound":
        pass
    # A class method or a static one, to be called; anything else is looked up.
    object class_method "driver_class_method"(object cls, object name, Bound *bound)
    # Of an instance that has nothing but slots.
    object copied "driver_copied"(object instance)
    object shared_slot "driver_shared_slot"(PyObject *instance, Py_ssize_t offset)
    void set_shared "driver_set_shared"(
        PyObject *instance, Py_ssize_t offset, object value
    ) noexcept


cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        void *tp_new
    PyTypeObject PyBaseObject_Type
    PyTypeObject *Py_TYPE(object instance)
    PyObject *_PyType_Lookup(PyTypeObject *cls, object name)
    bint PyMethod_Check(object method)
    PyObject *PyMethod_GET_FUNCTION(object method)
    PyObject *PyMethod_GET_SELF(object method)
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)
    bint PyObject_TypeCheck(object instance, PyTypeObject *type)
    void PyObject_GC_UnTrack(PyObject *instance) noexcept


cdef inline bint is_instance(object instance, PyObject *cls) noexcept:
    """Whether an instance of a class, or of one below it, has its slots where that class does."""
    return PyObject_TypeCheck(instance, <PyTypeObject *>cls)


cdef inline bint has_method(object instance, object name, object method) except -1:
    """Whether a class has this very method under a name, and none of its own over it."""
    if FREE_THREADED:
        return getattr(type(instance), name, None) is method
    return _PyType_Lookup(Py_TYPE(instance), name) == <PyObject *>method


cdef inline object self_of(object method, object function):
    """Whose method it is, if it is the one that this function makes; else None."""
    if PyMethod_Check(method) and PyMethod_GET_FUNCTION(method) == <PyObject *>function:
        return <object>PyMethod_GET_SELF(method)
    return None


cdef inline PyObject *slot_of(PyObject *instance, Py_ssize_t offset) noexcept:
    """What is in a slot, borrowed; NULL if it was never set, or deleted.

    Of an instance that no other thread can reach, or is kept out of by its critical section.
    """
    return (<PyObject **>(<char *>instance + offset))[0]


cdef inline object taken(PyObject *instance, Py_ssize_t offset):
    """What is in a slot; AttributeError if nothing is."""
    cdef PyObject *value
    if FREE_THREADED:
        return shared_slot(instance, offset)
    value = slot_of(instance, offset)
    if value == NULL:
        raise AttributeError("an attribute that is needed was never set, or deleted")
    return <object>value


cdef inline void put(PyObject *instance, Py_ssize_t offset, object value) noexcept:
    """Set a slot, whatever was in it."""
    if FREE_THREADED:
        set_shared(instance, offset, value)
    else:
        put_alone(instance, offset, value)


cdef inline void put_alone(PyObject *instance, Py_ssize_t offset, object value) noexcept:
    """The same, of an instance that no other thread can reach, or is kept out of."""
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


cdef inline object not_collected(object made):
    """A new container that the garbage collector need not look into: it can be in no circle.

    The collector went through 12 containers of each of a thousand requests in flight, again and
    again. Those in which a request may come back to itself are left to it: a request that somebody
    abandons with its cluster has nothing else that ends it.
    """
    PyObject_GC_UnTrack(<PyObject *>made)
    return made


cdef inline bint is_made_by(object cls, object init) except -1:
    """Whether a class makes its instances as ``object`` does, with this ``__init__``."""
    return (
        type(cls) is type
        and (<PyTypeObject *><PyObject *>cls).tp_new == PyBaseObject_Type.tp_new
        and cls.__init__ is init
    )
