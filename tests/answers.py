"""Answers of a server, for the in-memory server to send: whole responses around wire_bodies."""

import wire_bodies as w

from asv_benchmarks.server import Answer
from driver.wire import primitives as p

ERROR, RESULT = 0x00, 0x08
TRACING, PAYLOAD, WARNING = 0x02, 0x04, 0x08


class Raw(bytes):
    """A value to send as it is, instead of one to serialise."""


def rows(columns, values, **metadata):
    """ROWS of [(name, type)] and rows of Python values."""
    data = [list(map(_serialised, columns, row)) for row in values]
    return Answer(RESULT, w.rows_result(columns, data, **metadata))


def _serialised(column, value):
    if value is None or isinstance(value, Raw):
        return value
    return column[1].serialize(value, 4)


def set_keyspace(name):
    """SET_KEYSPACE."""
    return Answer(RESULT, w.integer(3) + w.string(name))


def schema_change(*words):
    """SCHEMA_CHANGE: what happened, to what, and its names."""
    return Answer(RESULT, w.integer(5) + b"".join(map(w.string, words)))


def prepared(query_id, markers, results=(), *, version=4, **more):
    """PREPARED."""
    return Answer(RESULT, w.prepared_result(query_id, markers, results, version, **more))


def error(code, message="boom", info=b""):
    """ERROR."""
    return Answer(ERROR, w.integer(code) + w.string(message) + info)


def unprepared(query_id):
    """ERROR 0x2500."""
    return error(0x2500, "unprepared", w.short(len(query_id)) + query_id)


def along(answer, *, trace_id=None, warnings=None, payload=None):
    """An answer with a trace id, warnings and a custom payload before its body."""
    flags, head = answer.flags, b""
    if trace_id is not None:
        flags, head = flags | TRACING, trace_id.bytes
    if warnings is not None:
        flags, head = flags | WARNING, head + w.parts((p.write_stringlist, warnings))
    if payload is not None:
        flags, head = flags | PAYLOAD, head + w.parts((p.write_bytesmap, payload))
    return Answer(answer.opcode, head + answer.body, flags)
