"""Request frames written out by hand from the specifications, byte for byte."""

import pytest

from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.kinds import BatchType
from driver.protocol.unset import UNSET_VALUE
from driver.wire.codec import ProtocolHandler
from driver.wire.requests import (
    AuthResponseMessage,
    BatchMessage,
    ExecuteMessage,
    OptionsMessage,
    PrepareMessage,
    QueryMessage,
    RegisterMessage,
    StartupMessage,
)
from driver.wire.requests.query import ScyllaExecuteMessage

ONE, QUORUM, SERIAL = ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL


def with_options(message, **options):
    for name, value in options.items():
        setattr(message, name, value)
    return message


# version, message, then the frame: header (version, flags, stream, opcode, length) and body parts.
FRAMES = {
    "OPTIONS has no body": (
        4,
        OptionsMessage(),
        ["04 00 0001 05 00000000"],
    ),
    "STARTUP is a string map with CQL_VERSION": (
        4,
        StartupMessage("3.0.0", {}),
        ["04 00 0001 01 00000016", "0001", "000b 43514c5f56455253494f4e", "0005 332e302e30"],
    ),
    "AUTH_RESPONSE is bytes": (
        4,
        AuthResponseMessage(b"\x00u\x00p"),
        ["04 00 0001 0f 00000008", "00000004 00750070"],
    ),
    "REGISTER is a string list": (
        3,
        RegisterMessage(["STATUS_CHANGE"]),
        ["03 00 0001 0b 00000011", "0001", "000d 5354415455535f4348414e4745"],
    ),
    "v3 QUERY with nothing but a consistency": (
        3,
        QueryMessage("USE a", ONE),
        ["03 00 0001 07 0000000c", "00000005 5553452061", "0001", "00"],
    ),
    "v4 QUERY with all its parts in order": (
        4,
        QueryMessage("q", QUORUM, SERIAL, 5000, b"\xab", 1, query_params=[b"v", None, UNSET_VALUE]),
        [
            "04 00 0001 07 0000002a",
            "00000001 71",
            "0004",
            "3d",  # values, page size, paging state, serial consistency, timestamp
            "0003  00000001 76  ffffffff  fffffffe",
            "00001388",
            "00000001 ab",
            "0008",
            "0000000000000001",
        ],
    ),
    "v4 QUERY with values by name": (
        4,
        QueryMessage("q", ONE, query_params={"k": b"v"}),
        ["04 00 0001 07 00000012", "00000001 71", "0001", "41", "0001  0001 6b  00000001 76"],
    ),
    "v5 QUERY has flags of four bytes, a keyspace and the time": (
        5,
        with_options(QueryMessage("q", ONE, keyspace="ks"), now_in_seconds=2),
        [
            "05 00 0001 07 00000013",
            "00000001 71",
            "0001",
            "00000180",
            "0002 6b73",
            "00000002",
        ],
    ),
    "v5 EXECUTE has a keyspace and the time behind its timestamp": (
        5,
        with_options(
            ExecuteMessage(b"\x01", [b"v"], ONE, timestamp=1, result_metadata_id=b"\x09"),
            now_in_seconds=-2,
            keyspace="ks",
        ),
        [
            "05 00 0001 0a 00000023",
            "0001 01",
            "0001 09",
            "0001",
            "000001a1",  # values, timestamp, keyspace, the time
            "0001  00000001 76",
            "0000000000000001",
            "0002 6b73",
            "fffffffe",
        ],
    ),
    "v5 BATCH has a keyspace and the time behind its timestamp": (
        5,
        with_options(
            BatchMessage(BatchType.LOGGED, [], ONE, SERIAL, 1), keyspace="ks", now_in_seconds=7
        ),
        [
            "05 00 0001 0d 0000001b",
            "00  0000",
            "0001",
            "000001b0",  # serial consistency, timestamp, keyspace, the time
            "0008",
            "0000000000000001",
            "0002 6b73",
            "00000007",
        ],
    ),
    "v4 PREPARE is a long string": (
        4,
        PrepareMessage("q"),
        ["04 00 0001 09 00000005", "00000001 71"],
    ),
    "v5 PREPARE has flags and a keyspace": (
        5,
        PrepareMessage("q", keyspace="ks"),
        ["05 00 0001 09 0000000d", "00000001 71", "00000001", "0002 6b73"],
    ),
    "v4 EXECUTE that skips metadata": (
        4,
        ExecuteMessage(b"\x01\x02", [b"v"], ONE, skip_meta=True, result_metadata_id=b"\x09"),
        ["04 00 0001 0a 0000000e", "0002 0102", "0001", "03", "0001  00000001 76"],
    ),
    "v5 EXECUTE has the id of the metadata": (
        5,
        ExecuteMessage(b"\x01\x02", [], ONE, skip_meta=True, result_metadata_id=b"\x09"),
        ["05 00 0001 0a 0000000f", "0002 0102", "0001 09", "0001", "00000003", "0000"],
    ),
    "v4 EXECUTE of ScyllaDB has the id of the metadata": (
        4,
        ScyllaExecuteMessage.of(ExecuteMessage(b"\x01\x02", [b"v"], ONE), b"\x09", None),
        ["04 00 0001 0a 00000011", "0002 0102", "0001 09", "0001", "01", "0001  00000001 76"],
    ),
    "v4 EXECUTE of ScyllaDB ends with a block of the tablet's version": (
        4,
        ScyllaExecuteMessage.of(
            ExecuteMessage(b"\x01\x02", [], ONE, timestamp=1, skip_meta=True), None, 0xA3
        ),
        [
            "04 00 0001 0a 00000012",
            "0002 0102",
            "0001",
            "23  0000",
            "0000000000000001",
            "a3",
        ],
    ),
    "v4 EXECUTE of ScyllaDB that knows no id has an empty one": (
        4,
        ScyllaExecuteMessage.of(ExecuteMessage(b"\x01\x02", [], ONE), b"", 0),
        ["04 00 0001 0a 0000000c", "0002 0102", "0000", "0001", "01  0000", "00"],
    ),
    "v4 BATCH of a prepared statement and a text": (
        4,
        BatchMessage(
            BatchType.UNLOGGED, [(True, b"\x07", [b"v"]), (False, "q", [])], ONE, SERIAL, 258
        ),
        [
            "04 00 0001 0d 00000023",
            "01  0002",
            "01  0001 07  0001  00000001 76",
            "00  00000001 71  0000",
            "0001",
            "30",
            "0008",
            "0000000000000102",
        ],
    ),
    "v5 BATCH with a keyspace and the time": (
        5,
        with_options(BatchMessage(BatchType.COUNTER, [], QUORUM, keyspace="ks"), now_in_seconds=-1),
        ["05 00 0001 0d 00000011", "02  0000", "0004", "00000180", "0002 6b73", "ffffffff"],
    ),
}


@pytest.mark.parametrize("case", FRAMES)
def test_a_request_is_the_frame_of_the_specification(case):
    version, message, parts = FRAMES[case]
    frame = ProtocolHandler.encode_message(message, 1, version, None, False)
    assert frame.hex() == "".join(parts).replace(" ", "")


def test_tracing_a_payload_and_beta_are_flags_and_the_payload_comes_first():
    message = QueryMessage("q", ONE)
    message.tracing = True
    message.update_custom_payload({"k": b"v"})
    frame = ProtocolHandler.encode_message(message, -2, 4, None, True)
    assert frame == bytes.fromhex(
        "04 16 fffe 07 00000012  0001 0001 6b 00000001 76  00000001 71  0001 00"
    )


def test_a_compressed_body_is_flagged_and_its_length_is_the_compressed_one():
    message = QueryMessage("q", ONE)
    frame = ProtocolHandler.encode_message(message, 1, 4, lambda body: b"<" + body + b">", False)
    assert frame == bytes.fromhex("04 01 0001 07 0000000a  3c 00000001 71 0001 00 3e")
