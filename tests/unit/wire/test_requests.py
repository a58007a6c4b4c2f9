"""What a version of the protocol cannot carry is refused before a byte is sent."""

import io

import pytest

from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import UnsupportedOperation
from driver.protocol.kinds import BatchType
from driver.protocol.unset import UNSET_VALUE
from driver.protocol.version import ProtocolVersion
from driver.wire.codec import ProtocolHandler
from driver.wire.requests import (
    AuthResponseMessage,
    BatchMessage,
    ExecuteMessage,
    OptionsMessage,
    PrepareMessage,
    QueryMessage,
)

ONE = ConsistencyLevel.ONE


def encode(message, version, compressor=None):
    return ProtocolHandler.encode_message(message, 0, version, compressor, False)


def body(message, version):
    f = io.BytesIO()
    message.send_body(f, version)
    return f.getvalue()


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    "message",
    [
        QueryMessage("q", ONE, keyspace="ks"),
        PrepareMessage("q", keyspace="ks"),
        BatchMessage(BatchType.LOGGED, [], ONE, keyspace="ks"),
    ],
    ids=lambda message: message.name,
)
def test_a_keyspace_needs_v5(message, version):
    with pytest.raises(UnsupportedOperation, match=f"a keyspace .* v{version}"):
        encode(message, version)


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    "message",
    [
        QueryMessage("q", ONE),
        ExecuteMessage(b"id", [], ONE),
        BatchMessage(BatchType.LOGGED, [], ONE),
    ],
    ids=lambda message: message.name,
)
def test_the_time_needs_v5(message, version, monkeypatch):
    monkeypatch.setattr(message, "now_in_seconds", 7)
    with pytest.raises(UnsupportedOperation, match=f"now_in_seconds .* v{version}"):
        encode(message, version)


@pytest.mark.parametrize(
    "message",
    [
        QueryMessage("q", ONE, query_params=[UNSET_VALUE]),
        QueryMessage("q", ONE, query_params={"a": UNSET_VALUE}),
        ExecuteMessage(b"id", [b"", UNSET_VALUE], ONE),
        BatchMessage(BatchType.LOGGED, [(False, "q", [UNSET_VALUE])], ONE),
    ],
    ids=["query", "query by name", "execute", "batch"],
)
def test_unset_needs_v4_because_v3_would_delete_the_cell(message):
    with pytest.raises(UnsupportedOperation, match="UNSET_VALUE needs protocol v4"):
        encode(message, 3)
    assert b"\xff\xff\xff\xfe" in encode(message, 4)


def test_a_custom_payload_with_more_entries_than_are_counted_is_refused():
    message = QueryMessage("q", 1)
    message.update_custom_payload({str(number): None for number in range(0x10000)})
    with pytest.raises(ValueError, match=r"65535 entries at most, .* not 65536"):
        encode(message, 4)


def test_a_custom_payload_needs_v4():
    message = QueryMessage("q", ONE)
    message.update_custom_payload({"k": None})
    with pytest.raises(UnsupportedOperation, match="custom payload needs protocol v4"):
        encode(message, 3)


def test_v5_execute_needs_the_id_of_the_metadata():
    with pytest.raises(ValueError, match="needs a result_metadata_id in protocol v5"):
        encode(ExecuteMessage(b"id", [], ONE), 5)


def test_v5_does_not_compress_bodies_because_segments_are_compressed():
    message = QueryMessage("q", ONE)
    assert encode(message, 5, compressor=lambda _: b"never") == encode(message, 5)


@pytest.mark.parametrize("version", [3, 4])
def test_an_empty_body_is_not_compressed(version):
    assert encode(OptionsMessage(), version, compressor=lambda _: b"never") == encode(
        OptionsMessage(), version
    )


def test_fetch_size_zero_and_an_empty_paging_state_ask_for_nothing():
    assert body(QueryMessage("q", ONE, None, 0, b""), 4) == body(QueryMessage("q", ONE), 4)


def test_a_timestamp_of_zero_is_a_timestamp():
    assert body(QueryMessage("q", ONE, timestamp=0), 4).endswith(bytes(8))


def test_payloads_add_up_and_the_callers_dict_stays_as_it_is():
    mine = {"a": b"1"}
    message = QueryMessage("q", ONE)
    message.update_custom_payload(mine)
    message.update_custom_payload({"b": b"2"})
    message.update_custom_payload(None)
    assert message.custom_payload == {"a": b"1", "b": b"2"}
    assert mine == {"a": b"1"}


def test_a_request_shows_its_fields_but_never_a_password():
    assert "query='q'" in repr(QueryMessage("q", ONE))
    assert "secret" not in repr(AuthResponseMessage(b"\x00me\x00secret"))


@pytest.mark.parametrize("token", [None, "", b""])
def test_no_token_is_an_empty_one(token):
    assert body(AuthResponseMessage(token), 4) == bytes(4)


def test_bodies_are_compressed_exactly_in_the_versions_without_segments():
    # The codec compares versions in line; ProtocolVersion is where the rule is written down.
    for version in range(ProtocolVersion.MIN_SUPPORTED, 0x80):
        compressed = b"small" in encode(QueryMessage("q", ONE), version, lambda _: b"small")
        assert compressed is not ProtocolVersion.has_checksumming_support(version), version
