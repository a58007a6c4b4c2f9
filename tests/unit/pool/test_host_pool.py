"""A pool lends the least busy connection, replaces lost ones, and drains before it closes."""

import asyncio
import threading
from collections import Counter

import pytest
from cql_node import QUERY, SILENCE, VOID, CqlNode, error
from loops import eventually

from driver.auth import PlainTextAuthProvider
from driver.net.errors import ConnectionBusy, ConnectionShutdown, NoConnectionsAvailable
from driver.policies.reconnection import ConstantReconnectionPolicy
from driver.protocol.errors import AuthenticationFailed, InvalidRequest
from driver.wire.requests import QueryMessage

SELECT = QueryMessage("SELECT v FROM t", 1)
SOON = ConstantReconnectionPolicy(0.01, None)


def ask(pool, callback, message=SELECT):
    """Borrow, send, and give back when the answer is here."""
    connection, stream = pool.borrow_connection()

    def answered(answer):
        pool.return_connection(connection)
        callback(answer)

    connection.send_msg(message, stream, answered)
    return connection


@pytest.mark.parametrize("count", [1, 3])
def test_it_opens_as_many_connections_as_it_is_told(run, make_pool, node, count):
    async def main():
        pool = make_pool(node, connections_per_host=count)
        await pool.open()
        assert pool.open_count == len(node.clients) == count
        assert pool.get_state() == {
            "shutdown": False,
            "open_count": count,
            "in_flights": [0] * count,
            "orphan_requests": [0] * count,
            "shards": [0] * count,
            "missing": 0,
        }
        await pool.close()
        await eventually(lambda: not node.clients)

    run(main())


def test_the_least_busy_connection_is_lent(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        pool = make_pool(node, connections_per_host=3)
        await pool.open()
        lent = Counter(ask(pool, lambda _: None) for _ in range(30))
        assert sorted(lent.values()) == [10, 10, 10]
        assert pool.in_flight == 30
        await eventually(lambda: node.count(QUERY) == 30)
        for request in node.requests[-30:]:
            node.answer_later(request, VOID)
        await eventually(lambda: pool.in_flight == 0)
        await pool.close()

    run(main())


def test_any_thread_may_borrow(run, make_pool, node):
    async def main():
        pool = make_pool(node, connections_per_host=2)
        await pool.open()
        answers = []

        def work():
            for _ in range(200):
                ask(pool, answers.append)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        await eventually(lambda: len(answers) == 800)
        for worker in workers:
            worker.join()
        assert pool.in_flight == 0
        await pool.close()

    run(main())


def test_nothing_is_lent_beyond_the_limit_and_nothing_was_sent(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        pool = make_pool(
            node,
            settings={"max_requests": 2},
            connections_per_host=2,
            drain_timeout=0,
        )
        await pool.open()
        for _ in range(4):
            ask(pool, lambda _: None)
        with pytest.raises(ConnectionBusy, match=str(node.port)) as caught:
            pool.borrow_connection()
        assert not caught.value.was_sent
        await pool.close()

    run(main())


def test_a_node_that_cannot_be_reached_fails_the_opening(run, make_pool, node):
    node.stop_listening()

    async def main():
        pool = make_pool(node)
        with pytest.raises(Exception, match=str(node.port)):
            await pool.open()
        with pytest.raises(NoConnectionsAvailable, match=str(node.port)):
            pool.borrow_connection()
        await pool.close()

    run(main())


def test_a_wrong_password_fails_the_opening_with_one_attempt(run, make_pool):
    with CqlNode(users={"u": "p"}) as node:

        async def main():
            settings = {"auth_provider": PlainTextAuthProvider("u", "wrong")}
            pool = make_pool(node, settings=settings, connections_per_host=3)
            with pytest.raises(AuthenticationFailed, match=str(node.endpoint)):
                await pool.open()
            await pool.close()

        run(main())
        assert node.accepted == 1


# --- replacing -----------------------------------------------------------------------------------


def test_a_lost_connection_is_told_and_replaced(run, make_pool, node):
    async def main():
        failures = []
        pool = make_pool(node, on_failure=lambda host, error: failures.append((host, error)))
        await pool.open()
        (lost,) = pool._connections
        node.drop_connections()
        await eventually(lambda: failures)
        await eventually(lambda: pool.open_count == 1)
        assert pool._connections[0] is not lost
        assert failures == [(pool.host, lost.last_error)]
        await pool.close()

    run(main())
    assert node.accepted == 2


def test_while_there_is_no_connection_it_says_so(run, make_pool, node):
    async def main():
        pool = make_pool(node, reconnection_policy=SOON)
        await pool.open()
        node.stop_listening()
        node.drop_connections()
        await eventually(lambda: pool.open_count == 0)
        with pytest.raises(NoConnectionsAvailable, match=str(node.port)) as caught:
            pool.borrow_connection()
        assert not caught.value.was_sent
        node.listen_again()
        await eventually(lambda: pool.open_count == 1)
        await pool.close()

    run(main())


def test_attempts_that_fail_are_told_and_go_on(run, make_pool, node):
    async def main():
        failures = []
        pool = make_pool(
            node, reconnection_policy=SOON, on_failure=lambda _, error: failures.append(error)
        )
        await pool.open()
        node.stop_listening()
        node.drop_connections()
        await eventually(lambda: len(failures) >= 4)
        await pool.close()
        count = len(failures)
        await asyncio.sleep(0.05)
        assert len(failures) == count
        assert all(str(node.port) in str(failure) for failure in failures)

    run(main())


def test_a_node_that_drops_every_connection_is_not_stormed(run, make_pool, node):
    async def main():
        pool = make_pool(node, reconnection_policy=ConstantReconnectionPolicy(3600, None))
        await pool.open()
        node.drop_connections()
        await eventually(lambda: node.accepted == 2)
        await eventually(lambda: pool.open_count == 1)
        node.drop_connections()
        await eventually(lambda: pool.open_count == 0)
        await asyncio.sleep(0.1)
        assert node.accepted == 2  # the first loss is made good at once, the second is not
        await pool.close()

    run(main())


def test_a_password_that_turned_wrong_is_tried_once(run, make_pool):
    with CqlNode(users={"u": "p"}) as node:

        async def main():
            failures = []
            settings = {"auth_provider": PlainTextAuthProvider("u", "p")}
            pool = make_pool(
                node,
                settings=settings,
                reconnection_policy=SOON,
                on_failure=lambda _, error: failures.append(error),
            )
            await pool.open()
            node.users = {"u": "changed"}
            node.drop_connections()
            await eventually(lambda: len(failures) == 2)
            await asyncio.sleep(0.1)
            assert isinstance(failures[1], AuthenticationFailed)
            assert node.accepted == 2
            await pool.close()

        run(main())


def test_a_connection_with_too_many_orphans_is_replaced_and_drains(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        pool = make_pool(node, settings={"max_requests": 8})
        await pool.open()
        (old,) = pool._connections
        kept = []
        ask(pool, kept.append)
        for _ in range(7):
            connection, stream = pool.borrow_connection()
            connection.send_msg(SELECT, stream, print)
            connection.abandon(stream)
            pool.return_connection(connection)
        await eventually(lambda: pool.open_count == 1 and pool._connections[0] is not old)
        assert not old.is_closed
        await eventually(lambda: node.count(QUERY) == 8)
        node.answer_later(next(r for r in node.requests if r.opcode == QUERY), VOID)
        await eventually(lambda: old.is_closed)
        assert [answer.kind for answer in kept] == [1]
        await pool.close()

    run(main())


# --- keyspace ------------------------------------------------------------------------------------


def test_a_keyspace_is_used_on_all_connections_and_on_new_ones(run, make_pool, node):
    async def main():
        pool = make_pool(node, connections_per_host=2)
        await pool.open()
        assert await pool.set_keyspace("Ks") == []
        assert {client.keyspace for client in node.clients} == {"Ks"}
        node.drop_connections()
        await eventually(lambda: node.accepted == 4 and pool.open_count == 2)
        assert {client.keyspace for client in node.clients} == {"Ks"}
        await pool.close()

    run(main())


def test_a_keyspace_that_was_dropped_does_not_keep_the_pool_from_connecting(
    run, make_pool, node, caplog
):
    async def main():
        failures = []
        pool = make_pool(node, on_failure=lambda _, error: failures.append(error))
        await pool.open()
        await pool.set_keyspace("gone")
        node.when("USE", error(0x2200, "Keyspace 'gone' does not exist"))
        node.drop_connections()
        await eventually(lambda: node.accepted == 2 and pool.open_count == 1)
        assert len(failures) == 1  # the connection that was lost
        await pool.close()

    run(main())
    assert "Keyspace 'gone' does not exist" in caplog.text


def test_every_error_of_setting_a_keyspace_is_given(run, make_pool, node):
    node.when("USE", error(0x2200, "no such keyspace"))

    async def main():
        pool = make_pool(node, connections_per_host=3)
        await pool.open()
        errors = await pool.set_keyspace("nowhere")
        assert [type(each) for each in errors] == [InvalidRequest] * 3
        await pool.close()

    run(main())


# --- closing -------------------------------------------------------------------------------------


def test_closing_waits_for_the_answers_that_are_on_their_way(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        answers = []
        pool = make_pool(node)
        await pool.open()
        ask(pool, answers.append)
        await eventually(lambda: node.count(QUERY) == 1)
        closing = asyncio.ensure_future(pool.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        with pytest.raises(ConnectionShutdown, match="is closed") as caught:
            pool.borrow_connection()
        assert not caught.value.was_sent
        node.answer_later(node.requests[-1], VOID)
        await closing
        assert [answer.kind for answer in answers] == [1]

    run(main())


def test_closing_does_not_wait_for_ever(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        answers = []
        pool = make_pool(node, drain_timeout=0.05)
        await pool.open()
        ask(pool, answers.append)
        await pool.close()
        await pool.close()
        assert [type(answer) for answer in answers] == [ConnectionShutdown]
        assert pool.open_count == 0
        assert pool.is_shutdown

    run(main())


def test_closing_with_patience_waits_while_answers_come(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        answers = []
        pool = make_pool(node)
        await pool.open()
        for _ in range(3):
            ask(pool, answers.append)
        closing = asyncio.ensure_future(pool.close(patience=3600))
        await eventually(lambda: node.count(QUERY) == 3)
        for request in node.requests[-3:]:
            assert not closing.done()
            node.answer_later(request, VOID)
            await eventually(lambda: len(answers) == len(asked))
            asked.append(request)
        await closing
        assert [answer.kind for answer in answers] == [1, 1, 1]

    asked = [None]
    run(main())


def test_closing_with_patience_gives_up_a_node_that_answers_nothing(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        answers = []
        pool = make_pool(node, drain_timeout=3600)
        await pool.open()
        for _ in range(1000):
            ask(pool, answers.append)
        await pool.close(patience=0.01)
        assert [type(answer) for answer in answers] == [ConnectionShutdown] * 1000

    run(main())


def test_closing_does_not_wait_for_orphans(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        pool = make_pool(node, drain_timeout=3600)
        await pool.open()
        connection, stream = pool.borrow_connection()
        connection.send_msg(SELECT, stream, print)
        connection.abandon(stream)
        await pool.close()

    run(main())


def test_cancelling_the_opening_leaves_no_connection(run, make_pool, node):
    async def main():
        pool = make_pool(node, connections_per_host=3)
        whole = node._on_options
        node._on_options = lambda request: whole(request) if node.accepted < 3 else SILENCE
        opening = asyncio.ensure_future(pool.open())
        await eventually(lambda: node.accepted == 3)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await eventually(lambda: not node.clients)

    run(main())


def test_cancelling_the_closing_closes_all_the_same(run, make_pool, node):
    node.when("FROM t", SILENCE)

    async def main():
        pool = make_pool(node, connections_per_host=2, drain_timeout=3600)
        await pool.open()
        ask(pool, lambda _: None)
        closing = asyncio.ensure_future(pool.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await eventually(lambda: not node.clients)

    run(main())


def test_closing_while_a_connection_is_opened_leaves_none(run, make_pool, node):
    async def main():
        pool = make_pool(node, reconnection_policy=SOON)
        await pool.open()
        node.fall_silent()  # replacements hang in their handshake
        node.drop_connections()
        await eventually(lambda: node.accepted == 2)
        await pool.close()
        await eventually(lambda: not node.clients)

    run(main())
