"""The tests' own node says what ScyllaDB's description of its protocol says, byte by byte."""

import io
import struct
from uuid import UUID

import pytest
import wire_bodies as wb
from cql_node import ERROR, EXECUTE, PREPARE, RESULT
from hypothesis import given
from hypothesis import strategies as st
from scylla.raw_client import RawClient
from scylla_node import extensions

from driver.topology import sharding
from driver.topology.token import murmur3
from driver.wire import primitives as p

SELECT = "SELECT v FROM ks.t WHERE k = ?"
INSERT = "INSERT INTO ks.t (k, v) VALUES (?, ?)"
ALL = (extensions.TABLETS, extensions.LWT, extensions.RATE_LIMIT)


@pytest.fixture
def node(scylla):
    cluster = scylla(shards=3, ignore_msb=12)
    cluster.create_table("ks", "t", tablets=2)
    return cluster.nodes[0]


def supported(client):
    return p.read_stringmultimap(io.BytesIO(client.options()))


def prepare(client, text):
    """The id of a statement, and the rest of the answer."""
    flags, opcode, body = client.ask(PREPARE, struct.pack(">i", len(text)) + text.encode())
    assert (flags, opcode, body[:4]) == (0, RESULT, wb.integer(4))
    (size,) = struct.unpack_from(">H", body, 4)
    return body[6 : 6 + size], body[6 + size :]


def execute(client, query_id, *values, metadata_id=None, tail=b""):
    data = b"".join(wb.value(struct.pack(">i", value)) for value in values)
    parameters = struct.pack(">HBH", 1, 0x01, len(values)) + data + tail
    ids = [query_id] if metadata_id is None else [query_id, metadata_id]
    return client.ask(EXECUTE, b"".join(wb.short(len(i)) + i for i in ids) + parameters)


def test_supported_has_the_keys_of_the_document(node):
    with RawClient(node) as client:
        said = supported(client)
    assert said["SCYLLA_SHARD"] == ["0"]
    assert said["SCYLLA_NR_SHARDS"] == ["3"]
    assert said["SCYLLA_PARTITIONER"] == ["org.apache.cassandra.dht.Murmur3Partitioner"]
    assert said["SCYLLA_SHARDING_ALGORITHM"] == ["biased-token-round-robin"]
    assert said["SCYLLA_SHARDING_IGNORE_MSB"] == ["12"]
    assert said["SCYLLA_SHARD_AWARE_PORT"] == [str(node.shard_aware_port)]
    assert said["SCYLLA_RATE_LIMIT_ERROR"] == ["ERROR_CODE=61440"]
    assert said["SCYLLA_LWT_ADD_METADATA_MARK"] == ["LWT_OPTIMIZATION_META_BIT_MASK=2147483648"]
    assert "TABLETS_ROUTING_V1" in said


def test_the_source_port_chooses_the_shard_on_the_shard_aware_port(node):
    for _ in range(4):
        with RawClient(node, node.shard_aware_port) as client:
            port = client.socket.getsockname()[1]
            assert supported(client)["SCYLLA_SHARD"] == [str(port % 3)]


def test_the_plain_port_gives_shards_in_turn(node):
    shards = []
    for _ in range(4):
        with RawClient(node) as client:
            shards += supported(client)["SCYLLA_SHARD"]
    assert shards == ["0", "1", "2", "0"]


@given(token=st.integers(-(2**63), 2**63 - 1), shards=st.integers(1, 256), msb=st.integers(0, 16))
def test_the_document_s_algorithm_is_the_driver_s(token, shards, msb):
    expected = extensions.shard_of(token, shards, msb)
    assert 0 <= expected < shards
    assert sharding.shard_of(token, shards, msb) == expected


def test_a_tablet_is_a_tuple_of_two_longs_and_a_list_of_hosts_and_shards():
    host = UUID("00112233-4455-6677-8899-aabbccddeeff")
    tablet = extensions.Tablet(-2, 1, ((host, 5),))
    body, flag = extensions.with_tablet(b"body", tablet)
    assert flag == 0x04
    assert body.hex(" ") == (
        "00 01 00 12 74 61 62 6c 65 74 73 2d 72 6f 75 74 69 6e 67 2d 76 31 "  # "tablets-routing-v1"
        "00 00 00 40 "
        "00 00 00 08 ff ff ff ff ff ff ff fe "
        "00 00 00 08 00 00 00 00 00 00 00 01 "
        "00 00 00 24 00 00 00 01 "
        "00 00 00 1c "
        "00 00 00 10 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff "
        "00 00 00 04 00 00 00 05 "
        "62 6f 64 79"
    )


def test_the_second_version_of_a_tablet_has_a_version_at_its_end():
    host = UUID("00112233-4455-6677-8899-aabbccddeeff")
    tablet = extensions.Tablet(-2, 1, ((host, 5),))
    first, _ = extensions.with_tablet(b"", tablet)
    body, flag = extensions.with_tablet(b"body", tablet, has_version=True)
    assert flag == 0x04
    assert body[:24] == b"\0\1\0\x12tablets-routing-v2\0\0"
    assert body[24:26] == b"\0\x4c"
    assert body[26:-16] == first[26:]
    assert body[-16:] == b"\0\0\0\x08" + tablet.version.to_bytes(8) + b"body"


def test_a_block_of_a_version_is_its_number_and_four_bits_counted_from_the_least():
    class Known(extensions.Tablet):
        version = 0xC000_0000_0000_3000

    known = Known(0, 1, ())
    # The example of the document (0xA3), and that of its page on the extension (0xFC for 0xC).
    assert known.has_version_block(0x33)
    assert known.has_version_block(0xFC)
    assert known.has_version_block(0xA0)
    assert not known.has_version_block(0xA3)


def misrouted(node, query_id, client):
    """A key whose tablet is not on the shard of this connection."""
    table = node.cluster.tables["ks.t"]
    shard = int(supported(client)["SCYLLA_SHARD"][0])
    for key in range(100):
        tablet = table.tablet_of(murmur3(struct.pack(">i", key)))
        if (node.host_id, shard) not in tablet.replicas:
            return key
    raise AssertionError(query_id)


def test_a_request_on_the_wrong_shard_is_answered_with_its_tablet(node):
    with RawClient(node) as client:
        client.startup(*ALL)
        query_id, _ = prepare(client, SELECT)
        flags, opcode, body = execute(client, query_id, misrouted(node, query_id, client))
    assert (flags, opcode) == (0x04, RESULT)
    assert p.read_bytesmap(io.BytesIO(body)).keys() == {"tablets-routing-v1"}


def test_a_client_that_does_not_know_tablets_gets_none(node):
    with RawClient(node) as client:
        client.startup()
        query_id, _ = prepare(client, SELECT)
        assert execute(client, query_id, misrouted(node, query_id, client))[0] == 0


@pytest.mark.parametrize("tail", [b"", b"\0\0"])
def test_an_execution_without_its_byte_is_refused(scylla, tail):
    cluster = scylla(lacks=())
    cluster.create_table("ks", "t", tablets=1)
    with RawClient(cluster.nodes[0]) as client:
        client.startup(extensions.TABLETS_V2)
        query_id, _ = prepare(client, SELECT)
        assert execute(client, query_id, 1, tail=tail)[1] == ERROR


def test_a_tablet_is_told_unless_its_version_is_shown(scylla):
    cluster = scylla(lacks=())
    version = cluster.create_table("ks", "t", tablets=1).tablets[0].version
    with RawClient(cluster.nodes[0]) as client:
        client.startup(extensions.TABLETS_V2)
        query_id, _ = prepare(client, SELECT)
        for block in range(16):
            right = block << 4 | (version >> 4 * block) & 0xF
            flags = [execute(client, query_id, 1, tail=bytes([b]))[0] for b in (right, right ^ 1)]
            assert flags == [0, 0x04]


def test_prepared_has_the_id_of_the_metadata_and_rows_say_that_it_changed(node):
    with RawClient(node) as client:
        client.startup(extensions.METADATA_ID)
        query_id, rest = prepare(client, SELECT)
        assert rest[:2] == b"\0\x10"
        current = rest[2:18]
        for sent, flags in ((current, 0x0001), (b"", 0x0009), (b"old", 0x0009)):
            _, _, body = execute(client, query_id, 1, metadata_id=sent)
            # kind, flags, number of columns, and the new id where the flag says so
            assert body[:12] == struct.pack(">iii", 2, flags, 1)
            assert (body[12:30] == b"\0\x10" + current) == (flags == 0x0009)


@pytest.mark.parametrize("extension", [(), (extensions.LWT,)], ids=["off", "on"])
def test_conditional_statements_are_marked_for_clients_that_ask(node, extension):
    with RawClient(node) as client:
        client.startup(*extension)
        flags = [
            struct.unpack_from(">I", prepare(client, text)[1])[0]
            for text in (INSERT, INSERT + " IF NOT EXISTS")
        ]
    assert [bool(flag & 0x80000000) for flag in flags] == [False, bool(extension)]


def test_the_rate_limit_has_its_code_and_two_bytes(node):
    node.rate_limited[INSERT] = True
    with RawClient(node) as client:
        client.startup(*ALL)
        query_id, _ = prepare(client, INSERT)
        _, opcode, body = execute(client, query_id, 1, 2)
    assert (opcode, body[:4], body[-2:]) == (ERROR, bytes.fromhex("0000f000"), b"\1\1")


def test_the_rate_limit_is_a_configuration_error_for_other_clients(node):
    node.rate_limited[INSERT] = False
    with RawClient(node) as client:
        client.startup()
        query_id, _ = prepare(client, INSERT)
        _, opcode, body = execute(client, query_id, 1, 2)
    assert (opcode, body[:4]) == (ERROR, bytes.fromhex("00002300"))
