"""The in-memory connection: real bytes both ways, in every version and compression."""

import answers
import pytest

from driver.net.errors import ConnectionBusy, ConnectionException, ConnectionShutdown
from driver.net.in_memory import (
    READY,
    VOID,
    Answer,
    InMemoryConnection,
    InMemoryServer,
    answer_void,
)
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import UnsupportedOperation
from driver.types import UTF8Type
from driver.wire.malformed import ColumnDecodeError
from driver.wire.requests import QueryMessage
from driver.wire.responses import ResultMessage

WAYS = [(3, None), (4, None), (4, "lz4"), (4, "snappy"), (5, None), (5, "lz4")]
ONE = ConsistencyLevel.ONE


def connect(answer=answer_void, version=4, compression=None):
    server = InMemoryServer(answer, version, compression)
    return InMemoryConnection(server, protocol_version=version, compression=compression)


def ask(connection, text="SELECT", **options):
    responses = []
    size = connection.send_msg(
        QueryMessage(text, ONE, **options), connection.get_request_id(), responses.append
    )
    return size, responses


@pytest.mark.parametrize(("version", "compression"), WAYS)
@pytest.mark.parametrize("length", [10, 200_000], ids=["short", "longer than a segment"])
def test_requests_and_answers_travel_whole(version, compression, length):
    text = "x" * length
    rows = answers.rows([("a", UTF8Type)], [(text,)])
    connection = connect(lambda _: rows, version, compression)
    size, (response,) = ask(connection, text)
    assert response.parsed_rows == [(text,)]
    (request,) = connection.server.requests
    assert (request.opcode, request.version) == (QueryMessage.opcode, version)
    assert text.encode() in request.body
    if compression and length > 1000:
        assert size < length / 10
    else:
        assert size > length


def test_without_a_server_every_answer_is_void():
    _, (response,) = ask(InMemoryConnection())
    assert isinstance(response, ResultMessage)
    assert response.kind == 1


def test_a_recorded_frame_can_be_the_answer():
    frame = bytes([0x84, 0, 0, 9, VOID.opcode]) + b"\0\0\0\x04" + VOID.body
    assert Answer.from_frame(frame) == VOID
    with pytest.raises(ValueError, match="announces a body of 4 bytes"):
        Answer.from_frame(frame[:-1])
    with pytest.raises(ValueError, match="must not be compressed"):
        Answer.from_frame(bytes([0x84, 1]) + frame[2:])


def test_what_cannot_be_decoded_goes_to_who_asked():
    broken = answers.rows([("a", UTF8Type)], [(answers.Raw(b"\xff"),)])
    _, (response,) = ask(connect(lambda _: broken))
    assert isinstance(response, ColumnDecodeError)


def test_what_cannot_be_encoded_is_raised():
    with pytest.raises(UnsupportedOperation):
        ask(connect(), keyspace="ks")


def test_answers_may_come_later_and_in_any_order():
    connection = connect(lambda _: None)
    first, second = (ask(connection)[1] for _ in range(2))
    streams = [request.stream_id for request in connection.server.requests]
    assert streams[0] != streams[1]
    frames = [connection.server._frame(stream, VOID) for stream in streams]
    connection.receive(frames[1])
    assert (len(first), len(second)) == (0, 1)
    connection.receive(frames[0][:5])
    connection.receive(frames[0][5:])
    assert len(first) == 1


def test_a_stream_is_free_again_after_the_answer():
    connection = connect()
    for _ in range(3):
        assert connection.get_request_id() == 0
        ask(connection)


def test_there_are_only_so_many_streams():
    connection = connect(lambda _: None)
    connection._requests = dict.fromkeys(range(2**15), (None, None))
    with pytest.raises(ConnectionBusy, match="32768 requests wait"):
        connection.get_request_id()


def test_closing_tells_all_who_wait():
    connection = connect(lambda _: None)
    _, responses = ask(connection)
    connection.close()
    assert [type(response) for response in responses] == [ConnectionShutdown]
    with pytest.raises(ConnectionShutdown, match="is closed"):
        ask(connection)


def test_bytes_that_break_the_protocol_end_the_connection():
    connection = connect(lambda _: None)
    _, responses = ask(connection)
    connection.receive(b"\x04" + bytes(8))
    assert [type(response) for response in responses] == [ConnectionException]
    assert "defunct" in str(responses[0])
    assert connection.is_closed


def test_events_and_late_answers_have_nobody_to_go_to():
    connection = connect()
    connection.receive(connection.server._frame(-1, VOID))
    connection.receive(connection.server._frame(7, VOID))
    assert not connection.is_closed


def test_a_server_that_does_not_start_is_no_connection(monkeypatch):
    monkeypatch.setattr("driver.net.in_memory.READY", answers.error(0x0A, "no such version"))
    with pytest.raises(ConnectionException, match="STARTUP was answered with"):
        InMemoryConnection()
    assert READY.body == b""
