"""Compiled form of driver/wire/requests/bodies.py: a body in one piece of exactly its size.

What a session sends is written here. Whatever else a message may hold, down to values that no
server takes, is left to the pure functions, so that bytes, exceptions and their words are theirs.
"""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_Check
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Fast_GET_ITEM, PySequence_Fast_GET_SIZE
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, UINT16_MAX, int32_t
from libc.string cimport memcpy

from driver._cython.types.marshal cimport write_int32, write_uint16, write_uint32, write_uint64

from ....protocol.version import ProtocolVersion
from ....protocol.unset import UNSET_VALUE
from ....wire.primitives import write_longstring
from ....wire.requests import bodies as pure

__all__ = ["write_execute", "write_query"]

cdef long V4 = ProtocolVersion.V4
cdef long V5 = ProtocolVersion.V5
cdef long DSE_V1 = ProtocolVersion.DSE_V1
cdef unsigned int VALUES = pure.VALUES_FLAG
cdef unsigned int SKIP_METADATA = pure.SKIP_METADATA_FLAG
cdef unsigned int PAGE_SIZE = pure.PAGE_SIZE_FLAG
cdef unsigned int WITH_PAGING_STATE = pure.WITH_PAGING_STATE_FLAG
cdef unsigned int WITH_SERIAL_CONSISTENCY = pure.WITH_SERIAL_CONSISTENCY_FLAG
cdef unsigned int DEFAULT_TIMESTAMP = pure.DEFAULT_TIMESTAMP_FLAG

#: Bytes; to copy a longer text into one piece with the rest costs more than to write it by itself.
cdef Py_ssize_t LARGE = 1024

cdef object plain_query = pure.write_query
cdef object plain_execute = pure.write_execute


cdef inline bint _integer(object value, long long low, long long high, long long *number):
    """An int within bounds; false for anything else."""
    cdef int overflow = 0
    if not PyLong_Check(value):
        return False
    number[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
    return not overflow and low <= number[0] <= high


cdef class _Parameters:
    """The <query_parameters> of one message, and how many bytes they take."""

    cdef object values
    cdef object paging_state
    cdef bytes options
    cdef unsigned int flags
    cdef bint has_int_flags
    cdef long long consistency, serial, fetch_size, timestamp
    cdef Py_ssize_t size

    cdef bint take(self, object message, long version) except -1:
        """Read a message; false if it has something that is left to the pure functions."""
        cdef object option
        self.has_int_flags = version >= V5
        self.size = 6 if self.has_int_flags else 3
        if not _integer(message.consistency_level, 0, UINT16_MAX, &self.consistency):
            return False
        self.values = message.query_params
        if self.values is not None:
            self.flags |= VALUES
            if not self.measure_values(version):
                return False
        if message.skip_meta:
            self.flags |= SKIP_METADATA
        option = message.fetch_size
        if option is not None:
            if not _integer(option, INT32_MIN, INT32_MAX, &self.fetch_size):
                return False
            if self.fetch_size:
                self.flags |= PAGE_SIZE
                self.size += 4
        option = message.paging_state
        if option:
            if not PyBytes_CheckExact(option) or PyBytes_GET_SIZE(option) > INT32_MAX:
                return False
            self.paging_state = option
            self.flags |= WITH_PAGING_STATE
            self.size += 4 + PyBytes_GET_SIZE(option)
        option = message.serial_consistency_level
        if option is not None:
            if not _integer(option, 0, UINT16_MAX, &self.serial):
                return False
            if self.serial:
                self.flags |= WITH_SERIAL_CONSISTENCY
                self.size += 2
        option = message.timestamp
        if option is not None:
            if not _integer(option, INT64_MIN, INT64_MAX, &self.timestamp):
                return False
            self.flags |= DEFAULT_TIMESTAMP
            self.size += 8
        option = message.options
        if option is not None:
            self.flags |= message.options_flags(version)
            self.options = message.options_bytes()
            self.size += PyBytes_GET_SIZE(self.options)
        return True

    cdef bint measure_values(self, long version) except -1:
        """Add the size of the values; false if they are no list of bytes, nulls and not set."""
        cdef Py_ssize_t i
        cdef PyObject *item
        if not PyList_CheckExact(self.values) and not PyTuple_CheckExact(self.values):
            return False
        if PySequence_Fast_GET_SIZE(self.values) > UINT16_MAX:
            return False
        self.size += 2
        for i in range(PySequence_Fast_GET_SIZE(self.values)):
            item = PySequence_Fast_GET_ITEM(self.values, i)
            self.size += 4
            if PyBytes_CheckExact(<object>item):
                if PyBytes_GET_SIZE(<object>item) > INT32_MAX:
                    return False
                self.size += PyBytes_GET_SIZE(<object>item)
            elif <object>item is not None and (<object>item is not UNSET_VALUE or version < V4):
                return False
        return True

    cdef unsigned char *write(self, unsigned char *target) noexcept:
        """Write them; the place behind."""
        cdef Py_ssize_t i
        cdef PyObject *item
        write_uint16(target, <unsigned short>self.consistency)
        if self.has_int_flags:
            write_uint32(target + 2, self.flags)
            target += 6
        else:
            target[2] = <unsigned char>self.flags
            target += 3
        if self.flags & VALUES:
            write_uint16(target, <unsigned short>PySequence_Fast_GET_SIZE(self.values))
            target += 2
            for i in range(PySequence_Fast_GET_SIZE(self.values)):
                item = PySequence_Fast_GET_ITEM(self.values, i)
                if PyBytes_CheckExact(<object>item):
                    target = _long_bytes(target, <object>item)
                else:
                    write_int32(target, -1 if <object>item is None else -2)
                    target += 4
        if self.flags & PAGE_SIZE:
            write_int32(target, <int32_t>self.fetch_size)
            target += 4
        if self.flags & WITH_PAGING_STATE:
            target = _long_bytes(target, self.paging_state)
        if self.flags & WITH_SERIAL_CONSISTENCY:
            write_uint16(target, <unsigned short>self.serial)
            target += 2
        if self.flags & DEFAULT_TIMESTAMP:
            write_uint64(target, <unsigned long long>self.timestamp)
            target += 8
        if self.options is not None:
            target = _bytes(target, self.options)
        return target


cdef inline unsigned char *_bytes(unsigned char *target, object data) noexcept:
    """Write bytes; the place behind."""
    memcpy(target, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    return target + PyBytes_GET_SIZE(data)


cdef inline unsigned char *_long_bytes(unsigned char *target, object data) noexcept:
    """Write an [int] n and n bytes; the place behind."""
    write_int32(target, <int32_t>PyBytes_GET_SIZE(data))
    return _bytes(target + 4, data)


cdef inline unsigned char *_short_bytes(unsigned char *target, object data) noexcept:
    """Write a [short] n and n bytes; the place behind."""
    write_uint16(target, <unsigned short>PyBytes_GET_SIZE(data))
    return _bytes(target + 2, data)


cdef inline bint _is_short(object data):
    """Whether it is bytes for a [short bytes]."""
    return PyBytes_CheckExact(data) and PyBytes_GET_SIZE(data) <= UINT16_MAX


def write_query(f, message, protocol_version):
    """Write <query><query_parameters>; see driver/wire/requests/bodies.py."""
    cdef _Parameters parameters = _Parameters.__new__(_Parameters)
    cdef object text = message.query
    cdef object body
    cdef unsigned char *target
    if isinstance(text, str):
        text = text.encode("utf8")
    if (
        not PyBytes_CheckExact(text)
        or PyBytes_GET_SIZE(text) > INT32_MAX
        or not parameters.take(message, protocol_version)
    ):
        plain_query(f, message, protocol_version)
        return
    if PyBytes_GET_SIZE(text) > LARGE:
        body = PyBytes_FromStringAndSize(NULL, parameters.size)
        parameters.write(<unsigned char *>PyBytes_AS_STRING(body))
        write_longstring(f, text)
    else:
        body = PyBytes_FromStringAndSize(NULL, 4 + PyBytes_GET_SIZE(text) + parameters.size)
        target = <unsigned char *>PyBytes_AS_STRING(body)
        parameters.write(_long_bytes(target, text))
    f.write(body)


def write_execute(f, message, protocol_version):
    """Write <id>[<result_metadata_id>]<query_parameters>; see driver/wire/requests/bodies.py."""
    cdef _Parameters parameters = _Parameters.__new__(_Parameters)
    cdef long version = protocol_version
    cdef bint has_metadata_id = version >= V5 and version != DSE_V1
    cdef object query_id = message.query_id
    cdef object metadata_id = message.result_metadata_id if has_metadata_id else b""
    cdef object body
    cdef Py_ssize_t size
    cdef unsigned char *target
    if (
        not _is_short(query_id)
        or not _is_short(metadata_id)
        or not parameters.take(message, version)
    ):
        plain_execute(f, message, protocol_version)
        return
    size = 2 + PyBytes_GET_SIZE(query_id) + parameters.size
    if has_metadata_id:
        size += 2 + PyBytes_GET_SIZE(metadata_id)
    body = PyBytes_FromStringAndSize(NULL, size)
    target = _short_bytes(<unsigned char *>PyBytes_AS_STRING(body), query_id)
    if has_metadata_id:
        target = _short_bytes(target, metadata_id)
    parameters.write(target)
    f.write(body)
