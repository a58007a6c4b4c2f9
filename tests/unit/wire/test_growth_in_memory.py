"""What a frame may become in memory is limited, and by how much is a setting."""

import tracemalloc

import pytest
import wire_bodies as wb

from driver.protocol.errors import MarshalException
from driver.protocol.limits import limits, shortened
from driver.types import Int32Type, ListType, TupleType, UserType
from driver.types.deserializers import find_deserializer
from driver.wire.codec import ProtocolHandler
from driver.wire.compression import locally_supported_compressions
from driver.wire.malformed import ColumnDecodeError, MalformedFrameError

WIDE = TupleType.apply_parameters((Int32Type,) * 65535)
EACH = pytest.mark.parametrize("name", ["lz4", "snappy"])


def decode_rows(columns, cells):
    body = wb.rows_result(columns, cells)
    return ProtocolHandler.decode_message(4, None, {}, 0, 0, 0x08, body, None, None), len(body)


@pytest.fixture
def growth():
    before = limits.growth
    yield limits
    limits.growth = before


def test_a_list_of_wide_tuples_that_say_nothing_is_refused():
    cell = wb.integer(2000) + (wb.integer(4) + wb.integer(-1)) * 2000
    tracemalloc.start()
    try:
        with pytest.raises(ColumnDecodeError, match="65535 fields") as told:
            decode_rows([("t", ListType.apply_parameters((WIDE,)))], [[cell]])
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    assert len(str(told.value)) < 2500


def test_so_is_a_row_of_them():
    with pytest.raises(ColumnDecodeError, match="growth is 512"):
        decode_rows([("t", WIDE)], [[wb.integer(4) + wb.integer(1)[:4]]])


@pytest.mark.parametrize("cqltype", [WIDE, UserType.make_udt_class("k", "u", ["a"], [Int32Type])])
def test_a_value_with_all_of_its_fields_is_not(cqltype):
    data = (wb.integer(4) + wb.integer(1)) * len(cqltype.subtypes)
    assert len(find_deserializer(cqltype).deserialize_bytes(data, 4)) == len(cqltype.subtypes)


def test_a_type_that_got_five_hundred_fields_since_is_read():
    names = [f"f{number}" for number in range(500)]
    grown = UserType.make_udt_class("k", "grown", names, [Int32Type] * 500)
    value = find_deserializer(grown).deserialize_bytes(wb.integer(4) + wb.integer(7), 4)
    assert value[:2] == (7, None)


def test_the_limit_is_a_setting(growth):
    data = wb.integer(4) + wb.integer(7)
    growth.growth = 65536
    assert find_deserializer(WIDE).deserialize_bytes(data, 4)[0] == 7
    growth.growth = 1
    with pytest.raises(MarshalException, match=r"growth is 1$"):
        find_deserializer(WIDE).deserialize_bytes(data, 4)


@pytest.mark.parametrize(
    ("name", "body"),
    [("lz4", b"\x0f\xff\xff\xff" + b"a" * 20), ("snappy", b"\xff\xff\xff\x7f" + b"a" * 20)],
)
def test_a_body_that_claims_more_than_it_can_hold_is_refused(name, body):
    with pytest.raises(MalformedFrameError, match="a compressed frame of 24 bytes claims"):
        locally_supported_compressions[name][1](body)


@EACH
def test_what_compresses_best_is_no_lie(name):
    compress, decompress = locally_supported_compressions[name]
    for size in (0, 1, 100, 10_000, 5_000_000):
        assert decompress(compress(bytes(size))) == bytes(size)


@EACH
def test_bodies_may_grow_less_if_that_is_set(name, growth):
    compress, decompress = locally_supported_compressions[name]
    growth.growth = 10
    with pytest.raises(MalformedFrameError, match="no more than 10 times"):
        decompress(compress(bytes(100_000)))


def test_messages_leave_the_middle_of_long_texts_out():
    assert shortened("a" * 600) == "a" * 600
    assert shortened("a" * 100_000 + "end").endswith("aend")
    assert len(shortened("a" * 100_000)) < 700
