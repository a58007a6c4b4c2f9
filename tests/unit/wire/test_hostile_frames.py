"""Frames that are cut short, damaged or malicious cost one clear error, never a crash."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_bodies import (
    integer,
    option,
    prepared_result,
    rows_metadata,
    rows_result,
    short,
    string,
    value,
)

from driver.protocol.columns import ColumnMetadata
from driver.protocol.errors import DriverException
from driver.types import (
    DoubleType,
    DurationType,
    Int32Type,
    ListType,
    MapType,
    TupleType,
    UserType,
    UTF8Type,
    UUIDType,
)
from driver.wire.codec import RESPONSES_BY_OPCODE, ProtocolHandler
from driver.wire.handlers import LazyProtocolHandler, NumpyProtocolHandler
from driver.wire.malformed import ColumnDecodeError, MalformedFrameError

INTS = ListType.apply_parameters((Int32Type,))
UDT = UserType.make_udt_class("ks", "u", ["a", "b"], [Int32Type, UTF8Type])
COLUMNS = [
    ("i", Int32Type),
    ("t", UTF8Type),
    ("l", INTS),
    ("m", MapType.apply_parameters((UTF8Type, DoubleType))),
    ("p", TupleType.apply_parameters((UUIDType, Int32Type))),
    ("u", UDT),
    ("d", DurationType),
]
ROW = [
    bytes(4),
    b"text",
    INTS.serialize([1, 2], 4),
    COLUMNS[3][1].serialize({"a": 0.5}, 4),
    COLUMNS[4][1].serialize((None, 3), 4),
    UDT.serialize((1, "b"), 4),
    b"\x02\x04\x06",
]
ROWS = rows_result(COLUMNS, [ROW, ROW], paging_state=b"page")
CHANGE = string("CREATED") + string("FUNCTION") + string("ks") + string("f") + short(1)
WHOLE = {
    "rows": (0x08, ROWS),
    "prepared": (0x08, prepared_result(b"id", COLUMNS, COLUMNS, 4, pk=[1, 0])),
    "set keyspace": (0x08, integer(3) + string("ks")),
    "schema change": (0x08, integer(5) + CHANGE + string("int")),
    "event": (0x0C, string("STATUS_CHANGE") + string("UP") + b"\x04abcd" + integer(1)),
    "supported": (0x06, short(1) + string("k") + short(1) + string("v")),
    "read failure": (0x00, integer(0x1300) + string("m") + short(1) + integer(1) * 3 + b"\x01"),
    "already exists": (0x00, integer(0x2400) + string("m") + string("ks") + string("t")),
    "challenge": (0x0E, value(b"token")),
}
HANDLERS = [ProtocolHandler, LazyProtocolHandler, NumpyProtocolHandler]


def decode(opcode, body, *, handler=ProtocolHandler, version=4, flags=0, kept=None):
    message = handler.decode_message(version, None, {}, 0, flags, opcode, body, None, kept)
    if handler is LazyProtocolHandler and message.opcode == 0x08 and message.parsed_rows:
        list(message.parsed_rows)
    return message


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.__name__)
@pytest.mark.parametrize("kind", WHOLE)
def test_a_response_cut_anywhere_is_a_malformed_frame(kind, handler):
    opcode, body = WHOLE[kind]
    decode(opcode, body, handler=handler)
    for length in range(len(body)):
        with pytest.raises(MalformedFrameError):
            decode(opcode, body[:length], handler=handler)


@pytest.mark.parametrize("kind", WHOLE)
@given(data=st.data())
def test_a_damaged_response_decodes_or_raises_an_exception_of_the_driver(kind, data):
    opcode, body = WHOLE[kind]
    damaged = bytearray(body)
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(damaged) - 1))
        damaged[where] = data.draw(st.sampled_from([0x00, 0x01, 0x7F, 0x80, 0xFF]))
    handler = data.draw(st.sampled_from(HANDLERS))
    version = data.draw(st.sampled_from([3, 4, 5]))
    with contextlib.suppress(DriverException):
        decode(opcode, bytes(damaged), handler=handler, version=version)


@given(opcode=st.integers(0, 255), flags=st.integers(0, 255), body=st.binary(max_size=80))
def test_noise_decodes_or_raises_an_exception_of_the_driver(opcode, flags, body):
    with contextlib.suppress(DriverException):
        decode(opcode, body, flags=flags)


def test_two_billion_rows_are_refused_before_anything_is_reserved():
    body = integer(2) + rows_metadata([("i", Int32Type)]) + b"\x7f\xff\xff\xff" + bytes(64)
    with pytest.raises(MalformedFrameError, match="2147483647 rows of 1 columns do not fit"):
        decode(0x08, body)


def test_rows_without_columns_cannot_be_many_either():
    body = integer(2) + rows_metadata([]) + b"\x7f\xff\xff\xff" + bytes(64)
    with pytest.raises(MalformedFrameError, match="do not fit"):
        decode(0x08, body)


def test_a_negative_number_of_rows_or_columns_is_malformed():
    with pytest.raises(MalformedFrameError, match="-1 rows"):
        decode(0x08, integer(2) + rows_metadata([("i", Int32Type)]) + integer(-1))
    with pytest.raises(MalformedFrameError, match="counts -5 columns"):
        decode(0x08, integer(2) + integer(4) + integer(-5) + integer(0))


def test_a_type_nested_without_end_is_refused():
    body = integer(2) + integer(1) + integer(1) + string("k") + string("t") + string("c")
    with pytest.raises(MalformedFrameError, match="nests deeper than 64"):
        decode(0x08, body + short(0x20) * 100_000)


@pytest.mark.parametrize(
    ("column_type", "words"),
    [
        (short(0x7777), "unknown type code: 0x7777"),
        (option("ListType(Int32Type"), "a type that cannot be"),
        (option("ListType(" * 5000), "a type that cannot be"),
    ],
)
def test_a_type_that_cannot_be_is_malformed(column_type, words):
    body = integer(2) + integer(1) + integer(1) + string("k") + string("t") + string("c")
    with pytest.raises(MalformedFrameError, match=words):
        decode(0x08, body + column_type + integer(0))


def test_a_result_without_metadata_needs_that_of_the_prepared_statement():
    body = rows_result([("i", Int32Type)], [], skip=True)
    with pytest.raises(MalformedFrameError, match="the request did not keep any"):
        decode(0x08, body)


def test_a_result_with_another_number_of_columns_than_was_kept_is_not_guessed_at():
    body = rows_result([("i", Int32Type)], [[bytes(4)]], skip=True)
    kept = [ColumnMetadata("ks", "t", name, Int32Type) for name in "ab"]
    with pytest.raises(MalformedFrameError, match=r"1 columns .* statement has 2"):
        decode(0x08, body, kept=kept)


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.__name__)
def test_a_value_that_is_none_of_its_type_names_its_column(handler):
    body = rows_result([("id", Int32Type), ("age", Int32Type)], [[bytes(4), b"abc"]])
    with pytest.raises(ColumnDecodeError, match='Failed decoding result column "age" of type int'):
        decode(0x08, body, handler=handler)


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.__name__)
def test_a_value_longer_than_the_frame_names_its_column(handler):
    body = rows_result([("id", UTF8Type), ("age", UTF8Type)], [[b"a", b"abcd"]])
    with pytest.raises(MalformedFrameError, match='column "age": 4 bytes wanted, 3 left'):
        decode(0x08, body[:-1], handler=handler)


@pytest.mark.parametrize(
    ("opcode", "body", "words"),
    [
        (0x08, integer(9), "unknown kind: 9"),
        (0x0C, string("WEATHER_CHANGE"), "unknown type: 'WEATHER_CHANGE'"),
        (0x0C, string("SCHEMA_CHANGE") + string("CREATED") + string("MOON"), "target: 'MOON'"),
        (0x07, b"", "unknown opcode: 0x07"),
    ],
)
def test_what_the_protocol_does_not_know_is_named(opcode, body, words):
    with pytest.raises(MalformedFrameError, match=words):
        decode(opcode, body)


def test_a_compressed_body_needs_an_agreement():
    with pytest.raises(MalformedFrameError, match="no compression was agreed on"):
        decode(0x02, b"", flags=0x01)


def test_every_opcode_of_the_server_has_its_message():
    assert sorted(RESPONSES_BY_OPCODE) == [0x00, 0x02, 0x03, 0x06, 0x08, 0x0C, 0x0E, 0x10]


@pytest.mark.parametrize("name", ["VectorType", "FrozenType", "ReversedType"])
@pytest.mark.parametrize("outer", ["VectorType({},2)", "FrozenType({})", "ReversedType({})"])
@pytest.mark.parametrize("handler", HANDLERS)
def test_types_that_lack_their_own_type_cost_their_values_and_no_more(name, outer, handler):
    custom = short(0) + string(outer.format(name))
    metadata = integer(1) + integer(1) + string("ks") + string("t") + string("c") + custom
    body = integer(2) + metadata
    decode(0x08, body + integer(0), handler=handler)
    with pytest.raises(ColumnDecodeError, match='column "c"'):
        decode(0x08, body + integer(1) + value(b"1234"), handler=handler)
