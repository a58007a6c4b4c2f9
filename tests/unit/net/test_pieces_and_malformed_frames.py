"""Bytes over a real socket, cut anywhere, and bytes that break the protocol."""

import asyncio
import struct

import pytest
from cql_node import QUERY, SILENCE, error, frame, rows, status_change
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loops import eventually

from driver.net.errors import ConnectionException, ConnectionShutdown
from driver.protocol.errors import InvalidRequest
from driver.types import Int32Type, UTF8Type
from driver.wire.malformed import MalformedFrameError
from driver.wire.requests import QueryMessage

SELECT = QueryMessage("SELECT v FROM t", 1)
WAITS = QueryMessage("SELECT v FROM never", 1)


@pytest.mark.parametrize("cut", [1, "random", None])
@pytest.mark.parametrize(
    ("version", "compression"), [(3, False), (4, "snappy"), (5, False), (5, "lz4")]
)
def test_the_same_answers_and_events_come_however_bytes_are_cut(
    run, connect, node, cut, version, compression
):
    node.when("FROM t", rows([("k", Int32Type), ("v", UTF8Type)], [(1, "a" * 90), (2, None)]))
    node.when("bad", error(0x2200, "bad"))
    node.cut = cut

    async def main():
        events, seen = [], []
        connection = await connect(
            node, protocol_version=version, compression=compression, on_event=events.append
        )
        await connection.register(["STATUS_CHANGE"])
        for _ in range(3):
            seen.append((await connection.ask(SELECT)).parsed_rows)
            with pytest.raises(InvalidRequest):
                await connection.ask(QueryMessage("bad", 1))
            node.send_event(status_change("UP", "10.0.0.1"))
        both = await asyncio.gather(connection.ask(SELECT), connection.ask(SELECT))
        await eventually(lambda: len(events) == 3)
        connection.close()
        return seen + [answer.parsed_rows for answer in both], [e.event_args for e in events]

    answers, events = run(main())
    assert answers == [[(1, "a" * 90), (2, None)]] * 5
    assert events == [{"change_type": "UP", "address": ("10.0.0.1", 9042)}] * 3


MALFORMED = {
    "a request instead of a response": (4, struct.pack(">BBhBi", 4, 0, 0, 8, 0)),
    "a version of long ago": (4, frame(0x08, version=2)),
    "a version that was not agreed on": (4, frame(0x08, b"\0\0\0\1", version=3)),
    "a body of negative length": (4, struct.pack(">BBhBi", 0x84, 0, 0, 8, -1)),
    "a body too long for the protocol": (4, struct.pack(">BBhBi", 0x84, 0, 0, 8, 2**30)),
    "an unknown opcode": (4, frame(0x7F)),
    "an unknown kind of result": (4, frame(0x08, b"\0\0\0\x63")),
    "a body that ends early": (4, frame(0x08, b"\0\0\0\2\0")),
    "compression that was not agreed on": (4, frame(0x08, b"abc", flags=1)),
    "a segment with a wrong checksum": (5, bytes(64)),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_frame_closes_its_connection_and_no_other(run, connect, node, what):
    version, data = MALFORMED[what]
    node.when("never", SILENCE)
    node.when("FROM t", rows([("k", Int32Type)], [(1,)]))

    async def main():
        closed = []
        broken = await connect(
            node, protocol_version=version, on_closed=lambda _, error: closed.append(error)
        )
        other = await connect(node, protocol_version=version)
        waiting = [asyncio.ensure_future(broken.ask(WAITS)) for _ in range(3)]
        others = asyncio.ensure_future(other.ask(WAITS))
        await eventually(lambda: node.count(QUERY) == 4)
        stream = struct.pack(">h", min(broken._requests))
        answer = data[:2] + stream + data[4:] if version == 4 else data
        node.do(node.clients[0].write, answer)
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(
            isinstance(result, ConnectionShutdown | MalformedFrameError) for result in results
        )
        assert sum(isinstance(result, ConnectionShutdown) for result in results) >= 2
        assert broken.is_defunct
        (failure,) = closed
        assert isinstance(failure, ConnectionException)
        assert isinstance(failure.__cause__, MalformedFrameError)
        assert str(node.endpoint) in str(failure)
        assert (await other.ask(SELECT)).parsed_rows == [(1,)]
        assert not others.done()
        other.close()
        with pytest.raises(ConnectionShutdown):
            await others

    run(main())


def test_answers_that_came_before_the_broken_bytes_are_not_lost(run, connect, node):
    node.when("never", SILENCE)

    async def main():
        connection = await connect(node, protocol_version=4)
        waiting = asyncio.ensure_future(connection.ask(WAITS))
        await eventually(lambda: node.count(QUERY) == 1)
        node.send_raw(frame(0x08, b"\0\0\0\1", node.requests[-1].stream) + frame(0x08, version=1))
        assert (await waiting).kind == 1
        assert connection.is_defunct

    run(main())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(noise=st.binary(min_size=1, max_size=100))
def test_noise_ends_in_an_error_or_in_nothing_but_never_hangs_a_request(connect, node, noise):
    async def main():
        connection = await connect(node, protocol_version=4)
        node.send_raw(noise)
        asking = asyncio.ensure_future(connection.ask(SELECT))
        await eventually(lambda: node.texts[-1:] == ["SELECT v FROM t"] or connection.is_closed)
        connection.close()
        answer = (await asyncio.gather(asking, return_exceptions=True))[0]
        assert isinstance(answer, Exception) or answer.stream_id == 0
        node.requests.clear()

    asyncio.run(main())


def test_an_answer_on_a_stream_without_a_request_is_told_and_costs_nothing(
    run, connect, node, caplog
):
    async def main():
        connection = await connect(node, protocol_version=4)
        node.send_raw(frame(0x08, b"\0\0\0\1", stream=77))
        assert (await connection.ask(SELECT)).kind == 1
        connection.close()

    run(main())
    assert "stream 77, which has no request" in caplog.text


def test_an_error_about_the_connection_itself_closes_it(run, connect, node):
    async def main():
        closed = []
        connection = await connect(
            node, protocol_version=4, on_closed=lambda _, error: closed.append(error)
        )
        answer = error(0x000A, "frame too large")
        node.do(lambda: [client.send(answer, -1) for client in node.clients])
        await eventually(lambda: closed)
        assert "frame too large" in str(connection.last_error)

    run(main())
