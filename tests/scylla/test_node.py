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


def execute(client, query_id, *values):
    data = b"".join(wb.value(struct.pack(">i", value)) for value in values)
    parameters = struct.pack(">HBH", 1, 0x01, len(values)) + data
    return client.ask(EXECUTE, wb.short(len(query_id)) + query_id + parameters)


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
