"""Every request message is the same bytes as cassandra-driver's, for generated values."""

from pathlib import Path

import cassandra.protocol as peer
import pytest
from cassandra.query import UNSET_VALUE as PEER_UNSET
from hypothesis import given
from hypothesis import strategies as st
from peers.known_message_differences import KNOWN_MESSAGE_DIFFERENCES

from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import UnsupportedOperation
from driver.protocol.kinds import BatchType
from driver.protocol.unset import UNSET_VALUE
from driver.wire import requests as ours
from driver.wire.codec import ProtocolHandler
from driver.wire.compression import locally_supported_compressions

LEVELS = st.sampled_from(ConsistencyLevel)
SERIAL = st.none() | st.sampled_from([ConsistencyLevel.SERIAL, ConsistencyLevel.LOCAL_SERIAL])
VALUE = st.none() | st.just(UNSET_VALUE) | st.binary(max_size=20)
TIMESTAMP = st.none() | st.integers(0, 2**63 - 1)
PAYLOAD = st.dictionaries(st.text(max_size=5), st.none() | st.binary(max_size=5), max_size=3)
TEXT = st.text(max_size=50)
KEYSPACE = st.none() | st.text(min_size=1, max_size=9)
COMPRESSIONS = st.sampled_from([None, *locally_supported_compressions])
VERSIONS = st.sampled_from([3, 4, 5])

QUERY_OPTIONS = {
    "consistency_level": LEVELS,
    "serial_consistency_level": SERIAL,
    "fetch_size": st.none() | st.integers(0, 2**31 - 1),
    "paging_state": st.none() | st.binary(max_size=10),
    "timestamp": TIMESTAMP,
}
BATCHED = st.tuples(st.just(True), st.binary(max_size=9), st.lists(VALUE, max_size=3)) | st.tuples(
    st.just(False), TEXT, st.lists(VALUE, max_size=3)
)

# The arguments of each message's constructor; a keyspace only where the version has it.
ARGUMENTS = {
    "StartupMessage": {
        "cqlversion": TEXT,
        "options": st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=4),
    },
    "AuthResponseMessage": {"response": st.binary(max_size=30) | TEXT},
    "OptionsMessage": {},
    "RegisterMessage": {"event_list": st.lists(TEXT, max_size=3)},
    "QueryMessage": {"query": TEXT, "keyspace": KEYSPACE, **QUERY_OPTIONS},
    "PrepareMessage": {"query": TEXT, "keyspace": KEYSPACE},
    "ExecuteMessage": {
        "query_id": st.binary(max_size=20),
        "query_params": st.lists(VALUE, max_size=5),
        "result_metadata_id": st.binary(max_size=20),
        **QUERY_OPTIONS,
    },
    "BatchMessage": {
        "batch_type": st.sampled_from(BatchType),
        "queries": st.lists(BATCHED, max_size=4),
        "consistency_level": LEVELS,
        "serial_consistency_level": SERIAL,
        "timestamp": TIMESTAMP,
        "keyspace": KEYSPACE,
    },
}
# A payload and tracing belong to these alone (native protocol v4, section 2.2).
STATEMENTS = ["QueryMessage", "PrepareMessage", "ExecuteMessage", "BatchMessage"]


def without_unset(value):
    """The same arguments with null for UNSET, for v3."""
    if isinstance(value, list | tuple):
        return type(value)(without_unset(part) for part in value)
    return None if value is UNSET_VALUE else value


def for_peer(value):
    """The same arguments with the peer's UNSET."""
    if isinstance(value, list | tuple):
        return type(value)(for_peer(part) for part in value)
    return PEER_UNSET if value is UNSET_VALUE else value


@pytest.mark.parametrize("name", ARGUMENTS)
@given(data=st.data(), version=VERSIONS, compression=COMPRESSIONS, beta=st.booleans())
def test_a_request_is_the_same_bytes(name, data, version, compression, beta):
    arguments = data.draw(st.fixed_dictionaries(ARGUMENTS[name]))
    if version < 5 and "keyspace" in arguments:
        arguments["keyspace"] = None
    if version < 4:
        arguments = {key: without_unset(value) for key, value in arguments.items()}
    mine = getattr(ours, name)(**arguments)
    theirs = getattr(peer, name)(**{key: for_peer(value) for key, value in arguments.items()})
    if name in STATEMENTS:
        mine.tracing = theirs.tracing = data.draw(st.booleans())
        payload = data.draw(PAYLOAD) if version >= 4 else None
        mine.update_custom_payload(payload)
        theirs.update_custom_payload(payload)
    compressor = locally_supported_compressions[compression][0] if compression else None
    stream = data.draw(st.integers(0, 2**15 - 1))
    assert ProtocolHandler.encode_message(
        mine, stream, version, compressor, beta
    ) == peer.ProtocolHandler.encode_message(theirs, stream, version, compressor, beta)


def test_every_request_of_ours_is_compared():
    assert set(ARGUMENTS) == {name for name, value in vars(ours).items() if isinstance(value, type)}


def encode_both(name, version, **arguments):
    """Our frame and the peer's, or the exceptions instead."""
    frames = []
    for module, handler in ((ours, ProtocolHandler), (peer, peer.ProtocolHandler)):
        changed = arguments if module is ours else {k: for_peer(v) for k, v in arguments.items()}
        message = getattr(module, name)(**changed)
        try:
            frames.append(handler.encode_message(message, 0, version, None, False))
        except Exception as error:  # noqa: BLE001  (returned to be looked at)
            frames.append(error)
    return frames


@pytest.mark.parametrize("name", ["QueryMessage", "PrepareMessage", "BatchMessage"])
@pytest.mark.parametrize("version", [3, 4])
def test_both_refuse_a_keyspace_before_v5(name, version):
    arguments = {
        "QueryMessage": {"query": "q", "consistency_level": 1},
        "PrepareMessage": {"query": "q"},
        "BatchMessage": {"batch_type": BatchType.LOGGED, "queries": [], "consistency_level": 1},
    }[name]
    mine, theirs = encode_both(name, version, **arguments, keyspace="ks")
    assert type(mine).__name__ == type(theirs).__name__ == "UnsupportedOperation"


def test_known_difference_skip_meta_sets_the_flag():
    assert "skip_meta sets the flag" in KNOWN_MESSAGE_DIFFERENCES
    mine, theirs = encode_both(
        "ExecuteMessage",
        4,
        query_id=b"i",
        query_params=[],
        consistency_level=ConsistencyLevel.ONE,
        skip_meta=True,
    )
    flags = 9 + 3 + 2
    assert (mine[flags], theirs[flags]) == (0x03, 0x01)
    assert mine[:flags] + mine[flags + 1 :] == theirs[:flags] + theirs[flags + 1 :]


def test_known_difference_unset_in_v3_is_refused():
    assert "UNSET in v3 is refused" in KNOWN_MESSAGE_DIFFERENCES
    mine, theirs = encode_both(
        "ExecuteMessage", 3, query_id=b"i", query_params=[UNSET_VALUE], consistency_level=1
    )
    assert isinstance(mine, UnsupportedOperation)
    assert theirs.endswith(b"\xff\xff\xff\xfe")


def test_known_difference_v5_execute_without_a_metadata_id():
    assert "v5 EXECUTE without a metadata id" in KNOWN_MESSAGE_DIFFERENCES
    mine, theirs = encode_both(
        "ExecuteMessage", 5, query_id=b"i", query_params=[], consistency_level=1
    )
    assert (type(mine), type(theirs)) == (ValueError, TypeError)


def test_known_difference_a_negative_timestamp_is_written():
    assert "a negative timestamp is written" in KNOWN_MESSAGE_DIFFERENCES
    mine, theirs = encode_both("QueryMessage", 4, query="q", consistency_level=1, timestamp=-2)
    assert mine.endswith(b"\xff" * 7 + b"\xfe")
    assert isinstance(theirs, Exception)


def test_known_difference_an_empty_keyspace_is_written():
    assert "an empty keyspace is written" in KNOWN_MESSAGE_DIFFERENCES
    mine, theirs = encode_both("PrepareMessage", 5, query="q", keyspace="")
    assert (mine[9 + 4 + 1 :], theirs[9 + 4 + 1 :]) == (b"\0\0\0\1\0\0", b"\0\0\0\1")


def test_the_document_lists_every_known_difference():
    document = (Path(__file__).parents[2] / "docs" / "peers.md").read_text(encoding="utf-8")
    words = " ".join(document.split())
    for difference, reason in KNOWN_MESSAGE_DIFFERENCES.items():
        assert f"**{difference}**: {reason}" in words, difference
