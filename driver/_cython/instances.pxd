"""How instances of a Python class that keeps all it has in slots are made and ended, in short.

The interpreter ends an instance of any class written in Python by a function that looks for a
finaliser, a dictionary, weak references and base classes, and goes through a table of slots: 500
instructions for the 18 slots of a result. Of a class that was looked at once, the slots are what is
left. The class stays plain Python, and so do its subclasses, whose instances are ended by the
interpreter's function, which calls this one for the slots of their base.
"""

from cpython.object cimport PyObject


cdef extern from *:
    """
    /* A few instances that ended, whose memory is used again; of one class a module. */
    #define DRIVER_SPARES 8
    static PyTypeObject *driver_shortened = NULL;
    static PyObject *driver_spare[DRIVER_SPARES];
    static int driver_spares = 0;

    /* Since None counts no references, there are none to be counted in one go. */
    #if PY_VERSION_HEX < 0x030C0000
    #define DRIVER_REFERENCES_OF_NONE(count) (Py_None->ob_refcnt += (count))
    #else
    #define DRIVER_REFERENCES_OF_NONE(count) ((void)(count))
    #endif

    static void driver_end(PyObject *self)
    {
        PyTypeObject *type = Py_TYPE(self), *owner = type;
        PyObject **slot = (PyObject **)(self + 1), **end;
        Py_ssize_t nones;
        while (owner->tp_dealloc != driver_end)
            owner = owner->tp_base;
        /* A finaliser of a subclass has run. */
        if (owner == type && type->tp_finalize != NULL
                && PyObject_CallFinalizerFromDealloc(self) < 0)
            return;
        PyObject_GC_UnTrack(self);
        end = (PyObject **)((char *)self + owner->tp_basicsize);
        nones = end - slot;
        for (; slot < end; slot++) {
            if (*slot != Py_None) {
                nones--;
                Py_XDECREF(*slot);
            }
        }
        DRIVER_REFERENCES_OF_NONE(-nones);
        if (type == driver_shortened && type->tp_finalize == NULL
                && driver_spares < DRIVER_SPARES)
            driver_spare[driver_spares++] = self;
        else
            type->tp_free(self);
        Py_DECREF(type);
    }

    /* From now on instances of this class, which has `count` slots, end by the function above. */
    static int driver_shorten(PyObject *cls, Py_ssize_t count)
    {
        PyTypeObject *type = (PyTypeObject *)cls;
        if (type->tp_basicsize != (Py_ssize_t)(sizeof(PyObject) + count * sizeof(PyObject *))
                || type->tp_itemsize || type->tp_dictoffset || type->tp_weaklistoffset
                || type->tp_finalize || type->tp_del || !PyType_IS_GC(type)) {
            PyErr_Format(PyExc_TypeError, "%R has more than %zd slots", cls, count);
            return -1;
        }
    #ifndef Py_GIL_DISABLED
        type->tp_dealloc = driver_end;
        driver_shortened = type;
        Py_INCREF(type);
    #endif
        return 0;
    }

    /* An instance of the class or of one below it that adds no slot, with None in all of its
       slots. `filled` of them are written over next: their references are not counted. The
       collector is told of it then, by PyObject_GC_Track. */
    static inline PyObject *driver_begin(PyTypeObject *type, Py_ssize_t filled)
    {
        PyObject *self, **slot, **end;
        if (type == driver_shortened && driver_spares)
            self = PyObject_Init(driver_spare[--driver_spares], type);
        else {
            self = _PyObject_GC_New(type);
            if (self == NULL)
                return NULL;
        }
        slot = (PyObject **)(self + 1);
        end = (PyObject **)((char *)self + type->tp_basicsize);
        DRIVER_REFERENCES_OF_NONE(end - slot - filled);
        while (slot < end)
            *slot++ = Py_None;
        return self;
    }
    """
    ctypedef struct PyTypeObject:
        pass
    int shorten "driver_shorten"(object cls, Py_ssize_t count) except -1
    object begin "driver_begin"(PyTypeObject *cls, Py_ssize_t filled)
    void track "PyObject_GC_Track"(object instance)
