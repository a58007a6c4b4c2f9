/* What a step of a request takes at least: C that does this and nothing else, without any check.
 *
 * The values become the bytes that they have on the wire, or the other way round, and Python gets
 * the objects that it asks for. Inputs are trusted: this is a yardstick, not a driver.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

static inline uint32_t from_wire(const char *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

static inline void to_wire32(char *at, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(at, &value, 4);
}

static inline void float_to_wire(char *at, double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    to_wire32(at, bits);
}

/* vector(list of float) -> the bytes of a vector<float>. */
static PyObject *vector(PyObject *module, PyObject *values) {
    Py_ssize_t count = PyList_GET_SIZE(values);
    PyObject *made = PyBytes_FromStringAndSize(NULL, 4 * count);
    char *at = PyBytes_AS_STRING(made);
    for (Py_ssize_t i = 0; i < count; i++)
        float_to_wire(at + 4 * i, PyFloat_AS_DOUBLE(PyList_GET_ITEM(values, i)));
    return made;
}

/* scalars(values, kinds) -> a list of bytes; a kind is i, f or d: int, float, double. */
static PyObject *scalars(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    PyObject *values = given[0], *made = PyList_New(PyTuple_GET_SIZE(values));
    const char *kinds = PyBytes_AS_STRING(given[1]);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values); i++) {
        PyObject *value = PyTuple_GET_ITEM(values, i);
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, kinds[i] == 'd' ? 8 : 4);
        char *at = PyBytes_AS_STRING(bytes);
        if (kinds[i] == 'i')
            to_wire32(at, (uint32_t)PyLong_AsLong(value));
        else if (kinds[i] == 'f')
            float_to_wire(at, PyFloat_AS_DOUBLE(value));
        else {
            double number = PyFloat_AS_DOUBLE(value);
            uint64_t bits;
            memcpy(&bits, &number, 8);
            bits = __builtin_bswap64(bits);
            memcpy(at, &bits, 8);
        }
        PyList_SET_ITEM(made, i, bytes);
    }
    return made;
}

/* ints(body, position of the first row, rows, columns) and texts(...) -> a list of tuples. */
static PyObject *rows_of(PyObject *const *given, int are_texts) {
    const char *at = PyBytes_AS_STRING(given[0]) + PyLong_AsLong(given[1]);
    Py_ssize_t count = PyLong_AsLong(given[2]), columns = PyLong_AsLong(given[3]);
    PyObject *rows = PyList_New(count);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *row = PyTuple_New(columns);
        for (Py_ssize_t j = 0; j < columns; j++) {
            uint32_t size = from_wire(at);
            PyObject *value;
            if (are_texts) {
                value = PyUnicode_New(size, 127);
                memcpy(PyUnicode_DATA(value), at + 4, size);
            } else
                value = PyLong_FromLong((int32_t)from_wire(at + 4));
            PyTuple_SET_ITEM(row, j, value);
            at += 4 + size;
        }
        PyList_SET_ITEM(rows, i, row);
    }
    return rows;
}

static PyObject *ints(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    return rows_of(given, 0);
}

static PyObject *texts(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    return rows_of(given, 1);
}

/* Key(parts): an object whose routing_key is made of a list of bytes and kept in _routing_key. */
typedef struct {
    PyObject_HEAD
    PyObject *parts, *kept;
} Key;

static PyObject *key_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    Key *self = (Key *)type->tp_alloc(type, 0);
    self->parts = Py_NewRef(PyTuple_GET_ITEM(args, 0));
    self->kept = Py_NewRef(Py_None);
    return (PyObject *)self;
}

static void key_end(Key *self) {
    Py_DECREF(self->parts);
    Py_DECREF(self->kept);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *key_get(Key *self, void *closure) {
    Py_ssize_t count = PyList_GET_SIZE(self->parts), size = 0;
    PyObject *before = self->kept, *made;
    if (before != Py_None)
        return Py_NewRef(before);
    if (count == 1)
        made = Py_NewRef(PyList_GET_ITEM(self->parts, 0));
    else {
        for (Py_ssize_t i = 0; i < count; i++)
            size += 3 + PyBytes_GET_SIZE(PyList_GET_ITEM(self->parts, i));
        made = PyBytes_FromStringAndSize(NULL, size);
        char *at = PyBytes_AS_STRING(made);
        for (Py_ssize_t i = 0; i < count; i++) {
            PyObject *part = PyList_GET_ITEM(self->parts, i);
            Py_ssize_t length = PyBytes_GET_SIZE(part);
            *at++ = (char)(length >> 8);
            *at++ = (char)length;
            memcpy(at, PyBytes_AS_STRING(part), length);
            at += length;
            *at++ = 0;
        }
    }
    self->kept = Py_NewRef(made);
    Py_DECREF(before);
    return made;
}

static PyMemberDef key_members[] = {
    {"_routing_key", T_OBJECT_EX, offsetof(Key, kept), 0, NULL}, {NULL}};
static PyGetSetDef key_attributes[] = {{"routing_key", (getter)key_get, NULL, NULL, NULL}, {NULL}};
static PyTypeObject key_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "against_limits.Key",
    .tp_basicsize = sizeof(Key),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = key_new,
    .tp_dealloc = (destructor)key_end,
    .tp_members = key_members,
    .tp_getset = key_attributes,
};

static PyMethodDef functions[] = {
    {"vector", vector, METH_O, NULL},
    {"scalars", (PyCFunction)(void (*)(void))scalars, METH_FASTCALL, NULL},
    {"ints", (PyCFunction)(void (*)(void))ints, METH_FASTCALL, NULL},
    {"texts", (PyCFunction)(void (*)(void))texts, METH_FASTCALL, NULL},
    {NULL}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "against_limits", NULL, -1, functions};

PyMODINIT_FUNC PyInit_against_limits(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddType(module, &key_type) < 0)
        return NULL;
    return module;
}
