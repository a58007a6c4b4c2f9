"""Metadata that came before is compared, not read: when that is so, and when it must not be."""

import pytest
from wire_bodies import integer, rows_result

from driver.types import Int32Type, ListType, TupleType, UserType, UTF8Type
from driver.wire import row_shape
from driver.wire.codec import ProtocolHandler
from driver.wire.malformed import MalformedFrameError

INT = bytes(4)
UDT = UserType.make_udt_class("ks", "u", ["a"], [Int32Type])


@pytest.fixture(autouse=True)
def _nothing_known():
    row_shape.KNOWN.clear()
    yield
    row_shape.KNOWN.clear()


def decode(body, *, types=None, flags=0):
    return ProtocolHandler.decode_message(4, None, types or {}, 0, flags, 8, body, None, None)


def test_results_with_the_same_metadata_share_their_shape():
    first, second = (decode(rows_result([("a", Int32Type)], [[INT]] * n)) for n in (1, 2))
    assert second.column_metadata is first.column_metadata
    assert (first.parsed_rows, second.parsed_rows) == ([(0,)], [(0,), (0,)])
    assert second.column_names == ["a"]


def test_another_page_of_the_same_statement_shares_the_shape_too():
    first = decode(rows_result([("a", Int32Type)], [[INT]], paging_state=b"next"))
    last = decode(rows_result([("a", Int32Type)], [[INT]]))
    assert last.column_metadata is first.column_metadata
    assert (first.paging_state, last.paging_state) == (b"next", None)


def test_a_result_with_warnings_knows_the_shape_and_makes_no_other():
    body = rows_result([("a", Int32Type)], [[INT]])
    first = decode(body)
    warned = decode(b"\0\1\0\1w" + body, flags=8)
    assert warned.warnings == ["w"]
    assert warned.column_metadata is first.column_metadata
    assert len(row_shape.KNOWN) == 1


def test_columns_that_begin_as_known_ones_do_are_others():
    one = decode(rows_result([("a", Int32Type)], [[INT]]))
    two = decode(rows_result([("a", Int32Type), ("b", Int32Type)], [[INT, INT]]))
    elsewhere = decode(rows_result([("a", Int32Type)], [[INT]], table=("ks", "u")))
    apart = decode(rows_result([("a", Int32Type)], [[INT]], table=None))
    shapes = [each.column_metadata for each in (one, two, elsewhere, apart)]
    assert len(set(map(id, shapes))) == 4
    assert [len(shape) for shape in shapes] == [1, 2, 1, 1]
    assert elsewhere.column_metadata[0].table_name == "u"


@pytest.mark.parametrize(
    "cqltype", [UDT, ListType.apply_parameters((UDT,)), TupleType.apply_parameters((UDT,))]
)
def test_a_type_that_users_may_map_is_read_each_time(cqltype):
    body = rows_result([("a", cqltype)], [[None]])
    plain = decode(body)
    mapped = decode(body, types={"ks": {"u": dict}})
    assert mapped.column_metadata is not plain.column_metadata
    inner = mapped.column_types[0]
    inner = inner if issubclass(inner, UserType) else inner.subtypes[0]
    assert inner.mapped_class is dict


def test_a_custom_type_is_read_each_time():
    body = rows_result([("a", "org.example.Unheard")], [[None]])
    assert decode(body).column_metadata is not decode(body).column_metadata


def test_what_is_known_is_bounded():
    for number in range(100):
        decode(rows_result([(f"c{number}", UTF8Type)], [[b""]]))
    decode(rows_result([("c" * 40_000, UTF8Type)], [[b""]]))
    assert len(row_shape.KNOWN) == 32
    assert sum(len(known.columns) for known in row_shape.KNOWN) < 32 * 64


def test_a_known_shape_cut_short_is_malformed():
    body = rows_result([("a", Int32Type)], [[INT]])
    decode(body)
    for length in range(4, len(body)):
        with pytest.raises(MalformedFrameError):
            decode(body[:length])
    with pytest.raises(MalformedFrameError, match="metadata counts -1 columns"):
        decode(body[:8] + integer(-1) + body[12:])
