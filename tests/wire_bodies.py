"""Bodies of responses as a server writes them, for tests that decode them."""

from __future__ import annotations

import io
import socket

from driver.types import FrozenType, ListType, MapType, SetType, TupleType, UserType, UTF8Type
from driver.types.base import types_by_option_code
from driver.wire import primitives as p
from driver.wire.responses.metadata import CUSTOM

#: Text as in v1 and v2: the code of today is varchar's to the peers.
CODES = {cqltype: code for code, cqltype in types_by_option_code.items()} | {UTF8Type: 0x000A}


def parts(*pairs):
    """Concatenate what (write function, value) pairs write."""
    f = io.BytesIO()
    for write, value in pairs:
        write(f, value)
    return f.getvalue()


def string(text):
    return parts((p.write_string, text))


def short(number):
    return parts((p.write_short, number))


def integer(number):
    return parts((p.write_int, number))


def value(data):
    return parts((p.write_value, data))


def read_long(f):
    """Read a [long], of which only servers have any to read."""
    return int.from_bytes(p.read_exactly(f, 8), "big", signed=True)


def inet_addr(address):
    packed = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    return bytes([len(packed)]) + packed


def option(cqltype):
    """The [option] of a type; a string is the class name of a custom type."""
    if isinstance(cqltype, str):
        return short(CUSTOM) + string(cqltype)
    if cqltype in CODES:
        return short(CODES[cqltype])
    for generic, write in WRITERS.items():
        if issubclass(cqltype, generic):
            return write(cqltype)
    return short(CUSTOM) + string(cqltype.cass_parameterized_type(full=True))


def _udt_option(udt):
    fields = zip(udt.fieldnames, udt.subtypes, strict=True)
    specs = b"".join(string(name) + option(cqltype) for name, cqltype in fields)
    head = short(UserType.option_code) + string(udt.keyspace) + string(udt.typename)
    return head + short(len(udt.subtypes)) + specs


def _inner(cqltype):
    return b"".join(map(option, cqltype.subtypes))


WRITERS = {
    # The protocol does not say whether a type is frozen.
    FrozenType: _inner,
    # Before the tuple, which it is a kind of.
    UserType: _udt_option,
    TupleType: lambda t: short(TupleType.option_code) + short(len(t.subtypes)) + _inner(t),
    ListType: lambda t: short(ListType.option_code) + _inner(t),
    MapType: lambda t: short(MapType.option_code) + _inner(t),
    SetType: lambda t: short(SetType.option_code) + _inner(t),
}


def column_specs(columns, table=("ks", "t")):
    """The columns (name, type) of one table, or of their own if ``table`` is None."""
    body = b"" if table is None else string(table[0]) + string(table[1])
    for name, cqltype in columns:
        own = string("ks_" + name) + string("t_" + name) if table is None else b""
        body += own + string(name) + option(cqltype)
    return body


def rows_metadata(columns, *, table=("ks", "t"), paging_state=None, new_id=None, skip=False):
    """<metadata> of a rows result."""
    flags = (
        (table is not None) * 0x01
        | (paging_state is not None) * 0x02
        | skip * 0x04
        | (new_id is not None) * 0x08
    )
    body = integer(flags) + integer(len(columns))
    if paging_state is not None:
        body += value(paging_state)
    if new_id is not None:
        body += short(len(new_id)) + new_id
    return body if skip else body + column_specs(columns, table)


def rows_content(rows):
    """<rows_count><rows_content> of rows of bytes."""
    return integer(len(rows)) + b"".join(value(data) for row in rows for data in row)


def rows_result(columns, rows, **metadata):
    """A RESULT of the kind rows."""
    return integer(2) + rows_metadata(columns, **metadata) + rows_content(rows)


def prepared_result(
    query_id, markers, results, version, *, pk=(), flags=0, metadata_id=b"mid", has_metadata_id=None
):
    """A RESULT of the kind prepared; no ``results`` is a statement that gives no rows."""
    body = integer(4) + short(len(query_id)) + query_id
    if version >= 5 if has_metadata_id is None else has_metadata_id:
        body += short(len(metadata_id)) + metadata_id
    body += integer(flags | 0x01) + integer(len(markers))
    if version >= 4:
        body += integer(len(pk)) + b"".join(map(short, pk))
    body += column_specs(markers)
    return body + rows_metadata(results, skip=not results)
