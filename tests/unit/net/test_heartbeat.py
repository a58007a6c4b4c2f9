"""Heartbeats: who is silent is asked, and who does not answer is given up."""

import asyncio

import pytest
import wire_bodies as wb
from cql_node import OPTIONS, QUERY, SILENCE
from loops import eventually

from driver.net.errors import ConnectionException, ConnectionShutdown
from driver.wire.frame import FRAME_HEADER
from driver.wire.requests import QueryMessage

SELECT = QueryMessage("SELECT v FROM t", 1)


def test_a_silent_connection_is_asked_again_and_again(run, connect, node):
    async def main():
        connection = await connect(node, idle_heartbeat_interval=0.01)
        await eventually(lambda: node.count(OPTIONS) >= 4)
        assert not connection.is_closed
        connection.close()
        assert connection.in_flight <= 1

    run(main())


def test_no_heartbeat_is_sent_if_the_settings_say_so(run, connect, node):
    async def main():
        connection = await connect(node, idle_heartbeat_interval=0)
        assert connection._heartbeat is None
        connection.close()

    run(main())


def test_a_connection_with_traffic_is_not_asked(run, connect, node):
    async def main():
        connection = await connect(node, idle_heartbeat_interval=3600)
        heartbeat = connection._heartbeat
        await connection.ask(SELECT)
        heartbeat._look()
        assert node.count(OPTIONS) == 1  # that of the handshake
        heartbeat._look()
        await eventually(lambda: node.count(OPTIONS) == 2)
        connection.close()

    run(main())


@pytest.mark.parametrize("way", ["pause", "fall_silent"])
def test_a_node_that_does_not_answer_is_given_up(run, connect, node, way):
    async def main():
        closed = []
        connection = await connect(
            node,
            idle_heartbeat_interval=0.02,
            idle_heartbeat_timeout=0.05,
            on_closed=lambda _, error: closed.append(error),
        )
        getattr(node, way)()
        with pytest.raises(ConnectionShutdown, match="no heartbeat within") as caught:
            await connection.ask(SELECT)
        assert caught.value.was_sent
        assert connection.is_defunct
        assert isinstance(closed[0], ConnectionException)
        assert str(node.endpoint) in str(closed[0])
        if way == "pause":
            node.resume()

    run(main())


@pytest.mark.parametrize("kind", ["bytes", "events"])
def test_a_node_that_trickles_is_given_up(run, connect, node, kind):
    event = wb.string("STATUS_CHANGE") + wb.string("UP") + wb.inet_addr("10.0.0.1") + bytes(4)

    async def main():
        connection = await connect(
            node, protocol_version=4, idle_heartbeat_interval=0.05, idle_heartbeat_timeout=0.05
        )
        await connection.register(["STATUS_CHANGE"])
        node.fall_silent()
        if kind == "bytes":  # the header of an answer of a megabyte, and then little of it
            node.send_raw(FRAME_HEADER.pack(0x84, 0, 0, 8, 1_000_000))
        asked = asyncio.ensure_future(connection.ask(SELECT))
        while not asked.done():
            node.send_raw(b"x") if kind == "bytes" else node.send_event(event)
            await asyncio.sleep(0.01)
        with pytest.raises(ConnectionShutdown, match="no heartbeat within"):
            await asked

    run(main())


def test_a_large_answer_that_arrives_steadily_is_waited_for(run, connect, node):
    body = bytes(2_000_000)

    async def main():
        connection = await connect(
            node, protocol_version=4, idle_heartbeat_interval=3600, idle_heartbeat_timeout=3600
        )
        heartbeat = connection._heartbeat
        connection.heard = False
        node.fall_silent()
        heartbeat._look()
        node.send_raw(FRAME_HEADER.pack(0x84, 0, 9, 8, len(body)) + body[: 1 << 20])
        await eventually(lambda: connection.arrived_of_next > 1 << 20)
        heartbeat._give_up()
        assert not connection.is_closed
        heartbeat._give_up()
        assert connection.is_defunct

    run(main())


def test_a_node_whose_every_stream_waits_is_given_up_too(run, connect, node):
    node.when("FROM t", SILENCE)

    async def main():
        connection = await connect(
            node, idle_heartbeat_interval=0.02, idle_heartbeat_timeout=0.05, max_requests=2
        )
        results = await asyncio.gather(
            connection.ask(SELECT), connection.ask(SELECT), return_exceptions=True
        )
        assert [type(result) for result in results] == [ConnectionShutdown] * 2
        assert node.count(OPTIONS) == 1

    run(main())


def test_any_answer_within_the_timeout_is_a_sign_of_life(run, connect, node):
    async def main():
        connection = await connect(node, idle_heartbeat_interval=3600, idle_heartbeat_timeout=3600)
        heartbeat = connection._heartbeat
        connection.heard = False
        node.fall_silent()
        heartbeat._look()
        await eventually(lambda: node.count(OPTIONS) == 2)
        node.fall_silent(silent=False)
        await connection.ask(SELECT)
        heartbeat._give_up()
        assert not connection.is_closed
        connection.close()

    run(main())
    assert node.count(QUERY) == 1
