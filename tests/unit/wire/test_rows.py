"""Rows as tuples, decoded on demand, and as NumPy columns; encrypted columns included."""

import ast
import inspect
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_bodies import rows_content, rows_result

import driver
from driver.protocol.columns import ColumnMetadata
from driver.protocol.errors import DependencyException
from driver.types import (
    BooleanType,
    BytesType,
    ByteType,
    CounterColumnType,
    DoubleType,
    FloatType,
    Int32Type,
    ListType,
    LongType,
    ShortType,
    UserType,
    UTF8Type,
    UUIDType,
    VectorType,
)
from driver.types.deserializers import Deserializer, make_deserializers
from driver.wire.handlers import LazyProtocolHandler, NumpyProtocolHandler, ProtocolHandler
from driver.wire.malformed import ColumnDecodeError
from driver.wire.responses import ResultMessage
from driver.wire.rows import LazyRows, parse_columns, parse_rows

INTS = ListType.apply_parameters((Int32Type,))
COLUMNS = [("i", Int32Type), ("t", UTF8Type), ("l", INTS)]
VALUES = st.tuples(
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.text(max_size=5),
    st.none() | st.lists(st.integers(-9, 9), min_size=1, max_size=3),
)


def arguments(columns, rows, offset=0):
    """What a row parser takes, for rows of Python values; bytes pass as they are."""
    metadata = [ColumnMetadata("ks", "t", name, cqltype) for name, cqltype in columns]
    data = [
        [
            value if value is None or isinstance(value, bytes) else cqltype.serialize(value, 4)
            for (_, cqltype), value in zip(columns, row, strict=True)
        ]
        for row in rows
    ]
    body = bytes(offset) + rows_content(data)
    return body, offset, metadata, make_deserializers([t for _, t in columns]), 4


@given(rows=st.lists(VALUES, max_size=5), offset=st.integers(0, 9))
def test_rows_are_tuples_in_the_order_of_the_columns(rows, offset):
    assert parse_rows(*arguments(COLUMNS, rows, offset)) == rows


@given(rows=st.lists(VALUES, max_size=5))
def test_lazy_rows_know_their_number_and_can_be_iterated_again(rows):
    lazy = LazyRows(*arguments(COLUMNS, rows))
    assert len(lazy) == len(rows)
    assert list(lazy) == rows
    assert list(lazy) == rows


def test_lazy_rows_decode_when_iteration_reaches_them():
    lazy = iter(LazyRows(*arguments([("i", Int32Type)], [(1,), (b"bad",)])))
    assert next(lazy) == (1,)
    with pytest.raises(ColumnDecodeError, match='"i"'):
        next(lazy)


@given(rows=st.lists(VALUES, max_size=7), size=st.integers(1, 4))
def test_lazy_rows_are_sliced_into_lists_of_a_size(rows, size):
    slices = list(LazyRows(*arguments(COLUMNS, rows)).slices(size))
    assert slices == [rows[at : at + size] for at in range(0, len(rows), size)]


def test_slices_end_with_the_error_of_the_row_that_has_it():
    slices = LazyRows(*arguments([("i", Int32Type)], [(1,), (2,), (3,), (b"bad",)])).slices(2)
    assert next(slices) == [(1,), (2,)]
    with pytest.raises(ColumnDecodeError, match='"i"'):
        next(slices)


FIXED = [
    (ByteType, np.int8, [-128, 127]),
    (ShortType, np.int16, [-(2**15), 258]),
    (Int32Type, np.int32, [-(2**31), 16909060]),
    (LongType, np.int64, [-(2**63), 2**62]),
    (CounterColumnType, np.int64, [0, 1]),
    (FloatType, np.float32, [0.5, -2.25]),
    (DoubleType, np.float64, [0.1, -1e300]),
]


@pytest.mark.parametrize(("cqltype", "dtype", "values"), FIXED, ids=lambda p: str(p)[:30])
def test_numbers_become_native_arrays_in_which_null_is_masked(cqltype, dtype, values):
    rows = [(value,) for value in (*values, None, b"")]
    array = parse_columns(*arguments([("n", cqltype)], rows))["n"]
    assert array.dtype == np.dtype(dtype)
    assert array.dtype.isnative
    assert array.mask.tolist() == [False, False, True, True]
    assert array[:2].tolist() == values


def test_all_other_types_become_arrays_of_objects():
    columns = [("b", BooleanType), ("t", UTF8Type), ("l", INTS)]
    arrays = parse_columns(*arguments(columns, [(True, "a", [1, 2]), (None, None, [3, 4])]))
    assert list(arrays) == ["b", "t", "l"]
    assert all(array.dtype == object and array.shape == (2,) for array in arrays.values())
    assert arrays["l"].tolist() == [[1, 2], [3, 4]]
    assert arrays["b"].tolist() == [True, None]


def test_no_rows_are_empty_arrays():
    arrays = parse_columns(*arguments(COLUMNS, []))
    assert {name: len(array) for name, array in arrays.items()} == {"i": 0, "t": 0, "l": 0}


def test_a_number_of_another_size_names_its_column():
    with pytest.raises(ColumnDecodeError, match='"i" of type int: 3 bytes where 4 are expected'):
        parse_columns(*arguments(COLUMNS, [(b"abc", "", None)]))


NUMBERS = (
    (ByteType, st.integers(-(2**7), 2**7 - 1)),
    (ShortType, st.integers(-(2**15), 2**15 - 1)),
    (Int32Type, st.integers(-(2**31), 2**31 - 1)),
    (LongType, st.integers(-(2**63), 2**63 - 1)),
    (CounterColumnType, st.integers(-(2**63), 2**63 - 1)),
    (FloatType, st.floats(width=32, allow_nan=False)),
    (DoubleType, st.floats(allow_nan=False)),
)


@given(
    rows=st.lists(st.tuples(*(st.none() | numbers for _, numbers in NUMBERS)), max_size=4),
    behind=st.binary(max_size=12),
)
def test_numbers_and_nulls_are_read_wherever_the_body_ends(rows, behind):
    columns = [(cqltype.typename, cqltype) for cqltype, _ in NUMBERS]
    body, *more = arguments(columns, rows)
    assert parse_rows(body + behind, *more) == rows


def test_a_number_of_another_size_in_rows_names_its_column():
    for data in (b"abc", b"abcde"):
        for behind in (b"", bytes(9)):
            body, *more = arguments([("i", Int32Type)], [(data,)])
            with pytest.raises(ColumnDecodeError, match=f'"i" of type int: .*{len(data)}'):
                parse_rows(body + behind, *more)


def test_a_type_of_an_application_decodes_its_numbers_and_texts_itself():
    class Doubled(Int32Type):
        @classmethod
        def deserialize(cls, data, protocol_version):
            return 2 * super().deserialize(data, protocol_version)

    class Loud(UTF8Type):
        @classmethod
        def deserialize(cls, data, protocol_version):
            return super().deserialize(data, protocol_version).upper()

    rows = [(21, "text"), (None, "")]
    found = parse_rows(*arguments([("i", Doubled), ("t", Loud)], rows))
    assert found == [(42, "TEXT"), (None, "")]


@pytest.mark.skipif(driver.IMPL == "cython", reason="compiled rows ask compiled deserializers")
def test_a_deserializer_of_an_application_is_asked_for_each_value():
    class Counted(Deserializer):
        def __init__(self):
            """Of any type."""

        def deserialize_bytes(self, data, _):
            return len(data or b"")

    body, offset, columns, _, version = arguments(COLUMNS[:2], [(7, "text"), (None, None)])
    own = [Counted(), Counted()]
    assert parse_rows(body, offset, columns, own, version) == [(4, 4), (0, 0)]


def test_numpy_is_optional_and_its_absence_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(DependencyException, match=r"pip install cqlpath\[numpy\]"):
        parse_columns(*arguments([("i", Int32Type)], [(1,)]))


class Reversing:
    """An encryption policy for one column, which stores an int backwards."""

    def __init__(self, table="t"):
        self.table = table

    def contains_column(self, coldesc):
        return coldesc == ("ks", self.table, "secret")

    def column_type(self, coldesc):
        assert coldesc.col == "secret"
        return Int32Type

    def decrypt(self, coldesc, encrypted_bytes):
        assert coldesc.col == "secret"
        return encrypted_bytes[::-1]


ENCRYPTED = arguments(
    [("secret", BytesType), ("open", BytesType)],
    [(b"\x07\x00\x00\x00", b"\x07\x00\x00\x00"), (None, None)],
)
DECRYPTED = [(7, b"\x07\x00\x00\x00"), (None, None)]


def test_an_encrypted_column_is_decrypted_and_has_the_type_of_the_policy():
    assert parse_rows(*ENCRYPTED, Reversing()) == DECRYPTED
    assert list(LazyRows(*ENCRYPTED, Reversing())) == DECRYPTED
    assert parse_columns(*ENCRYPTED, Reversing())["secret"].tolist() == [7, None]


def test_a_policy_without_the_column_changes_nothing():
    assert parse_rows(*ENCRYPTED, Reversing(table="other")) == parse_rows(*ENCRYPTED)


@pytest.mark.parametrize("parser", [parse_rows, lambda *a: list(LazyRows(*a)), parse_columns])
@pytest.mark.parametrize(("kind", "value"), [(BytesType, b"1234"), (Int32Type, 7)])
def test_a_policy_is_asked_once_for_a_column_however_many_rows_there_are(parser, kind, value):
    class Counting(Reversing):
        asked = 0

        def contains_column(self, coldesc):
            self.asked += 1
            return super().contains_column(coldesc)

    policy = Counting()
    parser(*arguments([("a", kind), ("b", kind)], [(value, value)] * 50), policy)
    assert policy.asked == 2


def test_an_encrypted_number_is_an_object_and_not_a_wrong_number():
    columns = arguments([("secret", Int32Type)], [(b"\x07\x00\x00\x00",), (None,)])
    array = parse_columns(*columns, Reversing())["secret"]
    assert array.dtype == object
    assert array.tolist() == [7, None]


def test_a_policy_that_fails_names_the_column():
    class Failing(Reversing):
        def decrypt(self, coldesc, encrypted_bytes):
            raise OSError(f"no key for {coldesc.col}, {len(encrypted_bytes)} bytes")

    with pytest.raises(ColumnDecodeError, match=r'"secret" .*: no key for secret, 4 bytes'):
        parse_rows(*ENCRYPTED, Failing())


@pytest.mark.parametrize("buffer", [bytearray, memoryview], ids=lambda b: b.__name__)
@pytest.mark.parametrize("cqltype", [UTF8Type, UUIDType], ids=repr)
def test_a_policy_may_give_any_buffer(buffer, cqltype):
    class Buffering(Reversing):
        def column_type(self, coldesc):
            assert coldesc.col == "secret"
            return cqltype

        def decrypt(self, coldesc, encrypted_bytes):
            return buffer(super().decrypt(coldesc, encrypted_bytes))

    plain = b"sixteen letters!"
    columns = arguments([("secret", BytesType)], [(plain[::-1],)])
    assert parse_rows(*columns, Buffering()) == [(cqltype.deserialize(plain, 4),)]


def test_a_policy_of_the_handler_reaches_the_rows():
    class Handler(ProtocolHandler):
        column_encryption_policy = Reversing()

    body = rows_result([("secret", BytesType)], [[b"\x01\x00\x00\x00"]])
    message = Handler.decode_message(4, None, {}, 0, 0, 0x08, body, None, None)
    assert message.parsed_rows == [(1,)]


@pytest.mark.parametrize(
    ("handler", "parsed"),
    [
        (ProtocolHandler, [(1,), (2,)]),
        (LazyProtocolHandler, [(1,), (2,)]),
        (NumpyProtocolHandler, {"i": [1, 2]}),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_the_handler_chooses_what_becomes_of_rows(handler, parsed):
    body = rows_result([("i", Int32Type)], [[bytes(3) + b"\x01"], [bytes(3) + b"\x02"]])
    rows = handler.decode_message(4, None, {}, 0, 0, 0x08, body, None, None).parsed_rows
    if isinstance(rows, dict):
        rows = {name: array.tolist() for name, array in rows.items()}
    assert (rows if isinstance(rows, dict) else list(rows)) == parsed


def test_as_many_deserializers_as_columns_are_needed():
    body, offset, columns, deserializers, version = arguments(COLUMNS, [(1, "", [1])])
    with pytest.raises(ValueError, match="as many deserializers as columns"):
        parse_rows(body, offset, columns, deserializers[:-1], version)


class Address:
    """What an application registers for the user-defined type."""

    def __init__(self, street, number):
        self.line = f"{street} {number}"


ADDRESS = UserType.make_udt_class("ks", "address", ["street", "number"], [UTF8Type, Int32Type])
USER_TYPES = {"ks": {"address": Address}}


def test_a_mapped_class_receives_the_values_of_a_user_defined_type():
    body = rows_result([("a", ADDRESS)], [[ADDRESS.serialize(("Elm", 5), 4)]])
    message = ProtocolHandler.decode_message(4, None, USER_TYPES, 0, 0, 8, body, None, None)
    assert message.parsed_rows[0][0].line == "Elm 5"


def test_a_mapped_class_receives_the_values_inside_of_a_vector():
    # The protocol has no code for vector: it comes as a class name, with all that is inside.
    vector = VectorType.with_size(ListType.apply_parameters((ADDRESS,)), 1)
    body = rows_result([("v", vector)], [[vector.serialize([[("Elm", 5)]], 4)]])
    message = ProtocolHandler.decode_message(4, None, USER_TYPES, 0, 0, 8, body, None, None)
    assert message.parsed_rows[0][0][0][0].line == "Elm 5"


def test_values_before_a_broken_one_are_released():
    made = []

    class Watched(Address):
        def __init__(self, street, number):
            super().__init__(street, number)
            made.append(weakref.ref(self))

    row = [ADDRESS.serialize(("Elm", 5), 4), b"\0\0\0\1"]
    body = rows_result([("a", ADDRESS), ("i", Int32Type)], [row, row, [row[0], b"bad"]])
    with pytest.raises(ColumnDecodeError):
        ProtocolHandler.decode_message(
            4, None, {"ks": {"address": Watched}}, 0, 0, 8, body, None, None
        )
    assert len(made) == 3
    assert [reference() for reference in made] == [None] * 3


def test_every_attribute_of_a_result_is_filled_by_some_kind():
    tree = ast.parse(Path(inspect.getsourcefile(ResultMessage)).read_text(encoding="utf-8"))
    filled = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    annotated = set(ResultMessage.__annotations__) - {"row_parser"}
    assert filled == annotated | {"custom_payload", "trace_id", "warnings"}


@pytest.mark.parametrize("handler", [ProtocolHandler, LazyProtocolHandler, NumpyProtocolHandler])
def test_a_result_has_no_dictionary(handler):
    body = rows_result([("i", Int32Type)], [[b"\0\0\0\7"]])
    message = handler.decode_message(4, None, {}, 3, 0, 8, body, None, None)
    assert not hasattr(message, "__dict__")
    assert message.stream_id == 3
    assert message.warnings is message.custom_payload is message.trace_id is None


def test_the_repr_of_a_result_shows_what_it_has_and_nothing_else():
    body = rows_result([("i", Int32Type)], [[b"\0\0\0\7"]])
    message = ProtocolHandler.decode_message(4, None, {}, 3, 0, 8, body, None, None)
    shown = repr(message)
    assert shown.startswith("<ResultMessage(kind=ROWS, ")
    assert "column_names=['i'], " in shown
    assert "parsed_rows=[(7,)], stream_id=3)>" in shown
    assert "None" not in shown
    assert "False" not in shown


def test_the_repr_of_a_subclass_without_slots_shows_what_users_add():
    class Own(ResultMessage):
        pass

    message = Own(1)
    message.note = "mine"
    assert repr(message) == "<Own(kind=VOID, note='mine')>"
