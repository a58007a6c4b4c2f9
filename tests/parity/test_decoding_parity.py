"""Both ways from a frame to a message give the same message, and fail with the same words."""

import importlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wire_bodies import integer, rows_result, string

from driver.types import DoubleType, Int32Type, LongType, TimestampType, UTF8Type, UUIDType

COLUMNS = [
    ("id", UUIDType),
    ("name", UTF8Type),
    ("size", LongType),
    ("at", TimestampType),
    ("value", DoubleType),
    ("n", Int32Type),
]
ROW = [bytes(range(16)), "né".encode(), bytes(8), bytes(5) + b"\x01\x02\x03", bytes(8), b"\0\0\0\7"]
ROWS = [ROW, [None] * 6, [b""] * 6]
BODIES = {
    "void": integer(1),
    "keyspace": integer(3) + string("ks"),
    "one row": rows_result(COLUMNS, [ROW]),
    "rows of two tables": rows_result(COLUMNS, ROWS, table=None),
    "more pages": rows_result(COLUMNS, ROWS, paging_state=b"page"),
    "more pages, nowhere": rows_result(COLUMNS, ROWS, paging_state=b""),
    "without metadata": rows_result(COLUMNS, ROWS, skip=True),
    "new metadata": rows_result(COLUMNS, ROWS, new_id=b"id"),
    "no columns": rows_result([], []),
}
HANDLERS = ("ProtocolHandler", "LazyProtocolHandler")


def outcome(
    driver, body, *, handler="ProtocolHandler", flags=0, opcode=8, kept=True, more=(4, None)
):
    """What a driver makes of a body: its message in plain values, or the error and its words.

    ``more`` has the version and the name of the compression that was agreed on.
    """

    def module(name):
        return importlib.import_module(f"{driver.__name__}.{name}")

    types = module("types")
    column = module("protocol.columns").ColumnMetadata
    columns = [column("ks", "t", name, getattr(types, t.__name__)) for name, t in COLUMNS]
    shape = module("wire.row_shape").RowShape(columns) if kept else None
    decode = getattr(module("wire.handlers"), handler).decode_message
    version, compression = more
    known = module("wire.compression").locally_supported_compressions
    decompressor = compression and known[compression][1]
    try:
        message = decode(version, None, {}, 7, flags, opcode, body, decompressor, shape)
        fields = {name: getattr(message, name) for name in type(message).__slots__ or ()}
        fields |= {"rows": list(message.parsed_rows or ())} if hasattr(message, "kind") else {}
    except Exception as error:  # noqa: BLE001  (whatever it is, it must be the same)
        return type(error).__name__, str(error)
    for name in ("parsed_rows", "result_metadata", "column_metadata", "bind_metadata"):
        fields[name] = fields.get(name) is not None
    kinds = fields.get("column_types")
    fields["column_types"] = kinds and [kind.cql_parameterized_type() for kind in kinds]
    return type(message).__name__, repr(fields)


@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize("name", BODIES)
def test_the_same_message_comes_out_the_first_time_and_every_other(pure, compiled, name, handler):
    for kept in (True, False, True):
        expected = outcome(pure, BODIES[name], handler=handler, kept=kept)
        assert outcome(compiled, BODIES[name], handler=handler, kept=kept) == expected


@pytest.mark.parametrize("name", BODIES)
def test_a_body_cut_anywhere_fails_in_the_same_words(pure, compiled, name):
    whole = BODIES[name]
    for driver in (pure, compiled):
        outcome(driver, whole)  # from now on the shape is known
    for length in range(len(whole)):
        assert outcome(compiled, whole[:length]) == outcome(pure, whole[:length])


@given(
    name=st.sampled_from(sorted(BODIES)),
    edits=st.lists(
        st.tuples(st.integers(0, 255), st.sampled_from([0x00, 0x01, 0x04, 0x7F, 0x80, 0xFF])),
        max_size=3,
    ),
    flags=st.sampled_from([0, 0, 2, 4, 8]),
    opcode=st.sampled_from([8, 8, 8, 0, 6]),
)
@example(name="more pages", edits=[(16, 0x7F)], flags=0, opcode=8)
@example(name="one row", edits=[(8, 0x80)], flags=0, opcode=8)
def test_a_damaged_body_fails_in_the_same_words(pure, compiled, name, edits, flags, opcode):
    body = bytearray(BODIES[name])
    for where, byte in edits:
        body[where % len(body)] = byte
    damaged = bytes(body)
    expected = outcome(pure, damaged, flags=flags, opcode=opcode)
    assert outcome(compiled, damaged, flags=flags, opcode=opcode) == expected


@pytest.mark.parametrize("version", [3, 4, 5, 6, 0x41, 0x42])
@pytest.mark.parametrize("compression", [None, "lz4", "snappy"])
@pytest.mark.parametrize("name", BODIES)
def test_a_compressed_body_is_decompressed_alike(pure, compiled, name, compression, version):
    compressions = importlib.import_module("driver.wire.compression")
    compress = compressions.locally_supported_compressions[compression or "lz4"][0]
    whole = compress(BODIES[name])
    for body in (whole, whole[:-1], whole[:3], b"", BODIES[name]):
        for flags in (0, 1, 3, 9):
            more = version, compression
            expected = outcome(pure, body, flags=flags, more=more)
            assert outcome(compiled, body, flags=flags, more=more) == expected
