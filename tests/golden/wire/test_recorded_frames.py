"""Every frame that a real Cassandra sent decodes to what another driver decoded from it."""

import re

import pytest

from asv_benchmarks import recordings
from driver.wire.compression import locally_supported_compressions
from driver.wire.handlers import LazyProtocolHandler, ProtocolHandler
from driver.wire.segments import SegmentCodec

FRAMES = [(version, name) for version in (4, 5) for name in recordings.names(version)]
ROW_FRAMES = [
    (version, name)
    for version, name in FRAMES
    if recordings.frame(name, version).about["kind"] == "ROWS"
]
KINDS = {1: "VOID", 2: "ROWS", 3: "SET_KEYSPACE", 4: "PREPARED", 5: "SCHEMA_CHANGE"}
SEGMENTS = [entry["name"] for entry in recordings.manifest()["segments"]]
#: The two drivers write these types differently: varchar is CQL's other name for text, and
#: cassandra-driver has no CQL name for vectors.
TYPE_NAMES = (
    (r"\bvarchar\b", "text"),
    (r"org\.apache\.cassandra\.db\.marshal\.VectorType", "vector"),
)
#: cassandra-driver adds a timestamp's seconds as a float, which is six microseconds off in the year
#: 9999; the server keeps milliseconds.
FLOAT_TIMESTAMP = {"timestamp": "9999-12-31T23:59:59.998993"}
EXACT_TIMESTAMP = {"timestamp": "9999-12-31T23:59:59.999000"}
MESSAGE_FACTS = ("cql_versions", "options", "authenticator", "event_type", "event_args")
COMMON = {"message_class", "stream", "trace_id", "warnings", "custom_payload"}


def decode(name, version, handler=ProtocolHandler, data=None):
    frame = recordings.frame(name, version)
    decompress = locally_supported_compressions.get(frame.about["compression"], (None, None))[1]
    metadata = frame.about["prepared"] and decode(frame.about["prepared"], version).column_metadata
    body = frame.body if data is None else data
    return handler.decode_message(
        version, None, {}, frame.stream, frame.flags, frame.opcode, body, decompress,
        metadata or None,
    )  # fmt: skip


def cql(kind):
    return renamed(kind.cql_parameterized_type())


def renamed(name):
    for pattern, replacement in TYPE_NAMES:
        name = re.sub(pattern, replacement, name)
    return name


def columns(metadata):
    return [[*column[:3], cql(column.type)] for column in metadata or ()]


def known_columns(expected):
    return [[*names, renamed(kind)] for *names, kind in expected]


def expectation(name, version):
    return recordings.expected()[f"v{version}/{name}"]


@pytest.mark.parametrize(("version", "name"), FRAMES)
def test_what_comes_along_with_a_recorded_frame_is_decoded_alike(version, name):
    message, known = decode(name, version), expectation(name, version)
    assert message.stream_id == known["stream"]
    assert recordings.plain(message.trace_id) == known["trace_id"]
    assert recordings.plain(message.warnings) == known["warnings"]
    assert recordings.plain(message.custom_payload) == known["custom_payload"]
    assert KINDS.get(getattr(message, "kind", None), "") == known.get("kind", "")


@pytest.mark.parametrize(("version", "name"), ROW_FRAMES)
def test_recorded_rows_are_decoded_alike(version, name):
    message, known = decode(name, version), expectation(name, version)
    assert message.column_names == known["column_names"]
    assert [cql(kind) for kind in message.column_types] == list(map(renamed, known["column_types"]))
    assert recordings.plain(message.paging_state) == known["paging_state"]
    assert recordings.plain(message.result_metadata_id) == known["result_metadata_id"]
    assert_rows(message.parsed_rows, known)


@pytest.mark.parametrize(("version", "name"), ROW_FRAMES)
def test_lazy_rows_of_a_recorded_frame_are_the_same(version, name):
    assert_rows(
        list(decode(name, version, LazyProtocolHandler).parsed_rows), expectation(name, version)
    )


def assert_rows(rows, known):
    if "rows" in known:
        assert recordings.plain(rows) == [
            [EXACT_TIMESTAMP if value == FLOAT_TIMESTAMP else value for value in row]
            for row in known["rows"]
        ]
    else:
        assert len(rows) == known["row_count"]
        assert recordings.plain(rows[0]) == known["first_row"]
        assert recordings.plain(rows[-1]) == known["last_row"]
        assert recordings.digest(rows) == known["rows_digest"]


@pytest.mark.parametrize(
    ("version", "name"), [frame for frame in FRAMES if frame[1].startswith("prepared_")]
)
def test_recorded_answers_to_prepare_are_decoded_alike(version, name):
    message, known = decode(name, version), expectation(name, version)
    assert recordings.plain(message.query_id) == known["query_id"]
    assert recordings.plain(message.result_metadata_id) == known["result_metadata_id"]
    assert columns(message.bind_metadata) == known_columns(known["bind_metadata"])
    assert columns(message.column_metadata) == known_columns(known["column_metadata"])
    assert list(message.pk_indexes) == known["pk_indexes"]


@pytest.mark.parametrize(
    ("version", "name"), [frame for frame in FRAMES if frame[1].startswith("error_")]
)
def test_recorded_errors_become_the_same_exceptions(version, name):
    message, known = decode(name, version), expectation(name, version)
    assert (message.code, message.message) == (known["code"], known["message"])
    raised = message.to_exception()
    for fact in set(known) - {"code", "message", "class", "exception", "info"} - COMMON:
        assert recordings.plain(getattr(raised, fact)) == known[fact], fact
    if known["exception"] != known["class"]:
        assert type(raised).__name__ == known["exception"]


@pytest.mark.parametrize(("version", "name"), FRAMES)
def test_other_recorded_messages_are_decoded_alike(version, name):
    message, known = decode(name, version), expectation(name, version)
    for fact in set(known) & {"new_keyspace"}:
        assert getattr(message, fact) == known[fact]
    if "token" in known:  # bytes by the protocol; cassandra-driver reads text
        assert message.token == known["token"].encode()
    if "schema_change_event" in known:
        assert flat(message.schema_change_event) == known["schema_change_event"]
    if known["message_class"] == "EventMessage" and known["event_type"] == "SCHEMA_CHANGE":
        assert flat(message.event_args) == dict(known["event_args"]["map"])
    else:
        for fact in set(known) & set(MESSAGE_FACTS):
            assert recordings.plain(getattr(message, fact)) == known[fact], fact


def flat(event):
    return {
        key: [value.name, list(value.argument_types)] if hasattr(value, "argument_types") else value
        for key, value in event.items()
    }


@pytest.mark.parametrize("name", SEGMENTS)
def test_recorded_segments_hold_a_frame_of_rows(name):
    compressed = "lz4" in name
    frame = payload_of(name, compressed)
    rows = {"one": 1, "page": 100, "split": 5000}[name.rpartition("_")[2]]
    message = ProtocolHandler.decode_message(
        5, None, {}, 1, frame[1], frame[4], frame[9:], None, None
    )
    assert len(message.parsed_rows) == rows


def payload_of(name, compressed):
    from driver.wire.compression import segment_compress, segment_decompress

    codec = SegmentCodec(segment_compress, segment_decompress) if compressed else SegmentCodec()
    data, payloads = recordings.segments(name), []
    while data:
        size = codec.header_length_with_crc
        header = codec.decode_header(data[:size])
        payloads.append(codec.decode(header, data[size : size + header.segment_length]))
        data = data[size + header.segment_length :]
    return b"".join(payloads)


def test_a_recorded_frame_with_a_changed_byte_is_not_the_same_rows():
    frame, known = recordings.frame("rows_page_100"), expectation("rows_page_100", 4)
    changed = bytearray(frame.body)
    changed[-1] ^= 1
    rows = decode("rows_page_100", 4, data=bytes(changed)).parsed_rows
    assert recordings.digest(rows) != known["rows_digest"]
