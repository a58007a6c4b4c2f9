"""A thread that waits for the only answer on its way reads it itself, and nothing else changes."""

import gc
import os
import signal
import sys
import threading
import time

import loops
import pytest
import wire_bodies as wb
from cql_cluster import CqlCluster
from cql_node import SILENCE, Answer, error, rows, schema_change, schema_event
from loops import eventually_here as eventually

from driver.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, Session
from driver.execution import ResponseFuture
from driver.net import loop as loop_module
from driver.net.errors import ConnectionException
from driver.net.transport import SocketTransport
from driver.policies import ConstantSpeculativeExecutionPolicy, FallthroughRetryPolicy
from driver.protocol.errors import DriverException, InvalidRequest, OperationTimedOut
from driver.results.rows import tuple_factory
from driver.statements import SimpleStatement
from driver.types import Int32Type, UTF8Type
from driver.wire.requests import QueryMessage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs epoll")


@pytest.fixture
def nodes():
    with CqlCluster(1) as found:
        found.when("SELECT n", rows([("n", Int32Type)], [(1,)]))
        yield found


@pytest.fixture(params=loops.LOOPS)
def cluster(request, nodes, monkeypatch):
    monkeypatch.setattr(loop_module, "new_event_loop", loops.LOOPS[request.param])
    once = ExecutionProfile(retry_policy=FallthroughRetryPolicy())
    speculative = ExecutionProfile(
        speculative_execution_policy=ConstantSpeculativeExecutionPolicy(delay=10, max_attempts=1)
    )
    profiles = {EXEC_PROFILE_DEFAULT: once, "speculative": speculative}
    with Cluster(**nodes.options, execution_profiles=profiles) as cluster:
        yield cluster


@pytest.fixture
def threads():
    """The threads on which rows were made, in order."""
    return []


@pytest.fixture
def session(cluster, threads):
    def factory(names, found):
        threads.append(threading.get_ident())
        return tuple_factory(names, found)

    for profile in cluster.profile_manager.profiles.values():
        profile.row_factory = factory
    return cluster.connect()


@pytest.fixture
def transport(session):
    (host,) = session.hosts
    (connection,) = session.core.pool_for(host)._connections
    return connection._transport


def here(threads):
    return [thread == threading.get_ident() for thread in threads]


def test_the_thread_that_waits_reads_and_no_other_does_for_it(session, threads, transport):
    for _ in range(3):
        assert session.execute("SELECT n FROM t").one() == (1,)
    assert here(threads) == [True] * 3
    session.execute_async("SELECT n FROM t").result()
    assert here(threads) == [True] * 3 + [False]
    assert transport._reader is None
    assert not session.core.timers.pending


def test_pages_are_read_by_the_thread_that_iterates(nodes, session, threads):
    def page(request):
        # The paging state is all that is left of the parameters which is not empty.
        more = None if b"more" in request.body else b"more"
        return rows([("n", Int32Type)], [(1,), (2,)], paging_state=more)

    nodes.when("SELECT pages", page)
    assert list(session.execute("SELECT pages FROM t")) == [(1,), (2,)] * 2
    assert here(threads) == [True, True]


@pytest.mark.parametrize("cut", [1, "random"])
def test_an_answer_in_pieces_is_read_to_its_end(nodes, session, threads, cut):
    text = "x" * 3000
    nodes.when("SELECT long", rows([("x", UTF8Type)], [(text,)]))
    nodes.nodes[0].cut = cut
    assert session.execute("SELECT long FROM t", timeout=60).one() == (text,)
    assert here(threads) == [True]


def test_an_answer_longer_than_a_read(nodes, session, threads):
    found = [(n,) for n in range(40_000)]
    nodes.when("SELECT many", rows([("n", Int32Type)], found))
    assert session.execute("SELECT many FROM t", timeout=60).all() == found
    assert here(threads) == [True]


def test_a_stream_that_is_used_again_at_once_is_no_answer_that_was_lost(session):
    """By another thread, in the moment between an answer and the end of reading it."""
    (host,) = session.hosts
    (connection,) = session.core.pool_for(host)._connections
    stream, ended = connection.get_request_id(), []

    def is_answered(found):
        connection._requests[stream] = (ended.append, None, connection.handler)
        ended.append(found)

    assert connection.take_over_reading()
    connection.send_msg(QueryMessage("SELECT n FROM t", 1), stream, is_answered)
    connection.read_answer(stream, 10)
    assert not connection.is_closed
    del connection._requests[stream]
    assert len(ended) == 1


def test_what_follows_an_answer_is_the_loops(nodes, session):
    nodes.when("SELECT wrong", error(0x2200, "no such table"))
    nodes.when("CREATE TABLE", schema_change("CREATED", "TABLE", "ks", "t"))
    with pytest.raises(InvalidRequest, match="no such table"):
        session.execute("SELECT wrong FROM t")
    session.execute("USE ks")
    assert session.keyspace == "ks"
    assert session.execute("CREATE TABLE t (k int PRIMARY KEY)").response_future.is_schema_agreed
    nodes.prepare("SELECT n FROM p", results=[("n", Int32Type)])
    prepared = session.prepare("SELECT n FROM p")
    nodes.nodes[0].forget_prepared()
    assert session.execute(prepared).one() == (1,)


def test_time_is_over_while_it_waits_and_the_late_answer_is_nobodys(nodes, session, transport):
    (node,), late = nodes.nodes, []
    nodes.when("SELECT late", lambda request: late.append(request) or SILENCE)
    began = time.monotonic()
    with pytest.raises(OperationTimedOut):
        session.execute("SELECT late FROM t", timeout=0.2)
    assert time.monotonic() - began >= 0.2
    assert transport._reader is None
    connection = transport._on_data.__self__
    assert connection.orphaned_request_ids == {late[0].stream}
    node.answer_later(late[0], rows([("n", Int32Type)], [(13,)]))
    eventually(lambda: not connection.orphaned_request_ids)
    assert session.execute("SELECT n FROM t").one() == (1,)
    assert not session.core.timers.pending


def test_answers_of_others_that_come_first_reach_them(nodes, session, transport):
    (node,), asked = nodes.nodes, []
    nodes.when("SELECT slow", lambda request: asked.append(request) or SILENCE)
    found = []
    waits = threading.Thread(
        target=lambda: found.append(session.execute("SELECT slow FROM t", timeout=60).one())
    )
    waits.start()
    eventually(lambda: asked)
    assert transport._reader is not None
    # Both of another execute and of a future: the loop hands them out.
    assert session.execute("SELECT n FROM t").one() == (1,)
    assert session.execute_async("SELECT n FROM t").result().one() == (1,)
    assert transport._reader is None  # and that thread waits for the loop from now on
    assert transport._rest
    node.answer_later(asked[0], rows([("n", Int32Type)], [(2,)]))
    waits.join()
    assert found == [(2,)]


def test_heartbeats_and_events_meanwhile_are_the_loops(nodes):
    (node,), asked = nodes.nodes, []
    nodes.when("SELECT slow", lambda request: asked.append(request) or SILENCE)
    options = {**nodes.options, "idle_heartbeat_interval": 0.1, "idle_heartbeat_timeout": 2}
    with Cluster(**options) as cluster:
        session, found = cluster.connect(), []
        waits = threading.Thread(target=lambda: found.append(session.execute("SELECT slow")))
        waits.start()
        eventually(lambda: asked)
        node.send_event(schema_event("CREATED", "KEYSPACE", "ks"))
        seen = len(node.requests)
        eventually(lambda: len(node.requests) > seen + 4)  # heartbeats, each answered
        assert node.accepted == 2
        node.answer_later(asked[0], rows([("n", Int32Type)], [(2,)]))
        waits.join()
        assert found[0].one() == (2,)


@pytest.mark.parametrize("how", ["the node", "the session", "garbage"])
def test_a_connection_that_ends_meanwhile(nodes, session, transport, how):
    (node,), asked = nodes.nodes, []
    nodes.when("SELECT slow", lambda request: asked.append(request) or SILENCE)
    failed = []

    def ask():
        try:
            session.execute("SELECT slow FROM t", timeout=60)
        except (DriverException, ConnectionException) as error:
            failed.append(error)

    waits = threading.Thread(target=ask)
    waits.start()
    eventually(lambda: asked)
    sock = transport._sock
    if how == "the node":
        node.drop_connections()
    elif how == "garbage":
        node.do(lambda: asked[0].client.transport.write(b"\x00" * 40))
    else:
        session.shutdown()
    waits.join(20)
    assert not waits.is_alive()
    assert len(failed) == 1
    assert not isinstance(failed[0], OperationTimedOut)
    eventually(lambda: sock.fileno() == -1)
    assert transport._heard_by_loop.closed


def test_ctrl_c_leaves_the_answer_to_the_loop(nodes, session, transport):
    (node,), asked = nodes.nodes, []

    def slow(request):
        asked.append(request)
        os.kill(os.getpid(), signal.SIGINT)
        return SILENCE

    nodes.when("SELECT slow", slow)
    with pytest.raises(KeyboardInterrupt):
        session.execute("SELECT slow FROM t", timeout=60)
    assert transport._reader is None
    assert session.execute("SELECT n FROM t").one() == (1,)
    node.answer_later(asked[0], rows([("n", Int32Type)], [(2,)]))
    assert session.execute("SELECT n FROM t").one() == (1,)
    assert node.accepted == 2
    eventually(lambda: not transport._on_data.__self__.in_flight)


@pytest.mark.parametrize("where", ["read", "hand_reading_back"])
def test_ctrl_c_where_an_answer_would_be_lost_closes_the_connection(
    nodes, session, transport, monkeypatch, where
):
    def interrupted(*_, **__):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(SocketTransport, where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.execute("SELECT n FROM t")
    assert transport._reader is None
    eventually(lambda: transport._sock.fileno() == -1)
    eventually(lambda: nodes.nodes[0].accepted >= 3)
    eventually(lambda: session.hosts)
    assert session.execute("SELECT n FROM t").one() == (1,)


@pytest.mark.parametrize("raised", [ValueError, SystemExit])
def test_what_a_row_factory_raises_is_the_callers(session, raised):
    def factory(*_):
        raise raised("mine")

    with pytest.raises((raised, Exception), match="mine"):
        session.execute("SELECT n FROM t", row_factory=factory)
    assert session.execute("SELECT n FROM t").one() == (1,)


def test_a_listener_that_wants_to_be_called_back_is_called_by_the_loop(session, threads):
    called = []
    session.add_request_init_listener(
        lambda future: future.add_callback(lambda _: called.append(threading.get_ident()))
    )
    session.execute("SELECT n FROM t")
    eventually(lambda: called)
    assert here(threads) == here(called) == [False]


def test_speculative_executions_are_the_loops(session, threads):
    for is_idempotent in (True, False):
        statement = SimpleStatement("SELECT n FROM t", is_idempotent=is_idempotent)
        session.execute(statement, execution_profile="speculative")
    assert here(threads) == [False, True]


@pytest.mark.parametrize("where", ["the class", "the session"])
def test_instrumentation_that_wraps_execute_async_sees_every_request(session, monkeypatch, where):
    seen, plain = [], Session.execute_async

    def wrapped(self, *args, **keywords):
        seen.append(args[0])
        return plain(self, *args, **keywords)

    if where == "the class":
        monkeypatch.setattr(Session, "execute_async", wrapped)
    else:
        session.execute_async = lambda *args, **keywords: wrapped(session, *args, **keywords)
    assert session.execute("SELECT n FROM t", timeout=3).one() == (1,)
    assert seen == ["SELECT n FROM t"]


def futures_in_memory():
    return [each for each in gc.get_objects() if isinstance(each, ResponseFuture)]


def test_an_error_keeps_no_request_alive(nodes, session):
    nodes.when("SELECT wrong", error(0x2200, "no such table"))
    gc.collect()
    gc.disable()
    others = futures_in_memory()
    try:
        with pytest.raises(InvalidRequest):
            session.execute("SELECT wrong FROM t")
        eventually(lambda: len(futures_in_memory()) == len(others))
    finally:
        gc.enable()


def test_many_threads_get_their_own(nodes, session):
    nodes.when(
        "SELECT own", lambda request: rows([("n", Int32Type)], [(int(request.text.split()[-1]),)])
    )
    wrong = []

    def ask(first):
        for n in range(first, first + 150):
            found = session.execute(f"SELECT own {n}").one()
            wrong.extend([] if found == (n,) else [(n, found)])

    asking = [threading.Thread(target=ask, args=(first,)) for first in range(0, 1200, 150)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert not wrong


def test_a_void_answer(nodes, session):
    nodes.when("INSERT", Answer(0x08, wb.integer(1)))
    assert session.execute("INSERT INTO t (k) VALUES (1)").all() == []
