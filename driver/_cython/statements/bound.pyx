"""Compiled form of driver/statements/bound.py: values to a bound statement in one call.

The classes are the pure module's; what every request calls of them is here, and reads and sets
their slots where they are. What is unusual, such as a dict of values, is left to their other
methods.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.list cimport PyList_CheckExact, PyList_GET_SIZE, PyList_New
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Fast_GET_ITEM, PySequence_Fast_GET_SIZE
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE

from driver._cython.slots cimport (
    FREE_THREADED,
    has_method,
    is_instance,
    not_collected,
    put,
    put_alone,
    slot_offset,
    taken,
)
from driver._cython.statements.routing_key cimport packed
from driver._cython.types.serializers cimport ValuesSerializer

from ...protocol.columns import ColumnMetadata
from ...statements import bound as pure

cdef extern from "Python.h":
    void Py_SET_SIZE(object sequence, Py_ssize_t size)

cdef extern from *:
    """
    #define driver_is_set(flag) __atomic_load_n(&flag, __ATOMIC_ACQUIRE)
    #define driver_set(flag) __atomic_store_n(&flag, 1, __ATOMIC_RELEASE)

    /* An attribute of a class with functions of C; neither they nor its texts are ever freed. */
    static PyObject *attribute_of(
        PyObject *cls, const char *name, getter get, setter set, PyObject *doc
    ) {
        PyGetSetDef *attribute = PyMem_Calloc(1, sizeof(PyGetSetDef));
        if (attribute == NULL)
            return PyErr_NoMemory();
        attribute->name = name;
        attribute->get = get;
        attribute->set = set;
        attribute->doc = PyUnicode_AsUTF8(Py_NewRef(doc));
        return PyDescr_NewGetSet((PyTypeObject *)cls, attribute);
    }

    static PyObject *new_instance(PyObject *cls, PyObject *nothing) {
        return ((PyTypeObject *)cls)->tp_new((PyTypeObject *)cls, nothing, NULL);
    }
    """
    # Whoever sees a flag set sees what was written before that.
    bint is_set "driver_is_set"(int flag) noexcept
    void set_flag "driver_set"(int flag) noexcept
    # Of a class, without its __init__; nothing is an empty tuple.
    object new_instance(object cls, object nothing)
    ctypedef object (*getter)(object self, void *closure)
    ctypedef int (*setter)(object self, PyObject *value, void *closure) except -1
    object attribute_of(object cls, const char *name, getter get, setter set, str doc)

__all__ = ["bind_prepared"]

cdef object BoundStatement = pure.BoundStatement
cdef tuple CANNOT_SERIALIZE = pure._CANNOT_SERIALIZE
cdef object bind_plainly = pure.BoundStatement.bind
cdef object routing_key_plainly = pure.BoundStatement.routing_key.fget
cdef tuple _NOTHING = ()
cdef object _ColumnMetadata = ColumnMetadata
cdef Py_ssize_t KEYSPACE_AT = ColumnMetadata._fields.index("keyspace_name")
cdef Py_ssize_t TABLE_AT = ColumnMetadata._fields.index("table_name")

# PreparedStatement's module imports this one: its slots are looked up for the first statement.
cdef object PreparedStatement = None
cdef int _is_learnt = 0

cdef enum:
    # Parts of a key; one with more is left to the pure method.
    MOST_PARTS = 16

cdef struct Options:
    Py_ssize_t retry_policy
    Py_ssize_t consistency
    Py_ssize_t fetch_size
    Py_ssize_t custom_payload
    Py_ssize_t is_idempotent

cdef Options OF_BOUND
cdef Options OF_PREPARED


cdef Options options_of(object cls):
    cdef Options found
    found.retry_policy = slot_offset(cls, "retry_policy")
    found.consistency = slot_offset(cls, "consistency_level")
    found.fetch_size = slot_offset(cls, "fetch_size")
    found.custom_payload = slot_offset(cls, "custom_payload")
    found.is_idempotent = slot_offset(cls, "is_idempotent")
    return found


OF_BOUND = options_of(BoundStatement)
cdef Py_ssize_t PREPARED = slot_offset(BoundStatement, "prepared_statement")
cdef Py_ssize_t VALUES = slot_offset(BoundStatement, "values")
cdef Py_ssize_t RAW_VALUES = slot_offset(BoundStatement, "raw_values")
cdef Py_ssize_t ROUTING_KEY = slot_offset(BoundStatement, "_routing_key")
cdef Py_ssize_t SERIAL = slot_offset(BoundStatement, "_serial_consistency_level")
cdef Py_ssize_t KEYSPACE = slot_offset(BoundStatement, "keyspace")
cdef Py_ssize_t TABLE = slot_offset(BoundStatement, "table")
cdef Py_ssize_t MARKERS = -1
cdef Py_ssize_t SERIALIZER = -1
cdef Py_ssize_t VERSION = -1
cdef Py_ssize_t POLICY = -1
cdef Py_ssize_t KEY_OF = -1
cdef Py_ssize_t KEY_MARKERS = -1
cdef Py_ssize_t SERIAL_OF_PREPARED = -1


cdef int learn_prepared() except -1:
    """Look up where prepared statements keep what binding asks of them."""
    global PreparedStatement, OF_PREPARED
    global MARKERS, SERIALIZER, VERSION, POLICY, KEY_OF, KEY_MARKERS, SERIAL_OF_PREPARED
    from ...statements.prepared import PreparedStatement as found

    OF_PREPARED = options_of(found)
    MARKERS = slot_offset(found, "column_metadata")
    SERIALIZER = slot_offset(found, "serializer")
    VERSION = slot_offset(found, "protocol_version")
    POLICY = slot_offset(found, "column_encryption_policy")
    KEY_OF = slot_offset(found, "key_of")
    KEY_MARKERS = slot_offset(found, "_key_markers")
    SERIAL_OF_PREPARED = slot_offset(found, "serial_consistency_level")
    PreparedStatement = found
    set_flag(_is_learnt)
    return 0


cdef inline bint is_prepared(object prepared) except -1:
    """Whether its slots are where they are expected."""
    if not is_set(_is_learnt):
        learn_prepared()
    return is_instance(prepared, <PyObject *>PreparedStatement)


def bind(self, values):
    """Serialise values for the bind markers; see driver/statements/bound.py."""
    cdef object prepared
    if not is_instance(self, <PyObject *>BoundStatement):
        raise TypeError(f"bind needs a BoundStatement, not a {type(self).__name__}")
    prepared = taken(<PyObject *>self, PREPARED)
    if not is_prepared(prepared):
        return bind_plainly(self, values)
    return fill(self, prepared, taken(<PyObject *>prepared, MARKERS), values)


def bind_prepared(self, values):
    """A statement of a prepared one and values; see driver/statements/bound.py."""
    if not is_prepared(self):
        raise TypeError(f"bind needs a PreparedStatement, not a {type(self).__name__}")
    return new_bound(self, values)


cdef object bound_to(object prepared, object values):
    """A statement as a prepared one binds it, which may be of a class of somebody's own."""
    if is_prepared(prepared) and has_method(prepared, "bind", _bind_prepared):
        return new_bound(prepared, values)
    return prepared.bind(values)


cdef object new_bound(object self, object values):
    cdef object statement, markers, first, option
    cdef PyObject *target
    cdef PyObject *source = <PyObject *>self
    statement = new_instance(BoundStatement, _NOTHING)
    # What its __init__ does with nothing but a prepared statement.
    target = <PyObject *>statement
    put_alone(target, PREPARED, self)
    put_alone(target, OF_BOUND.retry_policy, taken(source, OF_PREPARED.retry_policy))
    put_alone(target, OF_BOUND.consistency, taken(source, OF_PREPARED.consistency))
    put_alone(target, OF_BOUND.fetch_size, taken(source, OF_PREPARED.fetch_size))
    put_alone(target, OF_BOUND.custom_payload, taken(source, OF_PREPARED.custom_payload))
    put_alone(target, OF_BOUND.is_idempotent, taken(source, OF_PREPARED.is_idempotent))
    put_alone(target, ROUTING_KEY, None)
    put_alone(target, SERIAL, None)
    option = taken(source, SERIAL_OF_PREPARED)
    if option is not None:
        statement.serial_consistency_level = option
    markers = taken(source, MARKERS)
    if not markers:
        put_alone(target, KEYSPACE, None)
        put_alone(target, TABLE, None)
    else:
        first = markers[0]
        if type(first) is _ColumnMetadata:
            put_alone(target, KEYSPACE, <object>PyTuple_GET_ITEM(first, KEYSPACE_AT))
            put_alone(target, TABLE, <object>PyTuple_GET_ITEM(first, TABLE_AT))
        else:
            put_alone(target, KEYSPACE, first.keyspace_name)
            put_alone(target, TABLE, first.table_name)
    return fill(statement, self, markers, values)


cdef object fill(object statement, object prepared, object markers, object values):
    """Give a statement its values; the statement."""
    cdef PyObject *target = <PyObject *>statement
    cdef object given, found, policy, serializer
    cdef Py_ssize_t count = len(markers)
    cdef int version = taken(<PyObject *>prepared, VERSION)
    if (PyTuple_CheckExact(values) or PyList_CheckExact(values)) and (
        PySequence_Fast_GET_SIZE(values) == count
    ):
        given = values  # as nearly always
    else:
        given = statement._in_marker_order(values)
    if FREE_THREADED:
        given = tuple(given)  # of which no other thread takes one away
    policy = taken(<PyObject *>prepared, POLICY)
    if policy is not None:
        found = []
        statement._serialize_encrypted(found, given, policy)
    else:
        found = not_collected(PyList_New(count))  # what it is filled with refers to nothing
        Py_SET_SIZE(found, 0)
        serializer = taken(<PyObject *>prepared, SERIALIZER)
        try:
            (<ValuesSerializer?>serializer).fill(found, given, version)
        except CANNOT_SERIALIZE as exc:
            statement._refuse(found, given, exc)
    if PyList_GET_SIZE(found) < count:
        statement._leave_unset(found, given)
    # Only now, and as a whole: other threads may bind this statement as well.
    put(target, RAW_VALUES, given)
    put(target, VALUES, found)
    if taken(<PyObject *>prepared, KEY_OF) is not None:
        put(target, ROUTING_KEY, None)
    return statement


cdef object key_of(object self):
    """The partition key of the bound values; see driver/statements/bound.py.

    What the key's markers have is taken from the list of values as it is: one part is that very
    object, several are copied into one.
    """
    cdef PyObject *target = <PyObject *>self
    cdef PyObject *parts[MOST_PARTS]
    cdef object key, prepared, markers, values
    cdef unsigned char *at
    cdef Py_ssize_t i, count
    key = taken(target, ROUTING_KEY)
    if key is not None:
        return key
    prepared, values = taken(target, PREPARED), taken(target, VALUES)
    if not is_prepared(prepared) or not PyList_CheckExact(values):
        return routing_key_plainly(self)
    count = PyList_GET_SIZE(values)
    if FREE_THREADED:
        values = tuple(values)  # of which no other thread takes one away
        count = PyTuple_GET_SIZE(values)
    markers = taken(<PyObject *>prepared, KEY_MARKERS)
    if not PyBytes_CheckExact(markers) or not 0 < PyBytes_GET_SIZE(markers) <= MOST_PARTS:
        return routing_key_plainly(self)
    at = <unsigned char *>PyBytes_AS_STRING(markers)
    for i in range(PyBytes_GET_SIZE(markers)):
        if at[i] >= count:
            return routing_key_plainly(self)
        parts[i] = PySequence_Fast_GET_ITEM(values, at[i])
    if PyBytes_GET_SIZE(markers) > 1:
        key = packed(parts, PyBytes_GET_SIZE(markers))
        if key is None:
            return routing_key_plainly(self)
    elif PyBytes_CheckExact(<object>parts[0]):
        key = <object>parts[0]
    else:
        return routing_key_plainly(self)
    put(target, ROUTING_KEY, key)
    return key


cdef object get_key(object self, void *closure):
    return key_of(self)


cdef int set_key(object self, PyObject *key, void *closure) except -1:
    """Set it, or forget it where there is none."""
    if key == NULL:
        put(<PyObject *>self, ROUTING_KEY, None)
    else:
        self._set_routing_key(<object>key)
    return 0


# A property of Python's costs a key 100 instructions more.
METHODS = {
    "BoundStatement.bind": bind,
    "BoundStatement.routing_key": attribute_of(
        BoundStatement, "routing_key", get_key, set_key,
        pure.BoundStatement.routing_key.__doc__ or "",
    ),
}

cdef object _bind_prepared = bind_prepared
