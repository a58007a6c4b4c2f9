"""Every response decodes to the same values as with cassandra-driver, for generated bodies."""

import cassandra
import cassandra.protocol as peer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peers.known_message_differences import KNOWN_MESSAGE_DIFFERENCES
from wire_bodies import (
    inet_addr,
    integer,
    parts,
    prepared_result,
    rows_result,
    short,
    string,
    value,
)

from driver.protocol.columns import ColumnMetadata
from driver.protocol.errors import DriverException
from driver.types import UserType
from driver.types.registry import lookup_cqltype
from driver.wire.codec import ProtocolHandler
from driver.wire.compression import locally_supported_compressions
from driver.wire.handlers import LazyProtocolHandler, NumpyProtocolHandler
from driver.wire.malformed import ColumnDecodeError, MalformedFrameError
from driver.wire.primitives import write_bytesmap, write_stringlist, write_stringmultimap
from driver.wire.responses.errors import ERRORS_BY_CODE

VERSIONS = st.sampled_from([3, 4, 5])
NAME = st.text(max_size=8)
INTS = st.integers(-(2**31), 2**31 - 1)

# Types whose Python values are builtins on both sides; the values of all types are compared one
# layer below.
COLUMN_VALUES = {
    "ascii": st.text(st.characters(max_codepoint=127), max_size=5),
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "blob": st.binary(max_size=5),
    "boolean": st.booleans(),
    "decimal": st.decimals(allow_nan=False, allow_infinity=False, places=3),
    "double": st.floats(allow_nan=False),
    "float": st.floats(width=32, allow_nan=False),
    "inet": st.ip_addresses(v=4).map(str),
    "int": INTS,
    "smallint": st.integers(-(2**15), 2**15 - 1),
    "text": st.text(max_size=5),
    "tinyint": st.integers(-128, 127),
    "uuid": st.uuids(),
    "varint": st.integers(-(2**70), 2**70),
    "list<int>": st.lists(INTS, min_size=1, max_size=3),
    "frozen<list<list<text>>>": st.lists(st.lists(st.text(max_size=2), min_size=1), min_size=1),
    "frozen<tuple<int, text>>": st.tuples(INTS, st.text(max_size=3)),
}


def decode_both(opcode, body, *, version=4, flags=0, decompressor=None, kept=(None, None)):
    """Our message and the peer's."""
    mine = ProtocolHandler.decode_message(
        version, None, {}, 5, flags, opcode, body, decompressor, kept[0]
    )
    theirs = peer.ProtocolHandler.decode_message(
        version, {}, 5, flags, opcode, body, decompressor, kept[1]
    )
    return mine, theirs


def described(columns):
    """Columns with their types by name, which both drivers spell alike."""
    if columns is None:
        return None
    return [(ks, table, name, cql.cql_parameterized_type()) for ks, table, name, cql in columns]


def assert_same(mine, theirs, *names):
    for name in (*names, "stream_id", "trace_id", "custom_payload", "warnings", "opcode", "name"):
        assert getattr(mine, name) == getattr(theirs, name), name


@st.composite
def results(draw, max_columns=4):
    """Columns (name, type), rows of bytes."""
    types = draw(st.lists(st.sampled_from(sorted(COLUMN_VALUES)), min_size=1, max_size=max_columns))
    columns = [(draw(NAME), lookup_cqltype(cql)) for cql in types]
    row = st.tuples(*(st.none() | COLUMN_VALUES[cql] for cql in types))
    rows = [
        [None if v is None else t.serialize(v, 4) for v, (_, t) in zip(r, columns, strict=True)]
        for r in draw(st.lists(row, max_size=3))
    ]
    return columns, rows


@given(
    result=results(),
    version=VERSIONS,
    paging=st.none() | st.binary(min_size=1, max_size=5),
    new_id=st.none() | st.binary(max_size=5),
    one_table=st.booleans(),
)
def test_rows_are_the_same(result, version, paging, new_id, one_table):
    columns, rows = result
    body = rows_result(
        columns,
        rows,
        paging_state=paging,
        new_id=new_id if version == 5 else None,
        table=("ks", "t") if one_table else None,
    )
    mine, theirs = decode_both(0x08, body, version=version)
    assert_same(mine, theirs, "kind", "column_names", "parsed_rows", "paging_state")
    assert described(mine.column_metadata) == described(theirs.column_metadata)
    assert mine.result_metadata_id == getattr(theirs, "result_metadata_id", None)


@given(result=results(), version=VERSIONS)
def test_rows_with_the_metadata_of_a_prepared_statement_are_the_same(result, version):
    columns, rows = result
    prepared = prepared_result(b"id", columns, columns, version)
    mine, theirs = decode_both(0x08, prepared, version=version)
    kept = (mine.result_metadata, theirs.column_metadata)
    body = rows_result(columns, rows, skip=True)
    assert_same(*decode_both(0x08, body, version=version, kept=kept), "column_names", "parsed_rows")


@given(result=results(), version=VERSIONS)
def test_lazy_rows_and_arrays_hold_what_the_peers_tuples_hold(result, version):
    columns, rows = result
    columns = [(f"c{index}", cqltype) for index, (_, cqltype) in enumerate(columns)]
    body = rows_result(columns, rows)
    _, theirs = decode_both(0x08, body, version=version)
    lazy = LazyProtocolHandler.decode_message(version, None, {}, 5, 0, 8, body, None, None)
    assert list(lazy.parsed_rows) == theirs.parsed_rows
    arrays = NumpyProtocolHandler.decode_message(version, None, {}, 5, 0, 8, body, None, None)
    found = list(zip(*(array.tolist() for array in arrays.parsed_rows.values()), strict=True))
    assert found == theirs.parsed_rows


@given(
    markers=results(max_columns=5),
    result=results(),
    version=VERSIONS,
    pk=st.lists(st.integers(0, 9), max_size=3),
    query_id=st.binary(max_size=9),
    gives_rows=st.booleans(),
)
def test_prepared_statements_are_the_same(markers, result, version, pk, query_id, gives_rows):
    body = prepared_result(
        query_id, markers[0], result[0] if gives_rows else [], version, pk=pk, metadata_id=b"m"
    )
    mine, theirs = decode_both(0x08, body, version=version)
    assert_same(mine, theirs, "kind", "query_id", "result_metadata_id", "pk_indexes")
    assert described(mine.bind_metadata) == described(theirs.bind_metadata)
    assert described(mine.column_metadata) == described(theirs.column_metadata)


@pytest.mark.parametrize("cql", ["set<int>", "map<text, int>", "frozen<map<int, list<text>>>"])
def test_parameterized_types_of_columns_are_the_same(cql):
    mine, theirs = decode_both(0x08, rows_result([("c", lookup_cqltype(cql))], []))
    assert described(mine.column_metadata) == described(theirs.column_metadata)


@given(names=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True), number=INTS)
def test_user_defined_types_are_the_same(names, number):
    int_type = lookup_cqltype("int")
    udt = UserType.make_udt_class("ks", "u", names, [int_type] * len(names))
    data = udt.serialize([number] * len(names), 4)
    mine, theirs = decode_both(0x08, rows_result([("c", udt)], [[data], [None]]))
    assert mine.parsed_rows == theirs.parsed_rows
    assert mine.parsed_rows[0][0]._asdict() == theirs.parsed_rows[0][0]._asdict()


@given(
    version=VERSIONS,
    trace=st.none() | st.uuids(),
    warnings=st.none() | st.lists(NAME, max_size=3),
    payload=st.none() | st.dictionaries(NAME, st.none() | st.binary(max_size=4), max_size=3),
    compression=st.sampled_from([None, "lz4", "snappy"]),
    keyspace=NAME,
)
def test_what_surrounds_a_message_is_the_same(
    version, trace, warnings, payload, compression, keyspace
):
    flags, body = 0, b""
    if trace is not None:
        flags, body = flags | 0x02, trace.bytes
    if warnings is not None:
        flags, body = flags | 0x08, body + parts((write_stringlist, warnings))
    if payload is not None:
        flags, body = flags | 0x04, body + parts((write_bytesmap, payload))
    body += integer(3) + string(keyspace)
    decompressor = None
    if compression is not None and version < 5:
        compress, decompressor = locally_supported_compressions[compression]
        flags, body = flags | 0x01, compress(body)
    both = decode_both(0x08, body, version=version, flags=flags, decompressor=decompressor)
    assert_same(*both, "kind", "new_keyspace")
    assert (both[0].trace_id, both[0].new_keyspace) == (trace, keyspace)


@given(authenticator=NAME, token=st.binary(max_size=9))
def test_the_handshake_is_the_same(authenticator, token):
    assert_same(*decode_both(0x02, b""))
    assert_same(*decode_both(0x03, string(authenticator)), "authenticator")
    assert_same(*decode_both(0x0E, value(token)), "challenge")


@given(
    options=st.dictionaries(NAME, st.lists(NAME, max_size=3), max_size=4),
    versions=st.lists(NAME, max_size=3),
)
def test_supported_is_the_same(options, versions):
    body = parts((write_stringmultimap, {**options, "CQL_VERSION": versions}))
    assert_same(*decode_both(0x06, body), "cql_versions", "options")


@given(
    event=st.sampled_from(["TOPOLOGY_CHANGE", "STATUS_CHANGE"]),
    change=NAME,
    address=st.ip_addresses().map(str),
    port=st.integers(0, 65535),
)
def test_events_of_nodes_are_the_same(event, change, address, port):
    body = string(event) + string(change) + inet_addr(address) + integer(port)
    assert_same(*decode_both(0x0C, body), "event_type", "event_args")


@given(
    target=st.sampled_from(["KEYSPACE", "TABLE", "TYPE", "FUNCTION", "AGGREGATE"]),
    change=st.sampled_from(["CREATED", "UPDATED", "DROPPED"]),
    keyspace=NAME,
    name=NAME,
    types=st.lists(NAME, max_size=3),
)
def test_schema_changes_are_the_same_but_for_the_class_of_signatures(
    target, change, keyspace, name, types
):
    assert "signatures are named tuples" in KNOWN_MESSAGE_DIFFERENCES
    body = string(change) + string(target) + string(keyspace)
    if target != "KEYSPACE":
        body += string(name)
    key = target.lower()
    if target in {"FUNCTION", "AGGREGATE"}:
        body += parts((write_stringlist, types))
    event = decode_both(0x0C, string("SCHEMA_CHANGE") + body)
    result = decode_both(0x08, integer(5) + body)
    for mine, theirs in (
        (event[0].event_args, event[1].event_args),
        (result[0].schema_change_event, result[1].schema_change_event),
    ):
        if target in {"FUNCTION", "AGGREGATE"}:
            signature, peers = mine.pop(key), theirs.pop(key)
            assert signature.name == peers.name
            assert list(signature.argument_types) == peers.argument_types
            assert signature.signature == peers.signature
        assert mine == theirs


RESPONSES = short(6) + integer(1) + integer(2)
REASONS = integer(1) + inet_addr("10.0.0.1") + short(2)
PAYLOADS = {
    0x1000: short(8) + integer(3) + integer(0),
    0x1100: RESPONSES + string("UNLOGGED_BATCH"),
    0x1200: RESPONSES + b"\x01",
    0x1300: (RESPONSES + integer(4) + b"\x01", RESPONSES + REASONS + b"\x01"),
    0x1400: string("ks") + string("f") + short(1) + string("int"),
    0x1500: (RESPONSES + integer(4) + string("VIEW"), RESPONSES + REASONS + string("VIEW")),
    0x2400: string("ks") + string("t"),
    0x2500: short(2) + b"id",
}


@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize("code", sorted(set(ERRORS_BY_CODE) - {0x1700}), ids=hex)
def test_errors_are_the_same(code, version):
    payload = PAYLOADS.get(code, b"")
    if isinstance(payload, tuple):
        payload = payload[version >= 5]
    body = integer(code) + string("words") + payload
    mine, theirs = decode_both(0x00, body, version=version)
    assert_same(mine, theirs, "code", "message", "info", "summary")
    assert type(mine).__name__ == type(theirs).__name__
    assert mine.summary_msg() == theirs.summary_msg()
    assert str(mine) == str(theirs)
    error, peers = mine.to_exception(), theirs.to_exception()
    if peers is not theirs:
        assert type(error).__name__ in {base.__name__ for base in type(peers).__mro__}
        payload = {k: v for k, v in vars(peers).items() if not k.startswith("_")}
        assert {name: getattr(error, name) for name in payload} == payload


def test_known_difference_messages_are_not_exceptions():
    assert "messages are not exceptions" in KNOWN_MESSAGE_DIFFERENCES
    mine, theirs = decode_both(0x00, integer(0x1001) + string("busy"))
    assert theirs.to_exception() is theirs
    assert not isinstance(mine, Exception)
    assert type(mine.to_exception()).__name__ == "Overloaded"


def test_known_difference_cas_write_unknown_is_known():
    assert "CAS_WRITE_UNKNOWN is known" in KNOWN_MESSAGE_DIFFERENCES
    body = integer(0x1700) + string("who knows") + RESPONSES
    mine, theirs = decode_both(0x00, body, version=5)
    assert (type(theirs).__name__, theirs.info) == ("ErrorMessage", None)
    assert mine.info == {"consistency": 6, "received_responses": 1, "required_responses": 2}


def test_known_difference_cas_contentions_are_read():
    assert "CAS contentions are read" in KNOWN_MESSAGE_DIFFERENCES
    body = integer(0x1100) + string("late") + RESPONSES + string("CAS") + short(3)
    mine, theirs = decode_both(0x00, body, version=5)
    assert mine.info == {**theirs.info, "contentions": 3}


def test_known_difference_the_token_of_auth_success_is_bytes():
    assert "the token of AUTH_SUCCESS is bytes" in KNOWN_MESSAGE_DIFFERENCES
    mine, theirs = decode_both(0x10, value(b"token"))
    assert (mine.token, theirs.token) == (b"token", "token")


def test_known_difference_the_peers_numpy_handler_loses_the_rows():
    assert "the peer's NumPy handler loses the rows" in KNOWN_MESSAGE_DIFFERENCES
    body = rows_result([("c", lookup_cqltype("int"))], [[bytes(4)]])
    theirs = peer.NumpyProtocolHandler.decode_message(4, {}, 5, 0, 0x08, body, None, None)
    assert theirs.parsed_rows is None


def test_known_difference_columns_and_decode_errors_have_their_own_classes():
    assert "columns and decode errors have their own classes" in KNOWN_MESSAGE_DIFFERENCES
    columns = [("c", lookup_cqltype("int"))]
    mine, theirs = decode_both(0x08, rows_result(columns, []))
    assert type(mine.column_metadata[0]) is ColumnMetadata
    assert type(theirs.column_metadata[0]) is tuple
    body = rows_result(columns, [[b"abc"]])
    with pytest.raises(cassandra.DriverException, match='"c" of type int'):
        peer.ProtocolHandler.decode_message(4, {}, 5, 0, 0x08, body, None, None)
    with pytest.raises(ColumnDecodeError, match='"c" of type int') as raised:
        ProtocolHandler.decode_message(4, None, {}, 5, 0, 0x08, body, None, None)
    assert isinstance(raised.value, DriverException)


def test_known_difference_a_frame_that_ends_early_has_one_error():
    assert "a frame that ends early has one error" in KNOWN_MESSAGE_DIFFERENCES
    body = integer(3) + string("keyspace")[:-3]
    theirs = peer.ProtocolHandler.decode_message(4, {}, 5, 0, 0x08, body, None, None)
    assert theirs.new_keyspace == "keysp"
    with pytest.raises(MalformedFrameError, match="8 bytes wanted, 5 left"):
        ProtocolHandler.decode_message(4, None, {}, 5, 0, 0x08, body, None, None)
