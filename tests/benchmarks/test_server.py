"""The server of the suites: the driver's own connection understands it, in every version."""

import answers
import pytest
from in_memory import connect

from asv_benchmarks import server
from asv_benchmarks.server import VOID, Answer, InMemoryServer, answer_void
from driver.net.errors import ConnectionException
from driver.protocol.consistency import ConsistencyLevel
from driver.types import UTF8Type
from driver.wire.requests import OptionsMessage, QueryMessage

WAYS = [(3, None), (4, None), (4, "lz4"), (4, "snappy"), (5, None), (5, "lz4")]
ONE = ConsistencyLevel.ONE


def connected(answer=answer_void, version=4, compression=None):
    own = InMemoryServer(answer, version, compression)
    return connect(own, protocol_version=version, compression=compression)


def ask(connection, text="SELECT"):
    responses = []
    size = connection.send_msg(
        QueryMessage(text, ONE), connection.get_request_id(), responses.append
    )
    return size, responses


@pytest.mark.parametrize(("version", "compression"), WAYS)
@pytest.mark.parametrize("length", [10, 200_000], ids=["short", "longer than a segment"])
def test_requests_and_answers_travel_whole(version, compression, length):
    text = "x" * length
    rows = answers.rows([("a", UTF8Type)], [(text,)])
    connection = connected(lambda _: rows, version, compression)
    size, (response,) = ask(connection, text)
    assert response.parsed_rows == [(text,)]
    (request,) = connection.server.requests
    assert (request.opcode, request.version) == (QueryMessage.opcode, version)
    assert text.encode() in request.body
    if compression and length > 1000:
        assert size < length / 10 or version == 5  # segments are compressed, not what is in them
    else:
        assert size > length


def test_a_recorded_frame_can_be_the_answer():
    frame = bytes([0x84, 0, 0, 9, VOID.opcode]) + b"\0\0\0\x04" + VOID.body
    assert Answer.from_frame(frame) == VOID
    with pytest.raises(ValueError, match="announces a body of 4 bytes"):
        Answer.from_frame(frame[:-1])
    with pytest.raises(ValueError, match="must not be compressed"):
        Answer.from_frame(bytes([0x84, 1]) + frame[2:])


@pytest.mark.parametrize(("version", "compression"), WAYS)
def test_answers_may_come_later_and_in_any_order(version, compression):
    connection = connected(lambda _: None, version, compression)
    first, second = (ask(connection)[1] for _ in range(2))
    streams = [request.stream_id for request in connection.server.requests]
    assert streams[0] != streams[1]
    late = [connection.server.send(stream, VOID) for stream in streams]
    connection._receive(late[1])
    assert (len(first), len(second)) == (0, 1)
    connection._receive(late[0][:5])
    connection._receive(late[0][5:])
    assert len(first) == 1


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_it_says_what_it_compresses_with(compression):
    connection = connected(compression=compression)
    responses = []
    connection.send_msg(OptionsMessage(), connection.get_request_id(), responses.append)
    known = [] if compression is None else [compression]
    assert responses[0].options["COMPRESSION"] == known
    assert connection.server.requests == []


def test_a_server_that_does_not_start_is_no_connection(monkeypatch):
    monkeypatch.setattr(server, "READY", answers.error(0x0A, "no such version"))
    with pytest.raises(ConnectionException, match="STARTUP was answered with"):
        connect()
