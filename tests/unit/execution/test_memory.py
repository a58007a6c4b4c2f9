"""Memory: what has ended is gone at once, without waiting for the collection of garbage."""

import asyncio
import gc
import weakref

import answers
import pytest
from script import INVALID, NUMBER, OVERLOADED, respond, row, session_of

from driver.execution import AwaitableResponse, ResponseFuture
from driver.execution.concurrent import execute_concurrent
from driver.net.timers import Timers
from driver.policies.speculative import ConstantSpeculativeExecutionPolicy
from driver.statements import SimpleStatement

IDEMPOTENT = SimpleStatement("q", is_idempotent=True)


@pytest.fixture(autouse=True)
def _no_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def on_a_loop(test):
    """Run a test with the timers of a real loop."""

    async def run():
        session = session_of([], [OVERLOADED])
        session.loop = asyncio.get_running_loop()
        session.timers = Timers(session.loop)
        session.speculative_execution_policy = ConstantSpeculativeExecutionPolicy(5.0, 1)
        try:
            await test(session)
        finally:
            session.timers.close()

    asyncio.run(run())


def sent(session, kind):
    request = session.request(kind, IDEMPOTENT)
    request.send_request()
    return request, weakref.ref(request)


KINDS = pytest.mark.parametrize("kind", [ResponseFuture, AwaitableResponse])


@KINDS
def test_of_a_request_that_was_answered(kind):
    async def test(session):
        request, ref = sent(session, kind)
        respond(session, 0, row(1))
        del request
        assert ref() is None

    on_a_loop(test)


@KINDS
@pytest.mark.parametrize("answer", [INVALID, OVERLOADED])
def test_of_a_request_that_failed(kind, answer):
    async def test(session):
        request, ref = sent(session, kind)
        respond(session, 0, answer)
        try:
            if kind is ResponseFuture:
                request.result()
            else:
                await request
        except Exception:  # noqa: BLE001, S110  (what counts is what is left)
            pass
        del request
        assert ref() is None

    on_a_loop(test)


@KINDS
def test_of_a_request_to_hosts_that_are_gone(kind):
    async def test(session):
        for pool in session.pools.values():
            pool.connection.close()
        request, ref = sent(session, kind)
        assert request.is_done
        del request
        assert ref() is None

    on_a_loop(test)


@KINDS
def test_of_a_request_of_several_pages(kind):
    async def test(session):
        request, ref = sent(session, kind)
        respond(session, 0, answers.rows(NUMBER, [(1,)], paging_state=b"p"))
        request.start_fetching_next_page()
        respond(session, 0, row(2))
        del request
        assert ref() is None

    on_a_loop(test)


def test_of_a_request_that_was_cancelled():
    async def test(session):
        request, ref = sent(session, AwaitableResponse)
        request.cancel()
        del request
        assert ref() is None

    on_a_loop(test)


def test_of_statements_that_are_answered_at_once():
    session = session_of([row(1), INVALID])
    refs = []
    session.request_listeners.append(lambda event: refs.append(weakref.ref(event.future)))
    results = execute_concurrent(session, [("q", None)] * 2, raise_on_first_error=False)
    assert [result.success for result in results] == [True, False]
    del results
    assert [ref() for ref in refs] == [None, None]
