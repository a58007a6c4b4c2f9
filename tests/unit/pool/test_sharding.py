"""Shards: a connection to each, by source port where that chooses, by trial where it does not."""

import itertools

import pytest
from cql_node import CqlNode
from loops import eventually

from driver.policies.reconnection import ConstantReconnectionPolicy
from driver.pool.sharding import shard_aware_endpoint
from driver.topology.endpoint import DefaultEndPoint, UnixSocketEndPoint
from driver.topology.sharding import shard_of
from driver.wire.features import ShardingInfo

SHARDS = 4
MURMUR3 = "org.apache.cassandra.dht.Murmur3Partitioner"


class ShardedNode(CqlNode):
    """Gives its shards in turn on the plain port, by source port on the shard-aware one."""

    def __init__(self, *, aware=True, lies=False, shards=SHARDS, turns=None):
        super().__init__(supported=self._sharding)
        self.aware, self.lies, self.shards = aware, lies, shards
        self.aware_port = None
        self._turns = itertools.cycle(turns or range(shards))

    def start(self):
        super().start()
        if self.aware:
            self.aware_port = self.listen_too()
        return self

    __enter__ = start

    def _on_connect(self, client):
        self.came_to_aware_port = client.local_port == (self.aware_port,)
        if self.came_to_aware_port and not self.lies:
            client.shard = client.peername[1] % self.shards
        else:
            client.shard = next(self._turns)

    def _sharding(self, client):
        options = {
            "SCYLLA_SHARD": [str(client.shard)],
            "SCYLLA_NR_SHARDS": [str(self.shards)],
            "SCYLLA_PARTITIONER": [MURMUR3],
            "SCYLLA_SHARDING_ALGORITHM": ["biased-token-round-robin"],
            "SCYLLA_SHARDING_IGNORE_MSB": ["12"],
        }
        if self.aware_port is not None:
            options["SCYLLA_SHARD_AWARE_PORT"] = [str(self.aware_port)]
        return options


def shards_of(pool):
    return sorted(connection.features.shard_id for connection in pool._connections)


@pytest.mark.parametrize("aware", [True, False])
def test_every_shard_gets_one_connection(run, make_pool, aware):
    with ShardedNode(aware=aware) as node:

        async def main():
            pool = make_pool(node)
            await pool.open()
            assert shards_of(pool) == list(range(SHARDS))
            assert pool.shards_count == SHARDS
            assert pool.host.sharding_info.shards_count == SHARDS
            await pool.close()

        run(main())
        if aware:
            # One to learn of the shards, then exactly one for each other.
            assert node.accepted == SHARDS


def test_requests_go_to_the_shard_of_their_token(run, make_pool):
    with ShardedNode() as node:

        async def main():
            pool = make_pool(node)
            await pool.open()
            for token in range(-(2**63), 2**63, 2**59 + 12345):
                connection, stream = pool.borrow_connection(routing_token=token)
                assert connection.features.shard_id == shard_of(token, SHARDS, 12)
                connection.release_request_id(stream)
            await pool.close()

        run(main())


def test_the_shard_of_a_tablet_goes_before_that_of_the_token(run, make_pool):
    with ShardedNode() as node:

        async def main():
            pool = make_pool(node)
            await pool.open()
            for shard in range(SHARDS):
                connection, stream = pool.borrow_connection(routing_token=5, shard=shard)
                assert connection.features.shard_id == shard
                connection.release_request_id(stream)
            connection, stream = pool.borrow_connection(shard=99)
            connection.release_request_id(stream)
            await pool.close()

        run(main())


def test_a_busy_shard_leaves_requests_to_others(run, make_pool):
    with ShardedNode() as node:

        async def main():
            pool = make_pool(node, settings={"max_requests": 2}, drain_timeout=0)
            await pool.open()
            taken = [pool.borrow_connection(shard=1) for _ in range(4)]
            shards = [connection.features.shard_id for connection, _ in taken]
            assert shards[:2] == [1, 1]
            assert 1 not in shards[2:]
            for connection, stream in taken:
                connection.release_request_id(stream)
            await pool.close()

        run(main())


def test_a_lost_shard_is_found_again(run, make_pool):
    with ShardedNode() as node:

        async def main():
            pool = make_pool(node)
            await pool.open()
            client = next(client for client in node.clients if client.shard == 2)
            node.do(client.transport.abort)
            await eventually(lambda: node.accepted == SHARDS + 1)
            await eventually(lambda: shards_of(pool) == list(range(SHARDS)))
            await pool.close()

        run(main())


def test_source_ports_that_something_changes_are_trusted_no_more(run, make_pool, caplog):
    with ShardedNode(lies=True, turns=[0, 3, 2, 1]) as node:

        async def main():
            pool = make_pool(node)
            await pool.open()
            assert shards_of(pool) == list(range(SHARDS))
            assert not pool._shards.trusts_port
            await pool.close()

        run(main())
    assert "something between changes source ports" in caplog.text


def test_source_ports_that_are_taken_fall_back_to_trial(run, make_pool, monkeypatch, caplog):
    with ShardedNode() as node, CqlNode() as other:
        # Every source port is that of a server here.
        monkeypatch.setattr("driver.pool.sharding._ports_to_try", lambda *_: [other.port])

        async def main():
            pool = make_pool(node)
            await pool.open()
            assert shards_of(pool) == list(range(SHARDS))
            assert pool._shards.trusts_port
            await pool.close()

        run(main())
    assert "cannot be chosen by source port, so they are found by trial" in caplog.text
    assert "Address already in use" in caplog.text


def test_a_node_that_never_gives_a_shard_is_not_asked_for_ever(run, make_pool):
    with ShardedNode(aware=False, turns=[0, 1, 2]) as node:

        async def main():
            pool = make_pool(node, reconnection_policy=ConstantReconnectionPolicy(3600, None))
            await pool.open()
            assert shards_of(pool) == [0, 1, 2]
            await eventually(lambda: len(node.clients) == 3)
            connection, stream = pool.borrow_connection(shard=3)
            connection.release_request_id(stream)
            await pool.close()

        run(main())
        assert node.accepted <= 1 + 4 * SHARDS


def test_a_node_with_one_shard_is_like_any_other(run, make_pool):
    with ShardedNode(shards=1) as node:

        async def main():
            pool = make_pool(node, connections_per_host=2)
            await pool.open()
            assert pool.open_count == 2
            connection, stream = pool.borrow_connection(routing_token=7)
            connection.release_request_id(stream)
            await pool.close()

        run(main())


def test_the_shard_aware_port_depends_on_tls_and_needs_an_address():
    info = ShardingInfo(0, 4, MURMUR3, "biased-token-round-robin", 12, 19042, 19142)
    plain = DefaultEndPoint("10.0.0.1", 9042)
    assert shard_aware_endpoint(plain, info, is_encrypted=False).port == 19042
    assert shard_aware_endpoint(plain, info, is_encrypted=True).port == 19142
    unix = UnixSocketEndPoint("/tmp/x")  # noqa: S108  (nothing is opened)
    assert shard_aware_endpoint(unix, info, is_encrypted=False) is None
    without = ShardingInfo(0, 4, MURMUR3, "biased-token-round-robin", 12)
    assert shard_aware_endpoint(plain, without, is_encrypted=False) is None
