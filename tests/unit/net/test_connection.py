"""A connection: the handshake, requests and answers, events, and its end."""

import asyncio
import gc
import threading
import weakref

import pytest
from cql_node import (
    BATCH,
    EXECUTE,
    OPTIONS,
    QUERY,
    SILENCE,
    STARTUP,
    VOID,
    CqlNode,
    error,
    frame,
    rows,
    status_change,
)
from loops import eventually

from driver.net.errors import (
    ConnectionBusy,
    ConnectionException,
    ConnectionShutdown,
    ProtocolVersionUnsupported,
)
from driver.protocol.errors import InvalidRequest, OperationTimedOut, UnsupportedOperation
from driver.protocol.kinds import BatchType
from driver.types import Int32Type, UTF8Type
from driver.wire.handlers import LazyProtocolHandler
from driver.wire.malformed import ColumnDecodeError
from driver.wire.requests import BatchMessage, ExecuteMessage, PrepareMessage, QueryMessage

SELECT = QueryMessage("SELECT v FROM t", 1)
SPOKEN = [
    (version, compression)
    for version in (3, 4, 5)
    for compression in (False, "lz4", "snappy", True)
    if (version, compression) != (5, "snappy")
]


def query(text, **more):
    return QueryMessage(text, 1, **more)


def send(connection, message, callback, **more):
    return connection.send_msg(message, connection.get_request_id(), callback, **more)


@pytest.mark.parametrize(("version", "compression"), SPOKEN)
def test_every_version_speaks_with_every_compression(run, connect, node, version, compression):
    node.when("FROM t", rows([("v", UTF8Type)], [("x" * 300,), (None,)]))

    async def main():
        connection = await connect(node, protocol_version=version, compression=compression)
        answers = await asyncio.gather(*(connection.ask(SELECT) for _ in range(20)))
        assert all(answer.parsed_rows == [("x" * 300,), (None,)] for answer in answers)
        big = await connection.ask(query("INSERT " + "y" * 300_000))
        assert big.kind == 1
        assert connection.compression == ("lz4" if compression is True else compression or None)
        connection.close()

    run(main())
    startup = next(r for r in node.requests if r.opcode == STARTUP)
    assert startup.version == version
    assert node.requests[-1].text == "INSERT " + "y" * 300_000


def test_an_answer_of_many_segments_is_one_answer(run, connect, node):
    long = "z" * 700_000
    node.when("FROM t", rows([("v", UTF8Type)], [(long,)]))

    async def main():
        connection = await connect(node, protocol_version=5, compression="lz4")
        assert (await connection.ask(SELECT)).parsed_rows == [(long,)]
        connection.close()

    run(main())


def test_prepared_statements_and_batches_go_through(run, connect, node):
    node.prepare("SELECT v FROM t WHERE k = ?", [("k", Int32Type)], [("v", UTF8Type)], [0])
    node.when("WHERE k = ?", lambda r: rows([("v", UTF8Type)], [(str(r.values),)]))

    async def main():
        connection = await connect(node)
        prepared = await connection.ask(PrepareMessage("SELECT v FROM t WHERE k = ?"))
        execute = ExecuteMessage(
            prepared.query_id, [b"\0\0\0\7"], 1, result_metadata_id=prepared.result_metadata_id
        )
        answer = await connection.ask(execute)
        assert answer.parsed_rows == [(str([b"\0\0\0\7"]),)]
        batch = [(True, prepared.query_id, [b"k"]), (False, "INSERT 1", [])]
        await connection.ask(BatchMessage(BatchType.LOGGED, batch, 1))
        connection.close()

    run(main())
    assert node.count(EXECUTE) == node.count(BATCH) == 1
    assert node.texts[-1] == "SELECT v FROM t WHERE k = ?; INSERT 1"


def test_startup_carries_what_the_settings_say(run, connect, node):
    async def main():
        connection = await connect(
            node,
            compression="lz4",
            no_compact=True,
            cql_version="3.4.5",
            startup_options={"DRIVER_NAME": "d", "APPLICATION_NAME": "a"},
        )
        connection.close()

    run(main())
    startup = next(r for r in node.requests if r.opcode == STARTUP)
    assert startup.client.startup_options == {
        "CQL_VERSION": "3.4.5",
        "COMPRESSION": "lz4",
        "NO_COMPACT": "true",
        "DRIVER_NAME": "d",
        "APPLICATION_NAME": "a",
    }


def test_the_highest_cql_version_of_the_server_is_taken(run, connect):
    with CqlNode(supported={"CQL_VERSION": ["3.4.9", "3.10.1", "3.2.0", "9" * 60_000]}) as node:

        async def main():
            (await connect(node)).close()

        run(main())
        startup = next(r for r in node.requests if r.opcode == STARTUP)
        assert startup.client.startup_options["CQL_VERSION"] == "3.10.1"


def test_a_compression_that_one_side_lacks_is_left_out_or_refused(run, connect):
    with CqlNode(compressions=("snappy",)) as node:

        async def main():
            connection = await connect(node, compression=True, protocol_version=5)
            assert connection.compression is None
            connection.close()
            connection = await connect(node, compression=True, protocol_version=4)
            assert connection.compression == "snappy"
            connection.close()
            with pytest.raises(ConnectionException, match="'lz4' is not possible"):
                await connect(node, compression="lz4")

        run(main())


@pytest.mark.parametrize(("spoken", "answered"), [((3, 4), 4), ((3,), 3)])
def test_a_server_that_lacks_the_version_says_which_it_has(run, connect, spoken, answered):
    with CqlNode(versions=spoken) as node:

        async def main():
            with pytest.raises(ProtocolVersionUnsupported, match=str(node.port)) as caught:
                await connect(node, protocol_version=5)
            assert caught.value.attempted == 5
            assert caught.value.server_version == answered

        run(main())


def test_a_beta_version_without_the_flag_is_a_version_that_is_not_supported(run, connect):
    message = "Beta version of the protocol used (5/v5-beta), but USE_BETA flag is unset"

    class BetaNode(CqlNode):
        def _on_options(self, _):
            return error(0x000A, message)

    with BetaNode() as node:

        async def main():
            with pytest.raises(ProtocolVersionUnsupported) as caught:
                await connect(node, protocol_version=5)
            assert caught.value.server_version == 4

        run(main())


def test_the_error_of_an_answer_is_raised_and_the_connection_goes_on(run, connect, node):
    node.when("nonsense", error(0x2200, "no such table"))

    async def main():
        connection = await connect(node)
        with pytest.raises(InvalidRequest, match="no such table"):
            await connection.ask(query("nonsense"))
        assert (await connection.ask(SELECT)).kind == 1
        assert connection.in_flight == 0
        connection.close()

    run(main())


def test_a_value_that_cannot_be_decoded_fails_its_request_only(run, connect, node):
    bad = rows([("v", Int32Type)], [(1,)])
    body = bad.body(4)
    bad.body = body[:-8] + b"\0\0\0\3abc"
    node.when("bad", bad)
    node.when("FROM t", rows([("v", Int32Type)], [(1,)]))

    async def main():
        connection = await connect(node)
        results = await asyncio.gather(
            connection.ask(SELECT),
            connection.ask(query("SELECT bad")),
            connection.ask(SELECT),
            return_exceptions=True,
        )
        assert isinstance(results[1], ColumnDecodeError)
        assert results[0].parsed_rows == results[2].parsed_rows == [(1,)]
        assert not connection.is_closed
        connection.close()

    run(main())


def test_rows_of_an_altered_table_fail_their_request_only(run, connect, node):
    node.when("FROM t", rows([("v", Int32Type)], [(1,)], skip=True))

    async def main():
        connection = await connect(node)
        with pytest.raises(Exception, match="without metadata"):
            await connection.ask(SELECT, result_metadata=[])
        assert not connection.is_closed
        connection.close()

    run(main())


def test_a_request_may_bring_its_own_handler(run, connect, node):
    node.when("FROM t", rows([("v", Int32Type)], [(1,), (2,)]))

    async def main():
        connection = await connect(node)
        answers = []
        send(connection, SELECT, answers.append, handler=LazyProtocolHandler)
        await eventually(lambda: answers)
        assert type(answers[0].parsed_rows).__name__ == "LazyRows"
        assert list(answers[0].parsed_rows) == [(1,), (2,)]
        connection.close()

    run(main())


def test_callbacks_run_once_each_on_the_loops_thread_whoever_sends(run, connect, node):
    node.when("FROM t", rows([("v", Int32Type)], [(1,)]))

    async def main():
        connection = await connect(node, protocol_version=5)
        threads, calls = set(), []

        def callback(answer):
            threads.add(threading.get_ident())
            calls.append(answer.parsed_rows)

        def work():
            for _ in range(200):
                send(connection, SELECT, callback)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for _ in range(200):
            send(connection, SELECT, callback)
        await eventually(lambda: len(calls) == 1000)
        for worker in workers:
            worker.join()
        assert threads == {threading.get_ident()}
        assert connection.in_flight == 0
        connection.close()

    run(main())
    assert node.count(QUERY) == 1000


def test_a_callback_that_raises_disturbs_no_other(run, connect, node, caplog):
    async def main():
        connection = await connect(node)
        answers = []
        send(connection, SELECT, lambda _: 1 / 0)
        send(connection, SELECT, answers.append)
        await eventually(lambda: answers)
        connection.close()

    run(main())
    assert "ZeroDivisionError" in caplog.text


def test_a_callback_may_send_the_next_request(run, connect, node):
    async def main():
        connection = await connect(node, max_requests=1)
        answers = []

        def callback(answer):
            answers.append(answer)
            if len(answers) < 50:
                send(connection, SELECT, callback)

        send(connection, SELECT, callback)
        await eventually(lambda: len(answers) == 50)
        connection.close()

    run(main())


def test_no_more_requests_are_in_flight_than_allowed(run, connect, node):
    node.when("FROM t", SILENCE)

    async def main():
        connection = await connect(node, max_requests=3)
        assert connection.max_in_flight == 3
        answers = []
        for _ in range(3):
            send(connection, SELECT, answers.append)
        assert connection.in_flight == 3
        with pytest.raises(ConnectionBusy, match="3 requests wait"):
            connection.get_request_id()
        connection.close()
        assert len(answers) == 3

    run(main())


def test_what_a_version_cannot_say_is_refused_and_its_stream_can_be_released(run, connect, node):
    async def main():
        connection = await connect(node, protocol_version=4)
        stream = connection.get_request_id()
        with pytest.raises(UnsupportedOperation):
            connection.send_msg(query("SELECT", keyspace="ks"), stream, print)
        connection.release_request_id(stream)
        with pytest.raises(UnsupportedOperation):
            await connection.ask(query("SELECT", keyspace="ks"))
        assert connection.in_flight == 0
        connection.close()

    run(main())


def test_a_keyspace_is_used_as_it_is_written(run, connect, node):
    node.when("Missing", error(0x2200, "Keyspace 'Missing' does not exist"))

    async def main():
        connection = await connect(node)
        await connection.use_keyspace("Ks")
        await connection.use_keyspace("Ks")
        assert connection.keyspace == "Ks"
        await connection.use_keyspace('we"ird')
        with pytest.raises(InvalidRequest):
            await connection.use_keyspace("Missing")
        assert connection.keyspace == 'we"ird'
        connection.close()

    run(main())
    assert node.texts == ['USE "Ks"', 'USE "we""ird"', 'USE "Missing"']


def test_events_arrive_that_were_asked_for(run, connect, node):
    async def main():
        events = []
        connection = await connect(node, on_event=events.append, protocol_version=5)
        await connection.register(["STATUS_CHANGE"])
        node.send_event(status_change("DOWN", "10.0.0.7"))
        node.send_event(status_change("UP", "10.0.0.7"))
        await eventually(lambda: len(events) == 2)
        assert [event.event_args["change_type"] for event in events] == ["DOWN", "UP"]
        assert events[0].event_args["address"] == ("10.0.0.7", 9042)
        connection.close()

    run(main())


def test_an_event_of_an_unknown_type_or_a_bad_listener_costs_nothing(run, connect, node, caplog):
    async def main():
        connection = await connect(node, on_event=lambda _: 1 / 0, protocol_version=4)
        await connection.register(["STATUS_CHANGE"])
        node.send_event(status_change("UP", "10.0.0.7"))
        node.send_raw(frame(0x0C, b"\0\3NEW", stream=-1))
        assert (await connection.ask(SELECT)).kind == 1
        connection.close()

    run(main())
    assert "ZeroDivisionError" in caplog.text
    assert "unknown type: 'NEW'" in caplog.text


# --- the end -----------------------------------------------------------------------------------


def test_closing_answers_every_waiting_request_once_and_names_the_node(run, connect, node):
    node.when("FROM t", SILENCE)

    async def main():
        closed = []
        connection = await connect(node, on_closed=lambda c, error: closed.append((c, error)))
        answers = []
        for _ in range(5):
            send(connection, SELECT, answers.append)
        connection.close()
        connection.close()
        assert len(answers) == 5
        assert all(isinstance(answer, ConnectionShutdown) for answer in answers)
        assert len({id(answer) for answer in answers}) == 5
        assert all(str(node.endpoint) in str(answer) and answer.was_sent for answer in answers)
        assert all("its session was shut down, or the node" in str(answer) for answer in answers)
        assert closed == [(connection, None)]
        assert connection.is_closed
        assert not connection.is_defunct
        assert connection.last_error is None

    run(main())


def test_a_closed_connection_refuses_and_says_that_nothing_was_sent(run, connect, node):
    async def main():
        connection = await connect(node)
        connection.close()
        with pytest.raises(ConnectionShutdown, match=str(node.port)) as caught:
            send(connection, SELECT, print)
        assert not caught.value.was_sent
        with pytest.raises(ConnectionShutdown):
            await connection.ask(SELECT)

    run(main())


def test_a_connection_that_the_server_drops_is_defunct(run, connect, node):
    node.when("FROM t", SILENCE)

    async def main():
        closed = []
        connection = await connect(node, on_closed=lambda _, error: closed.append(error))
        waiting = asyncio.ensure_future(connection.ask(SELECT))
        await eventually(lambda: node.count(QUERY) == 1)
        node.drop_connections()
        with pytest.raises(ConnectionShutdown, match="lost") as caught:
            await waiting
        assert caught.value.was_sent
        assert connection.is_defunct
        assert closed == [connection.last_error]
        assert str(node.endpoint) in str(connection.last_error)

    run(main())


def test_closing_from_another_thread_calls_back_on_the_loops(run, connect, node):
    node.when("FROM t", SILENCE)

    async def main():
        connection = await connect(node)
        called = []
        send(connection, SELECT, lambda _: called.append(threading.get_ident()))
        await asyncio.to_thread(connection.close)
        await eventually(lambda: called)
        assert called == [threading.get_ident()]

    run(main())


def test_senders_on_other_threads_get_an_answer_or_an_error_while_it_closes(run, connect, node):
    node.when("FROM t", SILENCE)

    async def main():
        connection = await connect(node)
        answers, refused, sent = [], [], []

        def work():
            while not refused:
                stream = connection.get_request_id()
                try:
                    connection.send_msg(SELECT, stream, answers.append)
                except ConnectionShutdown as shutdown:
                    refused.append(shutdown)
                else:
                    sent.append(stream)

        worker = threading.Thread(target=work)
        worker.start()
        await eventually(lambda: len(sent) > 50)
        connection.close()
        await eventually(lambda: refused)
        worker.join()
        await eventually(lambda: len(answers) == len(sent))

    run(main())


def test_a_closed_connection_is_not_kept_alive(run, connect, node):
    async def main():
        connection = await connect(node, idle_heartbeat_interval=3600)
        await connection.ask(SELECT)
        connection.close()
        return weakref.ref(connection)

    kept = run(main())
    gc.collect()
    assert kept() is None


# --- when there is no connection -----------------------------------------------------------------


def test_a_port_where_nobody_listens_is_named(run, connect, node):
    node.stop_listening()

    async def main():
        with pytest.raises(ConnectionException, match=str(node.endpoint)):
            await connect(node)

    run(main())


def test_a_server_that_says_nothing_is_given_up(run, connect, node):
    node.fall_silent()

    async def main():
        with pytest.raises(OperationTimedOut, match=str(node.port)):
            await connect(node, connect_timeout=0.05)
        await eventually(lambda: not node.clients)

    run(main())


def test_cancelling_a_connect_leaves_nothing(run, connect, node):
    node.fall_silent()

    async def main():
        connecting = asyncio.ensure_future(connect(node))
        await eventually(lambda: node.count(OPTIONS) == 1)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        await eventually(lambda: not node.clients)

    run(main())


def test_an_answer_that_does_not_belong_into_the_handshake_is_refused(run, connect):
    class OddNode(CqlNode):
        def _on_startup(self, _):
            return VOID

    with OddNode() as node:

        async def main():
            with pytest.raises(ConnectionException, match="answered the handshake with"):
                await connect(node)

        run(main())
