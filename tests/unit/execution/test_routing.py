"""Routing: token and shard for the pools of nodes that have shards."""

from uuid import UUID

import answers
import pytest
from script import NUMBER, row, session_of

from driver.statements import SimpleStatement
from driver.topology.tablets import Tablet
from driver.wire.features import ShardingInfo

KEY = b"\0\0\0\x01"
SHARDING = ShardingInfo(0, 4, "p", "a", 12)
STATEMENT = SimpleStatement("q", routing_key=KEY, keyspace="ks", table="t")


@pytest.fixture
def session():
    """A session of one host with shards, whose token is known."""
    session = session_of([row(1)])
    session.host.sharding_info = SHARDING
    session.cluster.metadata.rebuild_token_map("Murmur3Partitioner", {session.host: ["0"]})
    return session


def routed(session, statement):
    session.execute(statement)
    return session.pools[session.host].routed


def token(session):
    return session.cluster.metadata.token_of(KEY).value


def test_the_token_of_the_partition_is_told(session):
    assert routed(session, STATEMENT) == [(token(session), None)]


def test_a_tablet_names_the_shard(session):
    value = token(session)
    tablet = Tablet(value - 1, value, ((session.host.host_id, 3),))
    session.cluster.metadata.tablets.add_tablet("ks", "t", tablet)
    assert routed(session, STATEMENT) == [(value, 3)]


def test_a_tablet_of_other_nodes_does_not(session):
    value = token(session)
    tablet = Tablet(value - 1, value, ((UUID(int=99), 3),))
    session.cluster.metadata.tablets.add_tablet("ks", "t", tablet)
    assert routed(session, STATEMENT) == [(value, None)]


def test_the_keyspace_in_use_is_that_of_statements_without_one(session):
    value = token(session)
    tablet = Tablet(value - 1, value, ((session.host.host_id, 2),))
    session.cluster.metadata.tablets.add_tablet("used", "t", tablet)
    session.keyspace = "used"
    assert routed(session, SimpleStatement("q", routing_key=KEY, table="t")) == [(value, 2)]


def test_without_a_key_there_is_no_token(session):
    assert routed(session, SimpleStatement("q")) == []


def test_without_a_ring_there_is_no_token(session):
    session.cluster.metadata.token_map = None
    assert routed(session, STATEMENT) == []


def test_without_shards_nobody_asks(session):
    session.host.sharding_info = None
    assert routed(session, STATEMENT) == []


def test_messages_of_the_driver_go_to_any_shard(session):
    session.scripts[session.host].left = [answers.prepared(b"id", NUMBER)]
    session.prepare("q")
    assert session.pools[session.host].routed == []
