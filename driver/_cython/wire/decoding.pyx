"""Compiled form of driver/wire/decoding.py: a frequent result in one call, without a file object.

What is frequent and as it should be is read here; everything else goes the long way.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_CheckExact, PyDict_GetItemWithError
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport uint64_t
from libc.string cimport memcmp

from driver._cython.instances cimport PyTypeObject, begin, shorten, track
from driver._cython.slots cimport set_slot, slot_offset
from driver._cython.types.marshal cimport read_int32
from driver._cython.wire.rows cimport rows_of

from ...protocol.kinds import RESULT_KIND_ROWS, RESULT_KIND_VOID
from ...protocol.version import ProtocolVersion
from ...wire import row_shape
from ...wire.decoding import FREQUENT, decode_any
from ...wire.frame import COMPRESSED_FLAG
from ...wire.responses.metadata import (
    HAS_MORE_PAGES_FLAG,
    METADATA_CHANGED_FLAG,
    NO_METADATA_FLAG,
)
from ...wire.responses.result import ResultMessage
from ...wire.rows import parse_rows

__all__ = ["decode_message"]

cdef object _parse_rows = parse_rows
cdef object _RowShape = row_shape.RowShape
cdef list _known = row_shape.KNOWN
cdef frozenset _frequent = FREQUENT
cdef int _RESULT = ResultMessage.opcode
cdef object _result_opcode = ResultMessage.opcode
cdef int _ROWS = RESULT_KIND_ROWS
cdef int _VOID = RESULT_KIND_VOID
cdef object _rows_kind = RESULT_KIND_ROWS
cdef object _void_kind = RESULT_KIND_VOID
cdef int _HAS_MORE_PAGES = HAS_MORE_PAGES_FLAG
cdef int _METADATA_CHANGED = METADATA_CHANGED_FLAG
cdef int _NO_METADATA = NO_METADATA_FLAG
cdef int _ONE_TABLE = 1
cdef int _COMPRESSED = COMPRESSED_FLAG
# As in driver/wire/decoding.py: between them segments are compressed, not bodies.
cdef int _SEGMENTS_FROM = ProtocolVersion.V5
cdef int _SEGMENTS_BEFORE = ProtocolVersion.DSE_V1

cdef extern from *:
    """
    /* Numbers that no other class, no other dict and no other state of these has: before CPython
       3.12. They are 0 where there is none, then and later; that stands for nothing known. */
    #if PY_VERSION_HEX < 0x030C0000
    #define driver_tag(cls) \\
        (Py_IS_TYPE(cls, &PyType_Type) \\
            && PyType_HasFeature((PyTypeObject *)(cls), Py_TPFLAGS_VALID_VERSION_TAG) \\
         ? ((PyTypeObject *)(cls))->tp_version_tag : 0)
    #define driver_version(dict) (((PyDictObject *)(dict))->ma_version_tag)
    #define driver_attribute(cls, name) _PyType_Lookup((PyTypeObject *)(cls), name)
    #else
    #define driver_tag(cls) 0
    #define driver_version(dict) 0
    #define driver_attribute(cls, name) NULL
    #endif
    """
    unsigned int tag_of "driver_tag"(object cls) noexcept
    uint64_t version_of "driver_version"(object mapping) noexcept
    PyObject *attribute_of "driver_attribute"(object cls, object name) noexcept

# The handler that was asked last, as it was then: by its number, its classes of messages and that
# of its results. Asking it takes 240 instructions.
cdef unsigned int _asked_tag = 0
cdef dict _asked_types = {}
cdef uint64_t _asked_version = 0
cdef object _asked_type = None


cdef PyObject *_frequent_type(object handler) except? NULL:
    """The class of a handler's results, borrowed; NULL if it is not a frequent one."""
    global _asked_tag, _asked_types, _asked_version, _asked_type
    cdef unsigned int tag = tag_of(handler)
    cdef PyObject *found
    if tag and tag == _asked_tag and version_of(_asked_types) == _asked_version:
        return <PyObject *>_asked_type
    message_types = handler.message_types_by_opcode
    if not PyDict_CheckExact(message_types):
        return NULL
    found = PyDict_GetItemWithError(message_types, _result_opcode)
    if found is NULL or <object>found not in _frequent:
        return NULL
    # What is computed when it is asked for has to be asked for; and only now it has a number.
    if (
        attribute_of(handler, "message_types_by_opcode") is <PyObject *>message_types
        and attribute_of(handler, "column_encryption_policy") is <PyObject *>None
    ):
        _asked_tag = tag_of(handler)
        _asked_types = <dict>message_types
        _asked_version = version_of(message_types)
        _asked_type = <object>found
    return found


# Where a result has what; in what is frequent, all other slots are None.
cdef Py_ssize_t _KIND = slot_offset(ResultMessage, b"kind")
cdef Py_ssize_t _STREAM_ID = slot_offset(ResultMessage, b"stream_id")
cdef Py_ssize_t _IS_LWT = slot_offset(ResultMessage, b"is_lwt")
cdef Py_ssize_t _PAGING_STATE = slot_offset(ResultMessage, b"paging_state")
cdef Py_ssize_t _COLUMN_METADATA = slot_offset(ResultMessage, b"column_metadata")
cdef Py_ssize_t _COLUMN_NAMES = slot_offset(ResultMessage, b"column_names")
cdef Py_ssize_t _COLUMN_TYPES = slot_offset(ResultMessage, b"column_types")
cdef Py_ssize_t _PARSED_ROWS = slot_offset(ResultMessage, b"parsed_rows")

shorten(ResultMessage, len(ResultMessage.__slots__))


cdef object _void(object message_type, object stream_id):
    """What the ``__init__`` of a message and the long way set."""
    message = begin(<PyTypeObject *><PyObject *>message_type, 3)
    set_slot(message, _KIND, _void_kind)
    set_slot(message, _STREAM_ID, stream_id)
    set_slot(message, _IS_LWT, False)
    track(message)
    return message


cdef object _rows(
    object message_type, object stream_id, object paging_state, object columns, object names,
    object types, object rows
):
    message = begin(<PyTypeObject *><PyObject *>message_type, 8)
    set_slot(message, _KIND, _rows_kind)
    set_slot(message, _STREAM_ID, stream_id)
    set_slot(message, _IS_LWT, False)
    set_slot(message, _PAGING_STATE, paging_state)
    set_slot(message, _COLUMN_METADATA, columns)
    set_slot(message, _COLUMN_NAMES, names)
    set_slot(message, _COLUMN_TYPES, types)
    set_slot(message, _PARSED_ROWS, rows)
    track(message)
    return message


cdef object _known_shape(
    const unsigned char *at, Py_ssize_t left, int flags, int column_count, Py_ssize_t *size
):
    """The shape that these columns have had before, and how long they are; None if they had none.

    As ``known_shape``: bytes are compared, nothing is read.
    """
    cdef const unsigned char *head
    cdef object known, columns
    cdef Py_ssize_t i = 0
    while i < PyList_GET_SIZE(_known):
        known = _known[i]
        columns = <object>PyTuple_GET_ITEM(known, 1)
        i += 1
        head = <const unsigned char *>PyBytes_AS_STRING(<object>PyTuple_GET_ITEM(known, 0))
        if read_int32(head + 4) != column_count or read_int32(head) != flags & _ONE_TABLE:
            continue
        size[0] = PyBytes_GET_SIZE(columns)
        if size[0] <= left and not memcmp(at, PyBytes_AS_STRING(columns), size[0]):
            return <object>PyTuple_GET_ITEM(known, 2)
    return None


cdef object _frequent_result(
    object handler, object message_type, int protocol_version, object stream_id, bytes body,
    object result_metadata
):
    """VOID, or ROWS of a shape that is known; None for everything else."""
    cdef const unsigned char *at = <const unsigned char *>PyBytes_AS_STRING(body)
    cdef const unsigned char *end = at + PyBytes_GET_SIZE(body)
    cdef int kind, flags, column_count
    cdef Py_ssize_t size = 0
    cdef object paging_state = None
    cdef object columns = None
    cdef object shape, parser, policy, rows, names, types, deserializers
    if end - at < 4:
        return None
    kind = read_int32(at)
    if kind == _VOID:
        return _void(message_type, stream_id)
    if kind != _ROWS or end - at < 12:
        return None
    flags = read_int32(at + 4)
    column_count = read_int32(at + 8)
    at += 12
    if flags & _HAS_MORE_PAGES:
        if end - at < 4:
            return None
        size = max(read_int32(at), 0)
        at += 4
        if end - at < size:
            return None
        paging_state = <bytes>at[:size]
        at += size
    if flags & _METADATA_CHANGED:
        return None
    if flags & _NO_METADATA:
        shape = result_metadata
    else:
        shape = columns = _known_shape(at, end - at, flags, column_count, &size)
        at += size
    if not isinstance(shape, _RowShape) or len(shape) != column_count:
        return None
    parser = message_type.row_parser
    policy = None if tag_of(handler) and tag_of(handler) == _asked_tag else (
        handler.column_encryption_policy
    )
    size = at - <const unsigned char *>PyBytes_AS_STRING(body)
    names, types, deserializers = <tuple?>shape.parts
    if parser is _parse_rows:
        rows = rows_of(body, size, shape, deserializers, protocol_version, policy)
    else:
        rows = parser(body, size, shape, deserializers, protocol_version, policy)
    return _rows(message_type, stream_id, paging_state, columns, names, types, rows)


def decode_message(
    handler, int protocol_version, protocol_features, user_type_map, stream_id, int flags,
    int opcode, body, decompressor, result_metadata
):
    """A response from the body of its frame; see driver/wire/decoding.py."""
    cdef PyObject *message_type
    if (
        flags == _COMPRESSED
        and decompressor is not None
        and not _SEGMENTS_FROM <= protocol_version < _SEGMENTS_BEFORE
    ):
        # What comes out may be frequent.
        body = decompressor(body)
        flags = 0
        decompressor = None
    if flags == 0 and opcode == _RESULT and PyBytes_CheckExact(body):
        message_type = _frequent_type(handler)
        if message_type is not NULL:
            found = _frequent_result(
                handler, <object>message_type, protocol_version, stream_id, <bytes>body,
                result_metadata,
            )
            if found is not None:
                return found
    return decode_any(
        handler, protocol_version, protocol_features, user_type_map, stream_id, flags, opcode,
        body, decompressor, result_metadata,
    )
