"""Both row parsers give the same rows, and fail with the same words, on the same bytes."""

import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

# Type strings of columns, and values that they hold.
INTS = st.integers(-(2**31), 2**31 - 1)
COLUMNS = {
    "int": INTS,
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "smallint": st.integers(-(2**15), 2**15 - 1),
    "tinyint": st.integers(-128, 127),
    "double": st.floats(allow_nan=False),
    "float": st.floats(width=32, allow_nan=False),
    "text": st.text(max_size=6),
    "blob": st.binary(max_size=6),
    "boolean": st.booleans(),
    "varint": st.integers(-(2**90), 2**90),
    "uuid": st.uuids(),
    "inet": st.ip_addresses().map(str),
    "list<int>": st.lists(INTS, max_size=3),
    "map<text, double>": st.dictionaries(st.text(max_size=3), st.floats(allow_nan=False)),
    "frozen<tuple<int, text>>": st.tuples(st.none() | INTS, st.none() | st.text(max_size=3)),
    "vector<float, 3>": st.lists(st.floats(width=32, allow_nan=False), min_size=3, max_size=3),
}


@st.composite
def tables(draw):
    """Type strings of the columns, and rows of values."""
    types = draw(st.lists(st.sampled_from(sorted(COLUMNS)), max_size=4))
    if not types:
        return types, []
    row = st.tuples(*(st.none() | COLUMNS[cql] for cql in types))
    return types, draw(st.lists(row, max_size=4))


def serialize(driver, types, rows):
    """The body of a table, serialized by one of the two drivers."""
    lookup = importlib.import_module(f"{driver.__name__}.types.registry").lookup_cqltype
    cqltypes = [lookup(cql) for cql in types]
    body = len(rows).to_bytes(4, "big")
    for row in rows:
        for cqltype, value in zip(cqltypes, row, strict=True):
            data = None if value is None else cqltype.serialize(value, 4)
            size = -1 if data is None else len(data)
            body += size.to_bytes(4, "big", signed=True) + (data or b"")
    return body


def parse(driver, parser, types, body, offset=0, policy=None):
    """What a parser makes of a body: (its rows, None) or (None, (error's class, its words))."""

    def module(name):
        return importlib.import_module(f"{driver.__name__}.{name}")

    cqltypes = [module("types.registry").lookup_cqltype(cql) for cql in types]
    column = module("protocol.columns").ColumnMetadata
    columns = [column("ks", "t", f"c{i}", cqltype) for i, cqltype in enumerate(cqltypes)]
    deserializers = module("types.deserializers").make_deserializers(cqltypes)
    function = getattr(module("wire.rows"), parser)
    try:
        found = function(body, offset, columns, deserializers, 4, policy)
        if parser == "parse_columns":
            found = {
                name: (str(array.dtype), str(getattr(array, "mask", None)), array.tolist())
                for name, array in found.items()
            }
        else:
            found = list(found)
    except Exception as error:  # noqa: BLE001  (whatever it is, it must be the same)
        return None, (type(error).__name__, str(error))
    return repr(found), None


PARSERS = pytest.mark.parametrize("parser", ["parse_rows", "LazyRows", "parse_columns"])


@PARSERS
@given(table=tables(), offset=st.integers(0, 5))
def test_the_same_rows_come_out(pure, compiled, parser, table, offset):
    types, rows = table
    body = bytes(offset) + serialize(pure, types, rows)
    expected = parse(pure, parser, types, body, offset)
    assert expected[1] is None
    assert parse(compiled, parser, types, body, offset) == expected


@PARSERS
@given(table=tables(), data=st.data())
def test_damaged_rows_fail_in_the_same_words(pure, compiled, parser, table, data):
    types, rows = table
    body = bytearray(serialize(pure, types, rows))
    for _ in range(data.draw(st.integers(0, 3))):
        where = data.draw(st.integers(0, len(body) - 1))
        body[where] = data.draw(st.sampled_from([0x00, 0x01, 0x04, 0x7F, 0x80, 0xFF]))
    damaged = bytes(body[: data.draw(st.integers(0, len(body)))])
    expected = parse(pure, parser, types, damaged)
    assert parse(compiled, parser, types, damaged) == expected


class Reversing:
    """An encryption policy: values of the second column are stored backwards."""

    def __init__(self, column_type):
        self.types = column_type

    def contains_column(self, coldesc):
        return coldesc.col == "c1"

    def column_type(self, coldesc):
        assert coldesc.ks == "ks"
        return self.types

    def decrypt(self, coldesc, encrypted_bytes):
        assert coldesc.table == "t"
        return encrypted_bytes[::-1]


@PARSERS
@given(values=st.lists(st.none() | st.binary(max_size=5), max_size=6))
def test_encrypted_columns_are_decrypted_alike(pure, compiled, parser, values):
    rows = [(value, value) for value in values]
    body = serialize(pure, ["blob", "blob"], rows)
    results = []
    for driver in (pure, compiled):
        types = importlib.import_module(f"{driver.__name__}.types")
        policy = Reversing(types.Int32Type)
        results.append(parse(driver, parser, ["blob", "blob"], body, policy=policy))
    assert results[0] == results[1]


@PARSERS
def test_a_wrong_number_of_deserializers_is_refused_alike(pure, compiled, parser):
    for driver in (pure, compiled):
        rows = importlib.import_module(f"{driver.__name__}.wire.rows")
        with pytest.raises(ValueError, match="as many deserializers as columns are needed"):
            getattr(rows, parser)(bytes(4), 0, [], [None], 4)


@PARSERS
@pytest.mark.parametrize(
    "plain",
    [bytearray(4), memoryview(bytes(4)), None, "text", 4],
    ids=lambda plain: type(plain).__name__,
)
def test_what_a_policy_decrypts_to_is_taken_or_refused_alike(pure, compiled, parser, plain):
    class Giving(Reversing):
        def decrypt(self, _coldesc, _encrypted_bytes):
            return plain

    body = serialize(pure, ["blob", "blob"], [(b"1", b"2")])
    results = []
    for driver in (pure, compiled):
        types = importlib.import_module(f"{driver.__name__}.types")
        results.append(parse(driver, parser, ["blob"] * 2, body, policy=Giving(types.Int32Type)))
    assert results[0] == results[1]


@PARSERS
@pytest.mark.parametrize("offset", [-1, -12, -(2**63), 9, 12, 13, 2**31])
def test_an_offset_outside_of_the_body_is_refused_alike(pure, compiled, parser, offset):
    body = serialize(pure, ["int"], [(1,)])
    expected = parse(pure, parser, ["int"], body, offset)
    assert expected[0] is None
    assert parse(compiled, parser, ["int"], body, offset) == expected


def body_of(values):
    """One row of as many columns as there are values, which are bytes."""
    return b"\0\0\0\1" + b"".join(len(value).to_bytes(4) + value for value in values)


@pytest.mark.parametrize("size", range(26))
@pytest.mark.parametrize("inside", [b"", b"\x7f", b"\x80", b"\xff", "é".encode(), "🐧".encode()])
def test_texts_of_any_length_with_anything_in_any_place(pure, compiled, size, inside):
    for place in range(size + 1):
        value = bytes(range(97, 97 + place)) + inside + b"~" * (size - place)
        for types in (["text"], ["frozen<list<text>>"]):
            given = value if types == ["text"] else b"\0\0\0\1" + len(value).to_bytes(4) + value
            body = body_of([given])
            wanted = parse(pure, "parse_rows", types, body)
            assert parse(compiled, "parse_rows", types, body) == wanted


EDGES = [0, 1, 5, 6, 255, 256, 257, *(2**bits + by for bits in (30, 31, 60) for by in (-1, 0, 1))]


@pytest.mark.parametrize("cql", ["int", "bigint"])
def test_numbers_at_the_edges_of_their_digits(pure, compiled, cql):
    most = 2**31 if cql == "int" else 2**63
    values = [sign * edge for edge in [*EDGES, most - 1] for sign in (1, -1)] + [-most]
    rows = [(value,) for value in values if -most <= value < most]
    body = serialize(pure, [cql], rows)
    assert parse(compiled, "parse_rows", [cql], body) == parse(pure, "parse_rows", [cql], body)
    types = importlib.import_module("driver.types")
    found = importlib.import_module("driver.wire.rows").parse_rows(
        body,
        0,
        (cql,),
        types.deserializers.make_deserializers([types.registry.lookup_cqltype(cql)]),
        4,
    )
    # As dictionaries see them, and arithmetic does.
    assert [(hash(value), value - 1 + 1) for (value,) in found] == [
        (hash(value), value) for (value,) in rows
    ]
