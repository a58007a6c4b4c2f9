"""Awaitable responses: the same requests, for coroutines."""

import asyncio
from uuid import UUID

import answers
import pytest
from script import INVALID, NOTHING_LEFT, NUMBER, OVERLOADED, leftovers, respond, row, session_of

from driver.execution import AwaitableResponse, QueryExhausted, TraceUnavailable
from driver.protocol.errors import InvalidRequest, OperationTimedOut
from driver.results import ResultPage, named_tuple_factory
from driver.statements import SimpleStatement


def on_loop(test):
    """Run a coroutine function as a test."""

    def run(*args):
        asyncio.run(test(*args))

    run.__name__ = test.__name__
    return run


def send(session, query="q", **options):
    session.loop = asyncio.get_running_loop()
    response = session.request(AwaitableResponse, query, **options)
    response.send_request()
    return response


@on_loop
async def test_awaiting_gives_a_page():
    page = await send(session_of([row(1)]))
    assert isinstance(page, ResultPage)
    assert (page.current_rows, page.one(), page.column_names) == ([(1,)], (1,), ["n"])
    assert not page.has_more_pages


@on_loop
async def test_awaiting_waits_for_the_answer():
    session = session_of([])
    waiting = asyncio.ensure_future(send(session))
    await asyncio.sleep(0)
    assert not waiting.done()
    respond(session, 0, row(1))
    assert (await waiting).one() == (1,)
    assert leftovers(session) == NOTHING_LEFT


@on_loop
async def test_awaiting_may_give_pages_of_another_class():
    class Page(ResultPage):
        pass

    class Response(AwaitableResponse):
        __slots__ = ()

        page_class = Page

    response = session_of([row(1)]).request(Response, "q")
    response.send_request()
    assert type(await response) is Page


@on_loop
async def test_one_may_be_awaited_by_many_and_again():
    session = session_of([])
    response = send(session)
    waiting = [asyncio.ensure_future(response) for _ in range(3)]
    await asyncio.sleep(0)
    respond(session, 0, row(1))
    assert [(await each).one() for each in [*waiting, response]] == [(1,)] * 4


@on_loop
async def test_rows_may_be_awaited_without_a_page():
    session = session_of([])
    session.row_factory = named_tuple_factory
    response = send(session)
    waiting = asyncio.ensure_future(response.wait_for_page())
    await asyncio.sleep(0)
    respond(session, 0, row(1))
    rows = await waiting
    assert rows == [(1,)]
    assert (await response).current_rows is rows is await response.wait_for_page()
    failed = send(session_of([INVALID]))
    with pytest.raises(InvalidRequest):
        await failed.wait_for_page()
    given_up = asyncio.ensure_future(send(session_of([])).wait_for_page())
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up


@on_loop
async def test_failures_are_raised_each_time():
    response = send(session_of([INVALID]))
    for _ in range(2):
        with pytest.raises(InvalidRequest):
            await response


@on_loop
async def test_a_failure_that_nobody_awaits_is_no_complaint():
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda *args: complaints.append(args))
    response = send(session_of([INVALID]))
    del response
    await asyncio.sleep(0)
    assert complaints == []


@on_loop
async def test_a_time_out_is_raised():
    session = session_of([])
    response = send(session, timeout=1.0)
    session.timers.advance(1.0)
    with pytest.raises(OperationTimedOut):
        await response


@on_loop
async def test_cancelling_who_waits_ends_the_request():
    session = session_of([])
    response = send(session)
    waiting = asyncio.ensure_future(response)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert leftovers(session) == NOTHING_LEFT
    assert len(session.connection.orphaned_request_ids) == 1
    respond(session, 0, row(1))
    assert session.connection.in_flight == 0
    assert response.is_done
    with pytest.raises(asyncio.CancelledError):
        await response


@on_loop
async def test_a_time_limit_of_asyncio_ends_the_request():
    session = session_of([])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(send(session), 0.001)
    assert leftovers(session) == NOTHING_LEFT


@on_loop
async def test_it_can_be_cancelled_itself_once():
    session = session_of([OVERLOADED], [])
    response = send(session)
    waiting = asyncio.ensure_future(response)
    await asyncio.sleep(0)
    assert response.cancel()
    assert not response.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert leftovers(session) == NOTHING_LEFT


@on_loop
async def test_what_has_ended_cannot_be_cancelled():
    response = send(session_of([row(1)]))
    assert not response.cancel()
    assert (await response).one() == (1,)


@on_loop
async def test_being_cancelled_while_the_schema_is_read_is_the_end():
    session = session_of([answers.schema_change("CREATED", "KEYSPACE", "ks")])
    done = []
    session.cluster.schema_changed = lambda *args: done.append(args[-1])
    response = send(session)
    response.cancel()
    done[0](True)
    with pytest.raises(asyncio.CancelledError):
        await response


@on_loop
async def test_pages_are_awaited_one_after_the_other():
    first = answers.rows(NUMBER, [(1,)], paging_state=b"p")
    response = send(session_of([first, row(2)]))
    assert (await response).has_more_pages
    response.start_fetching_next_page()
    assert (await response).current_rows == [(2,)]
    with pytest.raises(QueryExhausted):
        response.start_fetching_next_page()


@on_loop
async def test_a_page_that_is_on_its_way_is_asked_for_once():
    session = session_of([answers.rows(NUMBER, [(1,)], paging_state=b"p")])
    response = send(session)
    await response
    for _ in range(2):
        response.start_fetching_next_page()
    assert len(session.scripts[session.hosts[0]].requests) == 2
    respond(session, 0, row(2))
    assert (await response).current_rows == [(2,)]


@on_loop
async def test_a_task_that_goes_on_after_the_next_page_was_asked_for_gets_that():
    session = session_of([])
    response = send(session)

    async def page():
        return (await response).current_rows

    async def page_and_the_next_one():
        rows = await page()
        response.start_fetching_next_page()
        return rows + await page()

    tasks = [asyncio.ensure_future(each()) for each in (page_and_the_next_one, page)]
    await asyncio.sleep(0)
    respond(session, 0, answers.rows(NUMBER, [(1,)], paging_state=b"p"))
    await asyncio.sleep(0.01)
    respond(session, 0, row(2))
    assert await asyncio.gather(*tasks) == [[(1,), (2,)], [(2,)]]


@on_loop
async def test_callbacks_are_called_as_well():
    session, rows, errors = session_of([row(1), INVALID]), [], []
    send(session).add_callbacks(rows.append, errors.append)
    send(session).add_callbacks(rows.append, errors.append)
    assert (rows, [type(error) for error in errors]) == ([[(1,)]], [InvalidRequest])


@on_loop
async def test_without_a_loop_in_the_session_the_running_one_is_used():
    session = session_of([row(1)])
    response = session.request(AwaitableResponse, SimpleStatement("q"))
    response.send_request()
    assert (await response).one() == (1,)


@on_loop
async def test_traces_are_awaited():
    session = session_of([row(1), None])
    response = send(session, trace=True)
    assert await response.get_query_trace() is None
    assert await response.get_all_query_traces() == []
    waiting = send(session)
    with pytest.raises(TraceUnavailable, match="not available before"):
        await waiting.get_query_trace()
    waiting._query_traces = (UUID(int=1),)
    waiting.cancel()
