"""What the application's code raises on the loop costs nobody else an answer, nor the loop."""

import asyncio
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import loops
import pytest
import wire_bodies as wb
from cql_cluster import CqlCluster
from cql_node import ERROR, Answer, rows

from driver import aio
from driver.cluster import Cluster
from driver.execution.awaitable import AwaitableResponse
from driver.execution.waiting import refuse_on_loop
from driver.net import loop as loop_module
from driver.policies import RetryPolicy
from driver.protocol.errors import DriverException
from driver.types import Int32Type

ENDS_A_PROGRAM = (SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)


@pytest.fixture
def nodes():
    with CqlCluster(1) as found:
        found.when("SELECT n", rows([("n", Int32Type)], [(1,)]))
        yield found


@pytest.fixture(params=loops.LOOPS)
def session(request, nodes, monkeypatch):
    monkeypatch.setattr(loop_module, "new_event_loop", loops.LOOPS[request.param])
    with Cluster(**nodes.options) as cluster:
        yield cluster.connect()


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL + 1)


def raiser(error):
    def fn(*_):
        raise error

    return fn


@pytest.mark.parametrize("error", ENDS_A_PROGRAM)
def test_callbacks_end_neither_the_loop_nor_each_other(session, error):
    told = []

    def ask():
        # Not on the main thread: what is called back there at once may end the program.
        futures = [session.execute_async("SELECT n FROM t") for _ in range(20)]
        for future in futures:
            future.add_callback(raiser(error))
            future.add_callback(told.append)
        return [future.result().one().n for future in futures]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(ask).result() == [1] * 20
    assert session.execute("SELECT n FROM t", timeout=5).one().n == 1
    assert len(told) == 20


def test_a_task_or_a_call_on_the_loop_does_not_end_it(session):
    loop = session.core.loop
    loop.call_soon_threadsafe(sys.exit)
    loop.call_soon_threadsafe(loop.stop)
    with pytest.raises(SystemExit):
        session.cluster.run(_exit())
    assert session.execute("SELECT n FROM t", timeout=5).one().n == 1


async def _exit():
    sys.exit(3)


def test_a_timer_does_not_take_those_of_its_slot_along(session):
    ran = threading.Event()
    for fn in (sys.exit, ran.set):
        session.core.timers.call_later(0.01, fn)
    assert ran.wait(10)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_statements_that_raise_are_raised_where_results_are_taken(session, error):
    def statements():
        for _ in range(300):
            yield "SELECT n FROM t", None
        raise error

    with pytest.raises(error):
        session.execute_concurrent(statements(), concurrency=10)
    assert session.execute("SELECT n FROM t", timeout=5).one().n == 1


def test_a_row_factory_fails_its_own_request_only(session):
    session.row_factory = raiser(SystemExit(3))
    failing = session.execute_async("SELECT n FROM t")
    with pytest.raises(DriverException, match="SystemExit"):
        failing.result()


def test_a_retry_policy_fails_its_own_request_only(nodes):
    class Leaves(RetryPolicy):
        on_request_error = raiser(SystemExit(3))

    nodes.when("SELECT busy", Answer(ERROR, wb.integer(0x1001) + wb.string("busy")))
    with Cluster(default_retry_policy=Leaves(), **nodes.options) as cluster:
        session = cluster.connect()
        with pytest.raises(DriverException, match="SystemExit"):
            session.execute("SELECT busy", timeout=5)
        assert session.execute("SELECT n FROM t", timeout=5).one().n == 1


def test_a_loop_of_the_application_ends_after_the_other_answers(nodes):
    told = []

    async def main():
        async with aio.Cluster(**nodes.options) as cluster:
            session = await cluster.connect()
            requests = [
                session.core.request(AwaitableResponse, "SELECT n FROM t") for _ in range(5)
            ]
            requests[0].add_callback(raiser(SystemExit(3)))
            for request in requests:
                request.add_callback(told.append)
                request.send_request()
            await asyncio.sleep(30)

    with pytest.raises(SystemExit):
        asyncio.run(main())
    assert told


def test_a_closed_loop_is_an_error_at_once(nodes):
    async def main():
        cluster = aio.Cluster(**nodes.options)
        session = await cluster.connect()
        await cluster.shutdown()
        return session

    session = asyncio.run(main())
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="closed"):
        pool.submit(refuse_on_loop, session.core).result(5)
