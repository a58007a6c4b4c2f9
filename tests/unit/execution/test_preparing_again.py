"""Many requests that meet a host which forgot their statement: one of them has it prepared."""

import answers
import pytest
from script import INVALID, NOTHING_LEFT, NUMBER, asked, leftovers, respond, row, session_of

from driver.net.errors import ConnectionException
from driver.protocol.errors import InvalidRequest, OperationTimedOut
from driver.wire.requests import ExecuteMessage, PrepareMessage

PREPARED = answers.prepared(b"id", NUMBER, NUMBER)
FORGOTTEN = answers.unprepared(b"id")
EXECUTE, PREPARE = ExecuteMessage.opcode, PrepareMessage.opcode
MANY = 5


@pytest.fixture
def session():
    """The first of two hosts has prepared a statement, and answers no more by itself."""
    found = session_of([PREPARED], [])
    found.prepared = found.prepare("q")
    return found


@pytest.fixture
def futures(session):
    """Requests that heard from the first host that it does not know their statement."""
    found = [session.execute_async(session.prepared, (1,)) for _ in range(MANY)]
    for _ in found:
        respond(session, 0, FORGOTTEN)
    return found


def opcodes(session, number=0):
    """What a host was asked since it prepared."""
    return [request.opcode for request in session.scripts[session.hosts[number]].requests]


def prepares(session, number=0):
    return opcodes(session, number).count(PREPARE)


def test_one_prepare_is_for_all_of_them(session, futures):
    assert prepares(session) == 1 + 1
    assert not any(future.is_done for future in futures)
    respond(session, 0, PREPARED)
    assert opcodes(session)[-MANY:] == [EXECUTE] * MANY
    for _ in futures:
        respond(session, 0, row(1))
    assert [future.result().all() for future in futures] == [[(1,)]] * MANY
    assert leftovers(session) == NOTHING_LEFT
    assert not session.preparing


def test_those_that_come_later_ask_again(session, futures):
    respond(session, 0, PREPARED)
    for _ in futures:
        respond(session, 0, FORGOTTEN)
    late = session.execute_async(session.prepared, (1,))
    respond(session, 0, FORGOTTEN)
    assert prepares(session) == 1 + 2
    respond(session, 0, PREPARED)
    respond(session, 0, row(2))
    assert late.result().all() == [(2,)]


def test_an_error_in_preparing_is_the_failure_of_all(session, futures):
    respond(session, 0, INVALID)
    for future in futures:
        with pytest.raises(InvalidRequest, match="no such table"):
            future.result()
    assert leftovers(session) == NOTHING_LEFT
    assert not session.preparing


def test_all_go_on_to_the_next_host_if_the_connection_is_lost(session, futures):
    session.connection.defunct(ConnectionException("lost"))
    assert asked(session)[1] == MANY
    assert prepares(session, 1) == 0
    for _ in futures:
        respond(session, 1, row(1))
    assert [future.result().all() for future in futures] == [[(1,)]] * MANY
    assert leftovers(session) == NOTHING_LEFT


def test_the_end_of_the_one_that_asked_is_not_that_of_the_others(session, futures):
    futures[0].abandon()
    futures[2].abandon()
    respond(session, 0, PREPARED)
    for _ in range(MANY - 2):
        respond(session, 0, row(1))
    left = [futures[1], *futures[3:]]
    assert [future.result().all() for future in left] == [[(1,)]] * (MANY - 2)
    assert prepares(session) == 1 + 1
    assert leftovers(session)["borrowed"] == 0


def test_all_of_them_time_out_by_themselves(session, futures):
    session.timers.advance(session.default_timeout)
    for future in futures:
        with pytest.raises(OperationTimedOut):
            future.result()
    assert prepares(session) == 1 + 1
    assert not session.preparing
    assert leftovers(session)["timers"] == 0
    assert leftovers(session)["borrowed"] == 0


def test_each_host_is_asked_for_itself(session):
    futures = [
        session.execute_async(session.prepared, (1,), host=host)
        for host in session.hosts
        for _ in range(2)
    ]
    for number in (0, 0, 1, 1):
        respond(session, number, FORGOTTEN)
    assert [prepares(session, number) for number in (0, 1)] == [1 + 1, 1]
    for number in (0, 1):
        respond(session, number, PREPARED)
        respond(session, number, row(number))
        respond(session, number, row(number))
    assert [future.result().all() for future in futures] == [[(0,)], [(0,)], [(1,)], [(1,)]]
