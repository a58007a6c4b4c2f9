"""Bodies of frames as a node sends them (native protocol version 4), and prepared statements."""

import struct

from cassandra import cqltypes
from cassandra.protocol import ColumnMetadata
from cassandra.protocol_features import ProtocolFeatures
from cassandra.query import PreparedStatement

VERSION, STREAM, RESULT = 4, 1, 0x08
FEATURES = ProtocolFeatures()
#: Code on the wire (section 6) and a value's bytes, by type.
TYPES = {
    "int": (0x09, cqltypes.Int32Type, struct.pack(">i", 7)),
    "text": (0x0D, cqltypes.UTF8Type, b"a word or two"),
    "boolean": (0x04, cqltypes.BooleanType, b"\x01"),
    "double": (0x07, cqltypes.DoubleType, struct.pack(">d", 0.5)),
    "bigint": (0x02, cqltypes.LongType, struct.pack(">q", 7)),
}
VOID = struct.pack(">i", 1)


def text(value):
    """A [string]."""
    return struct.pack(">H", len(value)) + value.encode()


def cell(value):
    """A [bytes]."""
    return struct.pack(">i", len(value)) + value


def kinds(number):
    """This many names of types, one after the other of `TYPES`."""
    return [list(TYPES)[index % len(TYPES)] for index in range(number)]


def rows(number, columns):
    """A RESULT of rows that brings its metadata (section 4.2.5.2)."""
    chosen = kinds(columns)
    about = b"".join(
        text(f"column_{index}") + struct.pack(">H", TYPES[kind][0])
        for index, kind in enumerate(chosen)
    )
    head = struct.pack(">iii", 2, 1, columns) + text("app") + text("words") + about
    return head + struct.pack(">i", number) + _cells(chosen) * number


def bare_rows(number, columns):
    """The same without metadata, as a prepared statement that has it gets it."""
    return struct.pack(">iiii", 2, 4, columns, number) + _cells(kinds(columns)) * number


def _cells(chosen):
    return b"".join(cell(TYPES[kind][2]) for kind in chosen)


def metadata(columns):
    """Of the result of such a statement."""
    return [
        ("app", "words", f"column_{index}", TYPES[kind][1])
        for index, kind in enumerate(kinds(columns))
    ]


def prepared(types, key=(), result=()):
    """A prepared statement that binds values of these types.

    Args:
        types: classes of `cassandra.cqltypes`.
        key: indexes of the columns of the partition key.
        result: metadata of its result.
    """
    columns = [
        ColumnMetadata("app", "words", f"column_{index}", kind) for index, kind in enumerate(types)
    ]
    return PreparedStatement(
        columns, b"\x01" * 16, list(key), "INSERT", "app", VERSION, list(result), None
    )
