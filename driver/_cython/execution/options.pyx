"""Compiled form of driver/execution/options.py: the message of a bound statement in one step."""

from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM

from driver._cython.slots cimport (
    is_instance,
    new_object,
    not_collected,
    set_slot,
    slot_offset,
    taken,
)

from ...execution.options import Options
from ...execution.options import message_for as message_plainly
from ...statements.bound import BoundStatement
from ...statements.prepared import PreparedStatement
from ...wire.requests import ExecuteMessage

__all__ = ["message_for"]

cdef object _Options = Options
cdef object _BoundStatement = BoundStatement
cdef object _PreparedStatement = PreparedStatement
cdef object _ExecuteMessage = ExecuteMessage

cdef Py_ssize_t CONSISTENCY_AT = Options._fields.index("consistency_level")
cdef Py_ssize_t SERIAL_AT = Options._fields.index("serial_consistency_level")
cdef Py_ssize_t FETCH_SIZE_AT = Options._fields.index("fetch_size")
cdef Py_ssize_t PAGING_STATE_AT = Options._fields.index("paging_state")
cdef Py_ssize_t TRACE_AT = Options._fields.index("trace")
cdef Py_ssize_t PAYLOAD_AT = Options._fields.index("custom_payload")
cdef Py_ssize_t MORE_AT = Options._fields.index("more")

cdef Py_ssize_t PREPARED = slot_offset(BoundStatement, b"prepared_statement")
cdef Py_ssize_t VALUES = slot_offset(BoundStatement, b"values")
cdef Py_ssize_t QUERY_ID = slot_offset(PreparedStatement, b"query_id")
cdef Py_ssize_t METADATA = slot_offset(PreparedStatement, b"result_metadata")
cdef Py_ssize_t METADATA_ID = slot_offset(PreparedStatement, b"result_metadata_id")

cdef Py_ssize_t IN_QUERY_ID = slot_offset(ExecuteMessage, b"query_id")
cdef Py_ssize_t IN_METADATA_ID = slot_offset(ExecuteMessage, b"result_metadata_id")
cdef Py_ssize_t IN_VALUES = slot_offset(ExecuteMessage, b"query_params")
cdef Py_ssize_t IN_CONSISTENCY = slot_offset(ExecuteMessage, b"consistency_level")
cdef Py_ssize_t IN_SERIAL = slot_offset(ExecuteMessage, b"serial_consistency_level")
cdef Py_ssize_t IN_FETCH_SIZE = slot_offset(ExecuteMessage, b"fetch_size")
cdef Py_ssize_t IN_PAGING_STATE = slot_offset(ExecuteMessage, b"paging_state")
cdef Py_ssize_t IN_TIMESTAMP = slot_offset(ExecuteMessage, b"timestamp")
cdef Py_ssize_t IN_SKIP_META = slot_offset(ExecuteMessage, b"skip_meta")
cdef Py_ssize_t IN_TRACING = slot_offset(ExecuteMessage, b"tracing")
cdef Py_ssize_t IN_PAYLOAD = slot_offset(ExecuteMessage, b"custom_payload")
cdef Py_ssize_t IN_OPTIONS = slot_offset(ExecuteMessage, b"options")


cdef inline object option(object options, Py_ssize_t at):
    return <object>PyTuple_GET_ITEM(options, at)


def message_for(
    statement, options, protocol_version, encoder, parameters=None, timestamp=None
):
    """The request that executes a statement; see driver/execution/options.py."""
    return message_of(statement, options, protocol_version, encoder, parameters, timestamp)


cdef object message_of(
    object statement, object options, object protocol_version, object encoder,
    object parameters, object timestamp,
):
    cdef object prepared, message
    cdef PyObject *source
    if (
        parameters is None
        and is_instance(statement, <PyObject *>_BoundStatement)
        and type(options) is _Options
        and option(options, PAYLOAD_AT) is None
        and not option(options, MORE_AT)
        and not option(options, TRACE_AT)
    ):
        prepared = taken(<PyObject *>statement, PREPARED)
        if is_instance(prepared, <PyObject *>_PreparedStatement):
            source = <PyObject *>prepared
            message = not_collected(new_object(_ExecuteMessage))
            set_slot(message, IN_QUERY_ID, taken(source, QUERY_ID))
            set_slot(message, IN_VALUES, taken(<PyObject *>statement, VALUES))
            set_slot(message, IN_CONSISTENCY, option(options, CONSISTENCY_AT))
            set_slot(message, IN_SERIAL, option(options, SERIAL_AT))
            set_slot(message, IN_FETCH_SIZE, option(options, FETCH_SIZE_AT))
            set_slot(message, IN_PAGING_STATE, option(options, PAGING_STATE_AT))
            set_slot(message, IN_TIMESTAMP, timestamp)
            set_slot(message, IN_SKIP_META, bool(taken(source, METADATA)))
            set_slot(message, IN_METADATA_ID, taken(source, METADATA_ID))
            set_slot(message, IN_TRACING, False)
            set_slot(message, IN_PAYLOAD, None)
            set_slot(message, IN_OPTIONS, None)
            return message
    return message_plainly(
        statement, options, protocol_version, encoder, parameters, timestamp
    )
