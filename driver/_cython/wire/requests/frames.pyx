"""Compiled form of driver/wire/requests/frames.py: header and body in one piece of their size.

What a session sends is written here: QUERY, EXECUTE and BATCH of these very classes, first
measured, then written. Whatever else a message may be or hold, down to values that no server takes,
is left to the pure function, so that bytes, exceptions and their words are its.

Long, because what measures a message and what writes it have to agree to the byte: they stand in
one file.
"""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.exc cimport PyErr_Clear
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_Check
from cpython.object cimport PyObject, PyObject_IsTrue
from cpython.sequence cimport PySequence_Fast_GET_ITEM, PySequence_Fast_GET_SIZE
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport (
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    UINT8_MAX,
    UINT16_MAX,
    int32_t,
    uint8_t,
    uint16_t,
    uint64_t,
)
from libc.string cimport memcpy

from driver._cython.slots cimport FREE_THREADED, copied, put_alone, slot_of, slot_offset
from driver._cython.types.marshal cimport write_int32, write_uint16, write_uint32, write_uint64
from driver._cython.wire.compression cimport compress_into, new_bytes, room_for, shortened

from ....protocol.version import ProtocolVersion
from ....protocol.unset import UNSET_VALUE
from ....wire import frame as framing
from ....wire.compression import locally_supported_compressions
from ....wire.requests.batch import BatchMessage
from ....wire.requests.frames import encode_message as encode_plainly
from ....wire.requests import query
from ....wire.requests.query import ExecuteMessage, QueryMessage, ScyllaExecuteMessage

cdef extern from "Python.h":
    # The text keeps what it gives: one that is sent again is not encoded again.
    const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size)

__all__ = ["encode_message"]

cdef long V4 = ProtocolVersion.V4
cdef long V5 = ProtocolVersion.V5
cdef long DSE_V1 = ProtocolVersion.DSE_V1
cdef unsigned int COMPRESSED = framing.COMPRESSED_FLAG
cdef unsigned int TRACING = framing.TRACING_FLAG
cdef unsigned int USE_BETA = framing.USE_BETA_FLAG
cdef unsigned int VALUES = query.VALUES_FLAG
cdef unsigned int SKIP_METADATA = query.SKIP_METADATA_FLAG
cdef unsigned int PAGE_SIZE = query.PAGE_SIZE_FLAG
cdef unsigned int WITH_PAGING_STATE = query.WITH_PAGING_STATE_FLAG
cdef unsigned int WITH_SERIAL_CONSISTENCY = query.WITH_SERIAL_CONSISTENCY_FLAG
cdef unsigned int DEFAULT_TIMESTAMP = query.DEFAULT_TIMESTAMP_FLAG

cdef enum:
    HEADER = 9

cdef object _QUERY = QueryMessage
cdef object _EXECUTE = ExecuteMessage
cdef object _SCYLLA_EXECUTE = ScyllaExecuteMessage
cdef object _BATCH = BatchMessage
cdef tuple _WRITTEN_HERE = (QueryMessage, ExecuteMessage, ScyllaExecuteMessage, BatchMessage)
cdef object _UNSET = UNSET_VALUE
cdef object _LZ4 = locally_supported_compressions.get("lz4", (None,))[0]

# Where instances of the three classes keep what they say.
cdef Py_ssize_t QUERY_TEXT = slot_offset(QueryMessage, "query")
cdef Py_ssize_t EXECUTE_ID = slot_offset(ExecuteMessage, "query_id")
cdef Py_ssize_t EXECUTE_METADATA_ID = slot_offset(ExecuteMessage, "result_metadata_id")
cdef Py_ssize_t EXECUTE_BLOCK = slot_offset(ScyllaExecuteMessage, "tablet_version_block")
cdef Py_ssize_t BATCH_TYPE = slot_offset(BatchMessage, "batch_type")
cdef Py_ssize_t BATCH_QUERIES = slot_offset(BatchMessage, "queries")

cdef struct Slots:
    Py_ssize_t consistency
    Py_ssize_t serial
    Py_ssize_t timestamp
    Py_ssize_t tracing
    Py_ssize_t custom_payload
    Py_ssize_t options
    # Of QUERY and EXECUTE only.
    Py_ssize_t values
    Py_ssize_t skip_meta
    Py_ssize_t fetch_size
    Py_ssize_t paging_state


cdef Slots slots_of(object cls, bint has_values):
    cdef Slots found
    found.consistency = slot_offset(cls, "consistency_level")
    found.serial = slot_offset(cls, "serial_consistency_level")
    found.timestamp = slot_offset(cls, "timestamp")
    found.tracing = slot_offset(cls, "tracing")
    found.custom_payload = slot_offset(cls, "custom_payload")
    found.options = slot_offset(cls, "options")
    found.values = slot_offset(cls, "query_params") if has_values else -1
    found.skip_meta = slot_offset(cls, "skip_meta") if has_values else -1
    found.fetch_size = slot_offset(cls, "fetch_size") if has_values else -1
    found.paging_state = slot_offset(cls, "paging_state") if has_values else -1
    return found


# QUERY and EXECUTE have them from their common base, at the same places.
cdef Slots IN_QUERY = slots_of(QueryMessage, True)
cdef Slots IN_BATCH = slots_of(BatchMessage, False)


cdef struct Text:
    const char *data
    Py_ssize_t size


cdef struct Message:
    # What is to be written, borrowed from the message, and its size in bytes. Nothing that runs
    # between measuring and writing can change the message.
    Py_ssize_t size
    uint8_t opcode
    unsigned int frame_flags
    # QUERY's text; EXECUTE's ids; BATCH's type and queries.
    Text first
    Text second
    bint has_second
    long long batch_type
    PyObject *queries
    # <query_parameters>, of which a BATCH has some.
    bint has_int_flags
    unsigned int flags
    long long consistency
    long long serial
    long long fetch_size
    long long timestamp
    PyObject *values
    PyObject *paging_state
    PyObject *options


cdef object own(object message):
    """A message, and its values, that no other thread changes while they are written."""
    cdef object values
    message = copied(message)
    if type(message) is _BATCH:
        values = message.queries
        if PyList_CheckExact(values) or PyTuple_CheckExact(values):
            values = tuple([own_query(each) for each in values])
            put_alone(<PyObject *>message, BATCH_QUERIES, values)
    else:
        values = message.query_params
        if PyList_CheckExact(values):
            put_alone(<PyObject *>message, IN_QUERY.values, tuple(values))
    return message


cdef object own_query(object entry):
    """The same of an entry of a batch."""
    if PyTuple_CheckExact(entry) and len(entry) == 3 and PyList_CheckExact(entry[2]):
        return entry[0], entry[1], tuple(entry[2])
    return entry


cdef inline bint is_integer(PyObject *value, long long low, long long high, long long *number):
    """An int within bounds; false for anything else."""
    cdef int overflow = 0
    if value == NULL or not PyLong_Check(<object>value):
        return False
    number[0] = PyLong_AsLongLongAndOverflow(<object>value, &overflow)
    return not overflow and low <= number[0] <= high


cdef inline bint is_text(PyObject *value, Py_ssize_t most, Text *text):
    """A str as UTF-8, or bytes; false for anything else."""
    if value == NULL:
        return False
    if PyUnicode_CheckExact(<object>value):
        text.data = PyUnicode_AsUTF8AndSize(value, &text.size)
        if text.data == NULL:
            PyErr_Clear()
            return False
    elif PyBytes_CheckExact(<object>value):
        text.data = PyBytes_AS_STRING(<object>value)
        text.size = PyBytes_GET_SIZE(<object>value)
    else:
        return False
    return text.size <= most


cdef inline bint is_id(PyObject *value, Text *text):
    """Bytes that fit into [short bytes]; false for anything else."""
    return value != NULL and PyBytes_CheckExact(<object>value) and is_text(value, UINT16_MAX, text)


cdef Py_ssize_t size_of_values(PyObject *values, long version):
    """Of <n><value_1>...; -1 if they are no list of bytes, nulls and what is not set."""
    cdef Py_ssize_t i, count, size
    cdef PyObject *item
    if values == NULL:
        return -1
    if not (PyList_CheckExact(<object>values) or PyTuple_CheckExact(<object>values)):
        return -1
    count = PySequence_Fast_GET_SIZE(<object>values)
    if count > UINT16_MAX:
        return -1
    size = 2 + 4 * count
    for i in range(count):
        item = PySequence_Fast_GET_ITEM(<object>values, i)
        if PyBytes_CheckExact(<object>item):
            if PyBytes_GET_SIZE(<object>item) > INT32_MAX:
                return -1
            size += PyBytes_GET_SIZE(<object>item)
        elif <object>item is not None and (<object>item is not _UNSET or version < V4):
            return -1
    return size


cdef inline unsigned char *write_text(
    unsigned char *target, const char *data, Py_ssize_t size
) noexcept:
    memcpy(target, data, size)
    return target + size


cdef inline unsigned char *write_long_text(unsigned char *target, Text text) noexcept:
    """An [int] n and n bytes; the place behind."""
    write_int32(target, <int32_t>text.size)
    return write_text(target + 4, text.data, text.size)


cdef inline unsigned char *write_short_text(unsigned char *target, Text text) noexcept:
    """A [short] n and n bytes; the place behind."""
    write_uint16(target, <uint16_t>text.size)
    return write_text(target + 2, text.data, text.size)


cdef unsigned char *write_values(unsigned char *target, PyObject *values) noexcept:
    """<n><value_1>..., as they were measured; the place behind."""
    cdef Py_ssize_t i, size, count = PySequence_Fast_GET_SIZE(<object>values)
    cdef PyObject *item
    write_uint16(target, <uint16_t>count)
    target += 2
    for i in range(count):
        item = PySequence_Fast_GET_ITEM(<object>values, i)
        if PyBytes_CheckExact(<object>item):
            size = PyBytes_GET_SIZE(<object>item)
            write_int32(target, <int32_t>size)
            target = write_text(target + 4, PyBytes_AS_STRING(<object>item), size)
        else:
            write_int32(target, -1 if <object>item is None else -2)
            target += 4
    return target


cdef bint take_common(
    PyObject *message, const Slots *slots, long version, Message *found
) except -1:
    """Measure what all three have: consistency, flags, serial, timestamp and options."""
    cdef PyObject *value = slot_of(message, slots.custom_payload)
    if value == NULL or (<object>value is not None and PyObject_IsTrue(<object>value)):
        return False
    value = slot_of(message, slots.tracing)
    if value == NULL:
        return False
    found.frame_flags = TRACING if PyObject_IsTrue(<object>value) else 0
    found.has_int_flags = version >= V5
    found.size += 6 if found.has_int_flags else 3
    if not is_integer(slot_of(message, slots.consistency), 0, UINT16_MAX, &found.consistency):
        return False
    value = slot_of(message, slots.serial)
    if value == NULL or <object>value is not None:
        if not is_integer(value, 0, UINT16_MAX, &found.serial):
            return False
        if found.serial:
            found.flags |= WITH_SERIAL_CONSISTENCY
            found.size += 2
    value = slot_of(message, slots.timestamp)
    if value == NULL or <object>value is not None:
        if not is_integer(value, INT64_MIN, INT64_MAX, &found.timestamp):
            return False
        found.flags |= DEFAULT_TIMESTAMP
        found.size += 8
    return True


cdef bint take_parameters(PyObject *message, long version, Message *found) except -1:
    """Measure <query_parameters>; false if something in them is left to the pure function."""
    cdef Py_ssize_t size
    cdef PyObject *value
    if not take_common(message, &IN_QUERY, version, found):
        return False
    found.values = slot_of(message, IN_QUERY.values)
    if found.values == NULL or <object>found.values is not None:
        size = size_of_values(found.values, version)
        if size < 0:
            return False
        found.flags |= VALUES
        found.size += size
    value = slot_of(message, IN_QUERY.skip_meta)
    if value == NULL:
        return False
    if PyObject_IsTrue(<object>value):
        found.flags |= SKIP_METADATA
    value = slot_of(message, IN_QUERY.fetch_size)
    if value == NULL or <object>value is not None:
        if not is_integer(value, INT32_MIN, INT32_MAX, &found.fetch_size):
            return False
        if found.fetch_size:
            found.flags |= PAGE_SIZE
            found.size += 4
    value = slot_of(message, IN_QUERY.paging_state)
    if value == NULL:
        return False
    if <object>value is not None and PyObject_IsTrue(<object>value):
        if not PyBytes_CheckExact(<object>value) or PyBytes_GET_SIZE(<object>value) > INT32_MAX:
            return False
        found.paging_state = value
        found.flags |= WITH_PAGING_STATE
        found.size += 4 + PyBytes_GET_SIZE(<object>value)
    return True


cdef bint take_query(PyObject *message, long version, Message *found) except -1:
    found.opcode = 0x07
    if not is_text(slot_of(message, QUERY_TEXT), INT32_MAX, &found.first):
        return False
    found.size += 4 + found.first.size
    return take_parameters(message, version, found)


cdef bint take_execute(PyObject *message, long version, Message *found) except -1:
    found.opcode = 0x0A
    if not is_id(slot_of(message, EXECUTE_ID), &found.first):
        return False
    found.size += 2 + found.first.size
    if version >= V5 and version != DSE_V1:
        if not is_id(slot_of(message, EXECUTE_METADATA_ID), &found.second):
            return False
        found.has_second = True
        found.size += 2 + found.second.size
    return take_parameters(message, version, found)


cdef bint take_scylla_execute(PyObject *message, long version, Message *found) except -1:
    cdef PyObject *value = slot_of(message, EXECUTE_METADATA_ID)
    found.opcode = 0x0A
    if not is_id(slot_of(message, EXECUTE_ID), &found.first):
        return False
    found.size += 2 + found.first.size
    if value == NULL or <object>value is not None:
        if not is_id(value, &found.second):
            return False
        found.has_second = True
        found.size += 2 + found.second.size
    return take_parameters(message, version, found)


cdef bint take_batch(PyObject *message, long version, Message *found) except -1:
    cdef Py_ssize_t i, size
    cdef PyObject *entry
    cdef PyObject *queries = slot_of(message, BATCH_QUERIES)
    cdef Text text
    cdef object kind
    found.opcode = 0x0D
    if queries == NULL or slot_of(message, BATCH_TYPE) == NULL:
        return False
    if not (PyList_CheckExact(<object>queries) or PyTuple_CheckExact(<object>queries)):
        return False
    if PySequence_Fast_GET_SIZE(<object>queries) > UINT16_MAX:
        return False
    # The only code of somebody else's that may run, and it comes first.
    kind = (<object>slot_of(message, BATCH_TYPE)).value
    if not is_integer(<PyObject *>kind, 0, UINT8_MAX, &found.batch_type):
        return False
    found.queries = queries
    found.size += 3
    for i in range(PySequence_Fast_GET_SIZE(<object>queries)):
        entry = PySequence_Fast_GET_ITEM(<object>queries, i)
        if not PyTuple_CheckExact(<object>entry) or PyTuple_GET_SIZE(<object>entry) != 3:
            return False
        if <object>PyTuple_GET_ITEM(<object>entry, 0) is True:
            if not is_id(PyTuple_GET_ITEM(<object>entry, 1), &text):
                return False
            found.size += 3 + text.size
        elif <object>PyTuple_GET_ITEM(<object>entry, 0) is False:
            if not is_text(PyTuple_GET_ITEM(<object>entry, 1), INT32_MAX, &text):
                return False
            found.size += 5 + text.size
        else:
            return False
        size = size_of_values(PyTuple_GET_ITEM(<object>entry, 2), version)
        if size < 0:
            return False
        found.size += size
    return take_common(message, &IN_BATCH, version, found)


cdef void write_body(unsigned char *target, const Message *found) noexcept:
    """Write what was measured: the parts of all three, each of which has some of them."""
    if found.opcode == 0x0D:
        target = write_queries(target, found)
    elif found.opcode == 0x0A:
        target = write_short_text(target, found.first)
        if found.has_second:
            target = write_short_text(target, found.second)
    else:
        target = write_long_text(target, found.first)
    write_uint16(target, <uint16_t>found.consistency)
    if found.has_int_flags:
        write_uint32(target + 2, found.flags)
        target += 6
    else:
        target[2] = <uint8_t>found.flags
        target += 3
    if found.flags & VALUES:
        target = write_values(target, found.values)
    if found.flags & PAGE_SIZE:
        write_int32(target, <int32_t>found.fetch_size)
        target += 4
    if found.flags & WITH_PAGING_STATE:
        write_int32(target, <int32_t>PyBytes_GET_SIZE(<object>found.paging_state))
        target = write_text(
            target + 4,
            PyBytes_AS_STRING(<object>found.paging_state),
            PyBytes_GET_SIZE(<object>found.paging_state),
        )
    if found.flags & WITH_SERIAL_CONSISTENCY:
        write_uint16(target, <uint16_t>found.serial)
        target += 2
    if found.flags & DEFAULT_TIMESTAMP:
        write_uint64(target, <uint64_t>found.timestamp)
        target += 8
    if found.options != NULL:
        write_text(
            target,
            PyBytes_AS_STRING(<object>found.options),
            PyBytes_GET_SIZE(<object>found.options),
        )


cdef unsigned char *write_queries(unsigned char *target, const Message *found) noexcept:
    """<type><n><query_1>...; the place behind."""
    cdef Py_ssize_t i, count = PySequence_Fast_GET_SIZE(<object>found.queries)
    cdef PyObject *entry
    cdef Text text
    target[0] = <uint8_t>found.batch_type
    write_uint16(target + 1, <uint16_t>count)
    target += 3
    for i in range(count):
        entry = PySequence_Fast_GET_ITEM(<object>found.queries, i)
        is_text(PyTuple_GET_ITEM(<object>entry, 1), INT32_MAX, &text)
        if <object>PyTuple_GET_ITEM(<object>entry, 0) is True:
            target[0] = 1
            target = write_short_text(target + 1, text)
        else:
            target[0] = 0
            target = write_long_text(target + 1, text)
        target = write_values(target, PyTuple_GET_ITEM(<object>entry, 2))
    return target


cdef inline void write_header(
    unsigned char *target, long version, unsigned int flags, long long stream, uint8_t opcode,
    Py_ssize_t size,
) noexcept:
    target[0] = <uint8_t>version
    target[1] = <uint8_t>flags
    write_uint16(target + 2, <uint16_t>stream)
    target[4] = opcode
    write_int32(target + 5, <int32_t>size)


def encode_message(
    msg, stream_id, protocol_version, compressor, allow_beta_protocol_version
):
    """A request as one frame; see driver/wire/requests/frames.py."""
    cdef Message found
    cdef PyObject *message = <PyObject *>msg
    cdef PyObject *asked
    cdef long long stream = 0, version = 0
    cdef bint is_taken = False
    cdef object options = None
    cdef object frame
    cdef unsigned char *target
    if FREE_THREADED and type(msg) in _WRITTEN_HERE:
        msg = own(msg)
        message = <PyObject *>msg
    if (
        is_integer(<PyObject *>stream_id, INT16_MIN, INT16_MAX, &stream)
        and is_integer(<PyObject *>protocol_version, 0, UINT8_MAX, &version)
    ):
        found.size = 0
        found.flags = 0
        found.has_second = False
        found.options = NULL
        asked = NULL
        if type(msg) is _EXECUTE:
            asked = slot_of(message, IN_QUERY.options)
        elif type(msg) is _QUERY:
            asked = slot_of(message, IN_QUERY.options)
        elif type(msg) is _BATCH:
            asked = slot_of(message, IN_BATCH.options)
        elif type(msg) is _SCYLLA_EXECUTE:
            asked = slot_of(message, IN_QUERY.options)
        if asked != NULL:
            if <object>asked is not None:
                # Code of Python's, so before anything is borrowed. The bytes are those of
                # write_options, the flags only where this version has all of them.
                options = _options(msg, version)
            if <object>asked is None or options is not None:
                if type(msg) is _EXECUTE:
                    is_taken = take_execute(message, version, &found)
                elif type(msg) is _QUERY:
                    is_taken = take_query(message, version, &found)
                elif type(msg) is _BATCH:
                    is_taken = take_batch(message, version, &found)
                else:
                    options = _with_block(options, message)
                    is_taken = options is not None and take_scylla_execute(
                        message, version, &found
                    )
    if not is_taken:
        return encode_plainly(
            msg, stream_id, protocol_version, compressor, allow_beta_protocol_version
        )
    if options is not None:
        found.flags |= <unsigned int>options[0]
        found.options = <PyObject *>options[1]
        found.size += PyBytes_GET_SIZE(<object>found.options)
    if found.size > INT32_MAX:
        return encode_plainly(
            msg, stream_id, protocol_version, compressor, allow_beta_protocol_version
        )
    if allow_beta_protocol_version:
        found.frame_flags |= USE_BETA
    if compressor is None or V5 <= version < DSE_V1 or not compressor:
        frame = PyBytes_FromStringAndSize(NULL, HEADER + found.size)
        target = <unsigned char *>PyBytes_AS_STRING(frame)
        write_header(target, version, found.frame_flags, stream, found.opcode, found.size)
        write_body(target + HEADER, &found)
        return frame
    body = PyBytes_FromStringAndSize(NULL, found.size)
    write_body(<unsigned char *>PyBytes_AS_STRING(body), &found)
    found.frame_flags |= COMPRESSED
    if compressor is _LZ4 and room_for(found.size):
        return lz4_frame(body, version, found.frame_flags, stream, found.opcode)
    return compressed_frame(compressor(body), version, found.frame_flags, stream, found.opcode)


cdef tuple _with_block(tuple options, PyObject *message):
    """Options with the byte that ends the body; None if there is no such byte."""
    cdef PyObject *block = slot_of(message, EXECUTE_BLOCK)
    cdef long long number = 0
    if options is None:
        options = (0, b"")
    if block != NULL and <object>block is None:
        return options
    if not is_integer(block, 0, UINT8_MAX, &number):
        return None
    return options[0], options[1] + bytes([number])


cdef tuple _options(object msg, long version):
    """The flags and bytes of options; None if something is wrong, which the pure function says."""
    try:
        return msg.options_flags(version), msg.options_bytes()
    except Exception:
        return None


cdef object compressed_frame(
    object body, long version, unsigned int flags, long long stream, uint8_t opcode
):
    """A frame with a body that somebody else compressed."""
    cdef object frame
    cdef unsigned char *target
    if not PyBytes_CheckExact(body) or PyBytes_GET_SIZE(body) > INT32_MAX:
        return framing.FRAME_HEADER.pack(version, flags, stream, opcode, len(body)) + body
    frame = PyBytes_FromStringAndSize(NULL, HEADER + PyBytes_GET_SIZE(body))
    target = <unsigned char *>PyBytes_AS_STRING(frame)
    write_header(target, version, flags, stream, opcode, PyBytes_GET_SIZE(body))
    memcpy(target + HEADER, PyBytes_AS_STRING(body), PyBytes_GET_SIZE(body))
    return frame


cdef object lz4_frame(
    bytes body, long version, unsigned int flags, long long stream, uint8_t opcode
):
    """A frame with its body as a block, which is compressed where it belongs."""
    cdef Py_ssize_t size = PyBytes_GET_SIZE(body)
    cdef Py_ssize_t room = room_for(size)
    cdef PyObject *frame = new_bytes(NULL, HEADER + 4 + room)
    cdef unsigned char *target = <unsigned char *>PyBytes_AS_STRING(<object>frame)
    # The room is that of the worst case, so that there always is a block, and it has a length.
    room = compress_into(
        PyBytes_AS_STRING(body), size, <char *>target + HEADER + 4, room
    )
    write_header(target, version, flags, stream, opcode, 4 + room)
    write_uint32(target + HEADER, <unsigned int>size)
    return shortened(frame, HEADER + 4 + room)
