"""A pool has a connection to every shard of its node, however the shards can be reached."""

import asyncio
import socket
import ssl
from types import SimpleNamespace

import pytest
import trustme
from scylla_node import extensions

from driver.net.connection import Connection
from driver.net.settings import ConnectionSettings
from driver.policies import HostDistance
from driver.pool import sharding as opening
from driver.pool.host_pool import HostPool
from driver.topology.host import Host

FEW_SECONDS = 20


async def open_pool(node, **settings):
    """An open pool of connections to a node."""
    loop = asyncio.get_running_loop()
    how = ConnectionSettings(protocol_version=4, **settings)

    async def connect(endpoint, *, on_closed, local_port=None):
        return await Connection.connect(
            loop, endpoint, how, on_closed=on_closed, local_port=local_port
        )

    pool = HostPool(loop, Host(node.endpoint), HostDistance.LOCAL, connect)
    await pool.open()
    return pool


async def until(condition):
    """Wait until something holds."""
    async with asyncio.timeout(FEW_SECONDS):
        while not condition():  # noqa: ASYNC110  (the node is on another thread)
            await asyncio.sleep(0.01)


def seen_with(scylla, prepare=None, *, shards=4, settings=None, **options):
    """How a node of a new cluster sees a pool."""
    node = scylla(shards=shards, **options).nodes[0]
    if prepare is not None:
        prepare(node)

    async def main():
        pool = await open_pool(node, **(settings or {}))
        await until(lambda: len(node.shards_reached()) == pool.open_count)
        seen = SimpleNamespace(
            shards=node.shards_reached(),
            plain_connections=node.plain_connections,
            accepted=node.accepted,
            of_pool=sorted(pool.get_state()["shards"]),
        )
        await pool.close()
        return seen

    return asyncio.run(main())


def test_shards_are_reached_by_source_ports_through_the_shard_aware_port(scylla):
    seen = seen_with(scylla, shards=5)
    assert seen.shards == seen.of_pool == [0, 1, 2, 3, 4]
    # The first connection cannot know of shards; one for each of the others is enough.
    assert (seen.plain_connections, seen.accepted) == (1, 5)


def test_shards_are_found_by_trial_where_the_shard_aware_port_is_closed(scylla, caplog):
    seen = seen_with(scylla, lambda node: node.close_shard_aware_port())
    assert seen.shards == [0, 1, 2, 3]
    assert seen.plain_connections == seen.accepted
    assert "Shards [1, 2, 3] of 127.0.0.1" in caplog.text


def test_shards_are_found_by_trial_where_there_is_no_shard_aware_port(scylla):
    seen = seen_with(scylla, has_shard_aware_port=False)
    assert seen.shards == [0, 1, 2, 3]


def test_shards_are_found_by_trial_where_source_ports_are_translated(scylla):
    def hide(node):
        node.is_behind_nat = True

    seen = seen_with(scylla, hide)
    assert seen.shards == [0, 1, 2, 3]


def test_a_node_of_one_shard_has_one_connection(scylla):
    assert seen_with(scylla, shards=1).shards == [0]


def test_encrypted_connections_use_the_encrypted_shard_aware_port(scylla):
    authority = trustme.CA()
    server, client = map(
        ssl.create_default_context, (ssl.Purpose.CLIENT_AUTH, ssl.Purpose.SERVER_AUTH)
    )
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    seen = seen_with(scylla, shards=3, settings={"ssl_context": client}, ssl_context=server)
    assert seen.shards == [0, 1, 2]
    assert (seen.plain_connections, seen.accepted) == (1, 3)


def test_a_source_port_that_is_taken_is_passed_over(scylla, monkeypatch):
    asked = []
    with socket.create_server(("0.0.0.0", 0)) as taken:  # noqa: S104  (of all addresses)
        port = taken.getsockname()[1]
        ports_to_try = opening._ports_to_try

        def taken_first(shard, count):
            asked.append(shard)
            ports = ports_to_try(shard, count)
            return [port, *ports] if port % count == shard else ports

        monkeypatch.setattr(opening, "_ports_to_try", taken_first)
        # The first connection is to shard 0; a node of that many shards needs the taken port.
        seen = seen_with(scylla, shards=3)
    assert asked == [1, 2]
    assert seen.shards == [0, 1, 2]


@pytest.mark.parametrize("is_port_open", [True, False])
def test_a_lost_connection_is_replaced_at_its_shard(scylla, is_port_open):
    node = scylla(shards=4).nodes[0]
    if not is_port_open:
        node.close_shard_aware_port()

    async def main():
        pool = await open_pool(node)
        await until(lambda: node.shards_reached() == [0, 1, 2, 3])
        accepted = node.accepted
        await asyncio.to_thread(node.drop_shard, 2)
        await until(lambda: node.accepted > accepted)
        await until(lambda: sorted(pool.get_state()["shards"]) == [0, 1, 2, 3])
        await until(lambda: node.shards_reached() == [0, 1, 2, 3])
        await pool.close()
        await until(lambda: not node.clients)

    asyncio.run(main())


def test_a_token_is_lent_a_connection_to_its_shard(scylla):
    node = scylla(shards=4, ignore_msb=12).nodes[0]

    async def main():
        pool = await open_pool(node)
        for token in range(-(2**63), 2**63, 2**58 + 12345):
            connection, stream = pool.borrow_connection(token)
            assert connection.features.shard_id == extensions.shard_of(token, 4, 12)
            connection.release_request_id(stream)
            connection, stream = pool.borrow_connection(token, shard=3)
            assert connection.features.shard_id == 3
            connection.release_request_id(stream)
        await pool.close()

    asyncio.run(main())


def test_a_shard_without_a_connection_is_stood_in_for(scylla):
    node = scylla(shards=2, ignore_msb=0).nodes[0]

    async def main():
        pool = await open_pool(node)
        node.stop_listening()
        await asyncio.to_thread(node.drop_shard, 1)
        await until(lambda: pool.open_count == 1)
        connection, stream = pool.borrow_connection(2**63 - 1)
        connection.release_request_id(stream)
        assert connection.features.shard_id == 0
        await pool.close()

    asyncio.run(main())
