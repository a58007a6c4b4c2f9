"""Traces: read from the tables of the nodes, again and again until they are complete."""

import asyncio
import datetime as dt
from uuid import UUID

import answers
import pytest
from script import INVALID, NOTHING_LEFT, asked, leftovers, respond, row, session_of

from driver.execution import QueryTrace, TraceEvent, TraceUnavailable
from driver.protocol.errors import InvalidRequest
from driver.types import InetAddressType, Int32Type, MapType, TimestampType, TimeUUIDType, UTF8Type
from driver.types.identity import UUIDType, uuid_from_time

TRACE = UUID("5d2f1e30-2cc2-11f0-9cd2-0242ac120002")
SECOND = UUID("6d2f1e30-2cc2-11f0-9cd2-0242ac120002")
STARTED = dt.datetime(2026, 3, 20, 8, 34, tzinfo=dt.UTC).replace(tzinfo=None)
SESSION_COLUMNS = [
    ("session_id", UUIDType),
    ("client", InetAddressType),
    ("command", UTF8Type),
    ("coordinator", InetAddressType),
    ("duration", Int32Type),
    ("parameters", MapType.apply_parameters((UTF8Type, UTF8Type))),
    ("request", UTF8Type),
    ("started_at", TimestampType),
]
EVENT_COLUMNS = [
    ("session_id", UUIDType),
    ("event_id", TimeUUIDType),
    ("activity", UTF8Type),
    ("source", InetAddressType),
    ("source_elapsed", Int32Type),
    ("thread", UTF8Type),
]
NO_SESSION = answers.rows(SESSION_COLUMNS, [])
EVENTS = answers.rows(
    EVENT_COLUMNS,
    [
        (TRACE, uuid_from_time(STARTED), "Parsing", "127.0.0.1", 40, "main"),
        (TRACE, uuid_from_time(STARTED), "Reading", "127.0.0.2", None, "worker-1"),
    ],
)


def session_row(duration):
    values = (TRACE, "10.0.0.9", "QUERY", "127.0.0.1", duration, {"query": "q"}, "Execute", STARTED)
    return answers.rows(SESSION_COLUMNS, [values])


def populated(*given, **options):
    session = session_of(list(given))
    trace = QueryTrace(TRACE, session)
    trace.populate(**options)
    return trace, session


def test_a_trace_tells_who_did_what_and_when():
    trace, session = populated(session_row(1500), EVENTS)
    assert trace.request_type == "Execute"
    assert trace.duration == dt.timedelta(microseconds=1500)
    assert (trace.client, trace.coordinator) == ("10.0.0.9", "127.0.0.1")
    assert trace.parameters == {"query": "q"}
    assert trace.started_at == STARTED
    assert [event.description for event in trace.events] == ["Parsing", "Reading"]
    first, second = trace.events
    assert first.source_elapsed == dt.timedelta(microseconds=40)
    assert second.source_elapsed is None
    assert (second.source, second.thread_name) == ("127.0.0.2", "worker-1")
    assert abs(first.datetime - STARTED) < dt.timedelta(milliseconds=1)
    assert "Parsing on 127.0.0.1[main] at" in str(first)
    assert f"Execute [{TRACE}] coordinator: 127.0.0.1" in str(trace)
    assert all(str(TRACE).encode() in request.body for request in session.server.requests)


def test_a_trace_that_is_not_there_or_not_complete_is_asked_for_again():
    trace, session = populated(NO_SESSION, session_row(None), session_row(7), EVENTS)
    assert trace.duration == dt.timedelta(microseconds=7)
    assert len(session.server.requests) == 4


def test_a_trace_may_be_taken_as_it_is():
    trace, _ = populated(session_row(None), EVENTS, wait_for_complete=False)
    assert trace.duration is None
    assert len(trace.events) == 2


def test_the_level_of_consistency_can_be_chosen():
    for options, level in (({}, b"\0\x0a"), ({"query_cl": 4}, b"\0\x04")):
        _, session = populated(session_row(1), EVENTS, **options)
        assert {request.body[-3:-1] for request in session.server.requests} == {level}


def test_waiting_has_an_end():
    session = session_of([])
    session.scripts[session.host].left = [NO_SESSION] * 1000
    with pytest.raises(TraceUnavailable, match=r"not complete, after 0\.01 seconds"):
        QueryTrace(TRACE, session).populate(max_wait=0.01)


def test_a_node_that_does_not_answer_is_not_waited_for_either():
    session = session_of([])
    trace = QueryTrace(TRACE, session)
    ask, asked = trace._ask, []

    def ask_and_let_time_pass(*args):
        asked.append(ask(*args))
        session.timers.advance(3)
        return asked[-1]

    trace._ask = ask_and_let_time_pass
    with pytest.raises(TraceUnavailable):
        trace.populate(max_wait=2.0)


def test_a_loop_that_has_stopped_is_not_waited_for_either(monkeypatch):
    monkeypatch.setattr("driver.execution.waiting.GRACE", 0.0)
    with pytest.raises(TraceUnavailable):
        QueryTrace(TRACE, session_of([])).populate(max_wait=0.001)


def test_waiting_on_the_thread_that_reads_answers_is_refused():
    async def wait():
        session = session_of([])
        session.loop = asyncio.get_running_loop()
        with pytest.raises(RuntimeError, match="only this thread can read"):
            QueryTrace(TRACE, session).populate()

    asyncio.run(wait())


def test_what_else_goes_wrong_is_raised():
    with pytest.raises(InvalidRequest):
        populated(INVALID)


def test_the_same_is_there_for_coroutines():
    async def read(*given, **options):
        trace = QueryTrace(TRACE, session_of(list(given)))
        await trace.populate_async(**options)
        return trace

    trace = asyncio.run(read(NO_SESSION, session_row(7), EVENTS))
    assert len(trace.events) == 2
    with pytest.raises(TraceUnavailable):
        asyncio.run(read(*[NO_SESSION] * 1000, max_wait=0.01))


def test_a_future_has_the_traces_of_its_pages():
    first = answers.along(answers.rows([], [], paging_state=b"p"), trace_id=TRACE)
    second = answers.along(row(2), trace_id=SECOND)
    session = session_of([first, second, *[session_row(1), EVENTS] * 5])
    result = session.execute("q", trace=True)
    list(result)
    assert result.get_query_trace(1.0).trace_id == SECOND
    assert [trace.trace_id for trace in result.get_all_query_traces(1.0)] == [TRACE, SECOND]
    assert all(trace.events for trace in result.response_future.get_all_query_traces())


def test_a_request_that_was_not_traced_has_no_trace():
    result = session_of([row(1)]).execute("q")
    assert result.get_query_trace() is None
    assert result.get_all_query_traces() == []


def test_a_request_without_an_answer_has_no_trace_yet():
    future = session_of([]).execute_async("q", trace=True)
    for ask in (future.get_query_trace, future.get_all_query_traces):
        with pytest.raises(TraceUnavailable, match="before the answer is here"):
            ask()


def test_an_event_can_be_made_of_its_columns():
    event = TraceEvent("x", uuid_from_time(STARTED), "127.0.0.1", 5, "t")
    assert event.source_elapsed == dt.timedelta(microseconds=5)


def test_who_stops_waiting_for_a_trace_leaves_nothing_behind(caplog):
    async def stop_waiting():
        session = session_of([])
        session.loop = asyncio.get_running_loop()
        reading = asyncio.create_task(QueryTrace(TRACE, session).populate_async(max_wait=2.0))
        await asyncio.sleep(0)
        assert asked(session) == [1]
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert leftovers(session) == NOTHING_LEFT
        respond(session, 0, NO_SESSION)  # too late, and of no interest
        assert asked(session) == [1]

    asyncio.run(stop_waiting())
    assert caplog.text == ""


def test_traces_of_one_request_are_equal_whatever_was_read_of_them():
    one, same, other = (QueryTrace(trace_id, None) for trace_id in (TRACE, TRACE, SECOND))
    one.request_type = "Execute CQL3 query"
    assert one == same != other
    assert len({one, same, other}) == 2
    assert one != TRACE
