"""Large pages: what comes with them and after them does not wait until their rows are made."""

import asyncio
import contextlib
import gc
import struct
import threading
import time
import weakref
from dataclasses import dataclass
from functools import wraps
from typing import ClassVar
from unittest.mock import Mock
from uuid import UUID

import answers
import pytest
from in_memory import InMemorySession
from script import NOTHING_LEFT, NUMBER, leftovers, respond, row, session_of

from driver.execution import AwaitableResponse, Metrics, ResponseFuture
from driver.execution.concurrent import execute_concurrent, execute_concurrent_async
from driver.execution.late_page import LatePage, takes_late_rows
from driver.execution.request import NOT_SET
from driver.protocol.errors import DriverException
from driver.results.rows import (
    class_factory,
    dict_factory,
    makes_single_rows,
    named_tuple_factory,
    ordered_dict_factory,
    tuple_factory,
)
from driver.types import Int32Type, UTF8Type
from driver.wire.codec import RESPONSES_BY_OPCODE, ProtocolHandler
from driver.wire.handlers import LazyProtocolHandler
from driver.wire.late_rows import LARGE_BODY, late_handler
from driver.wire.malformed import ColumnDecodeError, MalformedFrameError
from driver.wire.responses import ResultMessage

COLUMNS = [("n", Int32Type), ("text", UTF8Type)]
ROWS = [(number, f"text {number}") for number in range(20_000)]
LARGE = answers.rows(COLUMNS, ROWS)
SMALL = row(1)
TRACE = UUID(int=7)

assert len(LARGE.body) > 4 * LARGE_BODY


def cut(answer, size):
    """Rows that end within one."""
    return answer._replace(body=answer.body[:-size])


#: The last text is no UTF-8.
UNDECODABLE = LARGE._replace(body=LARGE.body[:-1] + b"\xff")


class Recorder:
    """A row factory of an application's own, which notes where it was called, and when."""

    def __init__(self, events=None):
        self.events = [] if events is None else events
        self.threads = []

    def __call__(self, names, rows):
        self.threads.append(threading.get_ident())
        made = [dict(zip(names, each, strict=True)) for each in rows]
        self.events.append(len(made))
        return made


def send(session, kind=ResponseFuture, **options):
    request = session.request(kind, "q", **options)
    request.send_request()
    return request


def respond_on_a_thread(session, *given):
    """Let answers arrive with one read on a thread that reads them; its id."""
    host = session.hosts[0]
    data = b"".join(
        session.servers[host].send(session.scripts[host].unanswered.pop(0).stream_id, answer)
        for answer in given
    )
    ids = []

    def read():
        ids.append(threading.get_ident())
        session.pools[host].connection._receive(data)

    reader = threading.Thread(target=read)
    reader.start()
    reader.join()
    return ids[0]


# --- threads -------------------------------------------------------------------------------------


def test_the_thread_that_waits_makes_the_rows():
    session = session_of([])
    session.row_factory = factory = Recorder()
    future = send(session)
    respond_on_a_thread(session, LARGE)
    assert future.is_done
    assert factory.threads == []
    rows = future.result().current_rows
    assert [tuple(each.values()) for each in rows] == ROWS
    assert factory.threads == [threading.get_ident()]
    assert future.result().current_rows is rows
    assert factory.threads == [threading.get_ident()]
    assert leftovers(session) == NOTHING_LEFT


def test_rows_of_a_small_page_are_made_where_it_arrives():
    session = session_of([])
    session.row_factory = factory = Recorder()
    future = send(session)
    reader = respond_on_a_thread(session, SMALL)
    assert factory.threads == [reader]
    assert future.result().one() == {"n": 1}


def test_an_answer_behind_a_large_page_is_there_before_its_rows():
    session = session_of([])
    events = []
    session.row_factory = Recorder(events)
    large, small = send(session), send(session)
    small.add_callback(events.append)
    respond_on_a_thread(session, LARGE, SMALL)
    large.result()
    assert events == [1, [{"n": 1}], len(ROWS)]


def test_what_comes_along_is_there_before_the_rows():
    session = session_of([])
    along = answers.along(
        answers.rows(COLUMNS, ROWS, paging_state=b"more"),
        trace_id=TRACE,
        warnings=["slow"],
        payload={"k": b"v"},
    )
    future = send(session)
    respond_on_a_thread(session, along)
    assert type(future._final_result) is LatePage
    assert future.has_more_pages
    assert (future.warnings, future.custom_payload) == (["slow"], {"k": b"v"})
    assert future.get_query_trace_ids() == [TRACE]
    assert "not decoded" in repr(future)
    page = future.result()
    assert page.column_names == ["n", "text"]
    assert page.paging_state == b"more"


def test_further_pages_may_be_large():
    first = answers.rows(COLUMNS, ROWS, paging_state=b"more")
    session = session_of([first, LARGE])
    assert [*send(session).result()] == ROWS * 2


def test_new_metadata_is_known_before_the_rows():
    prepare = answers.prepared(b"id", [], NUMBER, version=5, metadata_id=b"old")
    session = session_of([prepare], protocol_version=5)
    prepared = session.prepare("q")
    assert prepared.result_metadata_id == b"old"
    future = session.execute_async(prepared)
    respond_on_a_thread(session, answers.rows(COLUMNS, ROWS, new_id=b"new"))
    assert type(future._final_result) is LatePage
    assert prepared.result_metadata_id == b"new"
    assert future.result().all() == ROWS


@dataclass
class Row:
    """A row of an application's own class."""

    n: int
    text: str


@pytest.mark.parametrize(
    "factory",
    [
        tuple_factory,
        named_tuple_factory,
        dict_factory,
        ordered_dict_factory,
        class_factory(Row),
    ],
)
def test_rows_are_those_of_the_row_factory(factory):
    session = session_of([LARGE])
    session.row_factory = factory
    expected = factory(["n", "text"], ROWS)
    rows = send(session).result().current_rows
    assert rows == expected
    assert type(rows) is list
    assert type(rows[0]) is type(expected[0])


@pytest.mark.parametrize("declares", [True, False])
def test_a_row_factory_that_declares_that_it_makes_single_rows_gets_a_page_in_parts(declares):
    session = session_of([LARGE])
    factory = Recorder()
    session.row_factory = makes_single_rows(factory) if declares else factory
    rows = send(session).result().current_rows
    assert [tuple(each.values()) for each in rows] == ROWS
    assert sum(factory.events) == len(ROWS)
    assert (len(factory.events) > 1) is declares


def test_a_row_factory_that_wraps_one_declares_nothing():
    session = session_of([LARGE])

    @wraps(dict_factory)
    def counted(names, rows):
        return {"rows": len(dict_factory(names, rows))}

    session.row_factory = counted
    assert send(session).result().current_rows == [{"rows": len(ROWS)}]


def test_a_mock_that_is_called_back_gets_rows():
    called = Mock()
    future = send(session_of([LARGE])).add_callback(called)
    assert future.result().current_rows is called.call_args.args[0]
    assert len(called.call_args.args[0]) == len(ROWS)


def test_rows_of_other_protocol_handlers():
    session = session_of([LARGE], handler=LazyProtocolHandler)
    rows = send(session).result().current_rows
    assert type(rows).__name__ == "LazyRows"
    assert list(rows) == ROWS


def test_encrypted_columns_are_decrypted_where_the_rows_are_made():
    class Policy:
        threads: ClassVar = set()

        def contains_column(self, description):
            return description.col == "text"

        def column_type(self, _description):
            return UTF8Type

        def decrypt(self, _description, data):
            self.threads.add(threading.get_ident())
            return data.swapcase()

    session = session_of([], column_encryption_policy=Policy())
    future = send(session)
    respond_on_a_thread(session, LARGE)
    assert future.result().all() == [(number, text.upper()) for number, text in ROWS]
    assert Policy.threads == {threading.get_ident()}


def test_rows_of_several_threads_are_the_same():
    session = session_of([])
    future = send(session)
    respond_on_a_thread(session, LARGE)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(future.result().current_rows))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == ROWS
    assert all(rows is found[0] for rows in found)


class AsksForMore(Recorder):
    """A row factory during which somebody asks for the next page."""

    def __call__(self, names, rows):
        self.request.start_fetching_next_page()
        return super().__call__(names, rows)


def test_rows_are_those_that_were_waited_for_if_the_next_page_is_asked_for_meanwhile():
    session = session_of([])
    session.row_factory = factory = AsksForMore()
    factory.request = future = send(session)
    respond_on_a_thread(session, answers.rows(COLUMNS, ROWS, paging_state=b"more"))
    assert len(future.result().current_rows) == len(ROWS)
    assert not future.is_done


# --- callbacks -----------------------------------------------------------------------------------


def test_callbacks_get_rows_where_the_answer_arrives():
    session = session_of([])
    session.row_factory = factory = Recorder()
    got = []
    future = send(session).add_callbacks(got.append, got.append)
    reader = respond_on_a_thread(session, LARGE)
    assert [len(rows) for rows in got] == [len(ROWS)]
    assert factory.threads == [reader]
    assert future.result().current_rows is got[0]


def test_a_callback_may_ask_for_the_next_page():
    session = session_of([])
    got = []
    future = send(session)

    def go_on(rows):
        got.append(("first", len(rows)))
        if future.has_more_pages:
            future.start_fetching_next_page()

    future.add_callback(go_on).add_callback(lambda rows: got.append(("second", len(rows))))
    respond_on_a_thread(session, answers.rows(COLUMNS, ROWS, paging_state=b"more"))
    respond_on_a_thread(session, LARGE)
    assert got == [(name, len(ROWS)) for name in ("first", "second")] * 2


def test_a_callback_gets_its_page_also_if_the_next_one_was_asked_for_before_its_rows_were_made():
    got = []
    future = send(session := session_of([]))
    go_on = takes_late_rows(lambda _: future.start_fetching_next_page())
    future.add_callback(go_on).add_callback(lambda rows: got.append(len(rows)))
    respond_on_a_thread(session, answers.rows(COLUMNS, ROWS, paging_state=b"more"))
    assert got == [len(ROWS)]
    assert not future.is_done


def test_callbacks_that_come_late_get_rows_where_they_are_added():
    session = session_of([])
    session.row_factory = factory = Recorder()
    got = []
    future = send(session)
    respond_on_a_thread(session, LARGE)
    future.add_callbacks(got.append, got.append)
    assert [len(rows) for rows in got] == [len(ROWS)]
    assert factory.threads == [threading.get_ident()]


def test_execute_concurrent_gets_rows():
    session = session_of([LARGE, SMALL, LARGE])
    results = execute_concurrent(session, [("q", None)] * 3, concurrency=2)
    assert [len(each.result_or_exc.current_rows) for each in results] == [len(ROWS), 1, len(ROWS)]


class Reads(threading.Thread):
    """Answers requests on a thread of its own, as soon as all of them are there."""

    def __init__(self, session, *given):
        super().__init__()
        self._session = session
        self._given = given
        self.start()

    def run(self):
        unanswered = self._session.scripts[self._session.hosts[0]].unanswered
        while len(unanswered) < len(self._given):
            time.sleep(0.001)
        for answer in self._given:
            respond(self._session, 0, answer)


@pytest.mark.parametrize("as_generator", [True, False])
def test_execute_concurrent_has_the_thread_that_waits_make_large_pages(as_generator):
    session = session_of([])
    session.row_factory = factory = Recorder()
    reader = Reads(session, SMALL, LARGE, LARGE)
    results = execute_concurrent(session, [("q", None)] * 3, results_generator=as_generator)
    found = [len(each.result_or_exc.current_rows) for each in results]
    reader.join()
    assert found == [1, len(ROWS), len(ROWS)]
    assert factory.threads == [reader.ident, *[threading.get_ident()] * 2]
    assert leftovers(session) == NOTHING_LEFT


def test_execute_concurrent_goes_on_after_large_pages():
    session = session_of([LARGE, SMALL, LARGE, SMALL])
    results = execute_concurrent(session, [("q", None)] * 4, concurrency=1)
    found = [len(each.result_or_exc.current_rows) for each in results]
    assert found == [len(ROWS), 1, len(ROWS), 1]


def test_execute_concurrent_tells_of_rows_that_cannot_be_made():
    def results(raises):
        session = session_of([SMALL, UNDECODABLE, SMALL])
        return execute_concurrent(session, [("q", None)] * 3, raise_on_first_error=raises)

    assert [each.success for each in results(False)] == [True, False, True]
    assert type(results(False)[1].result_or_exc) is ColumnDecodeError
    with pytest.raises(ColumnDecodeError):
        results(True)


def test_execute_concurrent_for_which_nobody_waits_has_rows_made_where_they_arrive():
    session = session_of([])
    session.row_factory = factory = Recorder()
    outcome = execute_concurrent_async(session, [("q", None)])
    reader = respond_on_a_thread(session, LARGE)
    assert len(outcome.result()[0].result_or_exc.current_rows) == len(ROWS)
    assert factory.threads == [reader]


def test_a_callback_that_takes_late_rows_gets_them_as_they_came():
    session = session_of([])
    session.row_factory = factory = Recorder()
    got = []
    late = takes_late_rows(lambda page: got.append((type(page), page.row_count)))
    future = send(session).add_callback(late).add_errback(late)
    respond_on_a_thread(session, LARGE)
    future.add_callback(late).add_errback(late)
    assert got == [(LatePage, len(ROWS))] * 2
    assert factory.threads == []
    future.add_callback(lambda rows: got.append(len(rows)))
    assert got[2:] == [len(ROWS)]


def test_callbacks_of_both_kinds_get_what_they_take():
    session = session_of([])
    got = []
    future = send(session)
    future.add_callback(lambda page: got.append(type(page)))
    future.add_callback(takes_late_rows(lambda page: got.append(type(page))))
    respond_on_a_thread(session, LARGE)
    assert got == [list, LatePage]


# --- errors --------------------------------------------------------------------------------------

BROKEN = pytest.mark.parametrize(
    ("answer", "error", "closes"),
    [(cut(LARGE, 3), MalformedFrameError, True), (UNDECODABLE, ColumnDecodeError, False)],
    ids=["ends early", "a value is none"],
)


@BROKEN
def test_errors_reach_whoever_waits(answer, error, closes):
    metrics = Metrics()
    session = session_of([], metrics=metrics)
    future = send(session)
    respond_on_a_thread(session, answer)
    for _ in range(2):
        with pytest.raises(error):
            future.result()
    assert session.connection.is_closed is closes
    got = []
    future.add_callbacks(lambda _: got.append("rows"), got.append)
    assert [type(each) for each in got] == [error]
    stats = metrics.get_stats()
    assert (stats["request_timer"]["count"], stats["request_errors"]) == (1, 1)


def told_where_it_arrives(session, answer, both):
    """A request that was answered on a thread that reads, and what its errback, or both, heard."""
    got = []
    future = send(session)
    if both:
        future.add_callback(lambda _: got.append("rows"))
    future.add_errback(got.append)
    respond_on_a_thread(session, answer)
    return future, got


@BROKEN
@pytest.mark.parametrize("both", [True, False])
def test_errors_reach_errbacks_where_the_answer_arrives(answer, error, closes, both):
    session = session_of([])
    future, got = told_where_it_arrives(session, answer, both)
    assert [type(each) for each in got] == [error]
    assert session.connection.is_closed is closes
    with pytest.raises(error):
        future.result()
    assert len(got) == 1


def test_what_a_row_factory_raises_reaches_whoever_waits():
    def factory(_names, _rows):
        raise LookupError("mine")

    session = session_of([LARGE])
    session.row_factory = factory
    with pytest.raises(LookupError, match="mine"):
        send(session).result()


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("both", [True, False])
def test_what_ends_threads_and_is_raised_where_the_answer_arrives_is_the_only_outcome(kind, both):
    def factory(_names, _rows):
        raise kind("mine")

    metrics = Metrics()
    session = session_of([], metrics=metrics)
    session.row_factory = factory
    future, got = told_where_it_arrives(session, LARGE, both)
    assert [type(each.__cause__) for each in got] == [kind]
    assert future._final_result is NOT_SET
    with pytest.raises(DriverException, match="mine"):
        future.result()
    stats = metrics.get_stats()
    assert (stats["request_timer"]["count"], stats["request_errors"]) == (1, 1)
    assert leftovers(session) == NOTHING_LEFT


def test_whoever_is_interrupted_can_ask_again():
    calls = []

    def factory(_names, rows):
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return rows

    session = session_of([LARGE])
    session.row_factory = factory
    future = send(session)
    with pytest.raises(KeyboardInterrupt):
        future.result()
    assert future.result().current_rows == ROWS


@pytest.mark.parametrize("answer", [LARGE, UNDECODABLE], ids=["rows", "an error"])
@pytest.mark.parametrize("kind", [ResponseFuture, AwaitableResponse])
def test_a_request_is_gone_at_once(kind, answer):
    async def ask():
        session.loop = asyncio.get_running_loop() if kind is AwaitableResponse else None
        request = send(session, kind)
        gone.append(weakref.ref(request))
        with contextlib.suppress(ColumnDecodeError):
            if kind is AwaitableResponse:
                await request
            else:
                request.result()
        del request  # the error leads here

    session, gone = session_of([answer]), []
    gc.collect()
    gc.disable()
    try:
        asyncio.run(ask())
        assert gone[0]() is None
    finally:
        gc.enable()


# --- tasks ---------------------------------------------------------------------------------------


def on_loop(test):
    def run():
        asyncio.run(test())

    run.__name__ = test.__name__
    return run


@on_loop
async def test_tasks_go_on_between_the_rows_of_a_large_page():
    session = session_of([])
    session.loop = asyncio.get_running_loop()
    events = []

    async def ask(name):
        page = await send(session, AwaitableResponse)
        events.append(name)
        return page.current_rows

    def come_by():
        if "large" not in events:
            events.append("the loop")
            session.loop.call_soon(come_by)

    large, small, next_one = (
        asyncio.ensure_future(ask(name)) for name in ("large", "small", "next one")
    )
    await asyncio.sleep(0)
    host, connection = session.hosts[0], session.connection
    read = b"".join(
        session.servers[host].send(session.scripts[host].unanswered.pop(0).stream_id, answer)
        for answer in (LARGE, SMALL)
    )
    # From the loop, as reads do come, and the next read in the next pass.
    session.loop.call_soon(connection._receive, read)
    session.loop.call_soon(session.loop.call_soon, respond, session, 0, SMALL)
    session.loop.call_soon(session.loop.call_soon, come_by)
    assert await large == ROWS
    assert await small == await next_one == [(1,)]
    assert events[:2] == ["small", "next one"] or events[:3] == ["small", "the loop", "next one"]
    assert events.count("the loop") > 2
    assert leftovers(session) == NOTHING_LEFT


@on_loop
async def test_a_small_page_needs_no_pass_of_the_loop():
    session = session_of([SMALL])
    session.loop = asyncio.get_running_loop()
    passes = []
    session.loop.call_soon(passes.append, None)
    assert (await send(session, AwaitableResponse)).one() == (1,)
    assert passes == []


@on_loop
async def test_whoever_is_cancelled_between_rows_may_await_again():
    session = session_of([LARGE])
    session.loop = asyncio.get_running_loop()
    response = send(session, AwaitableResponse)

    async def ask():
        return await response

    task = asyncio.ensure_future(ask())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert type(response._final_result) is LatePage
    assert (await response).current_rows == ROWS


@on_loop
async def test_errors_reach_whoever_awaits():
    session = session_of([UNDECODABLE])
    session.loop = asyncio.get_running_loop()
    response = send(session, AwaitableResponse)
    for _ in range(2):
        with pytest.raises(ColumnDecodeError):
            await response


@on_loop
async def test_several_tasks_await_the_same_rows():
    session = session_of([LARGE])
    session.loop = asyncio.get_running_loop()
    response = send(session, AwaitableResponse)

    async def ask():
        return (await response).current_rows

    first, second = await asyncio.gather(ask(), ask())
    assert first == ROWS
    assert first is second


@on_loop
async def test_awaited_rows_are_those_of_their_page_if_the_next_one_is_asked_for_meanwhile():
    session = session_of([answers.rows(COLUMNS, ROWS, paging_state=b"more")])
    session.loop = asyncio.get_running_loop()
    session.row_factory = factory = AsksForMore()
    factory.request = response = send(session, AwaitableResponse)
    assert len((await response).current_rows) == len(ROWS)
    assert not response.is_done
    response.cancel()


# --- handlers ------------------------------------------------------------------------------------


def test_a_handler_that_reads_results_in_its_own_way_is_left_alone():
    class Own(ResultMessage):
        __slots__ = ()

        @classmethod
        def recv_body(cls, *arguments):
            return super().recv_body(*arguments)

    class ReadsItself(ProtocolHandler):
        message_types_by_opcode: ClassVar = {**RESPONSES_BY_OPCODE, Own.opcode: Own}

    class Decodes(ProtocolHandler):
        @classmethod
        def decode_message(cls, *arguments):
            return super().decode_message(*arguments)

    class IsTold(ProtocolHandler):
        def __init_subclass__(cls, *, what):
            super().__init_subclass__()

    assert late_handler(instance := ProtocolHandler()) is instance
    for handler in (ReadsItself, Decodes, IsTold):
        assert late_handler(handler) is handler
        session = InMemorySession(lambda _: LARGE, handler=handler, row_factory=tuple_factory)
        future = send(session)
        assert future._final_result == ROWS


def test_a_handler_that_changes_is_seen():
    def parse(*_):
        return [("mine",)]

    class Handler(ProtocolHandler):
        pass

    class Own(ResultMessage):
        __slots__ = ()
        row_parser = staticmethod(parse)

    session = InMemorySession(lambda _: LARGE, handler=Handler, row_factory=tuple_factory)
    assert send(session).result().current_rows == ROWS
    Handler.message_types_by_opcode = {**RESPONSES_BY_OPCODE, Own.opcode: Own}
    assert send(session).result().current_rows == [("mine",)]


def test_a_page_that_says_that_it_has_more_rows_than_bytes():
    count = struct.pack(">i", len(ROWS))
    at = LARGE.body.index(count)
    body = LARGE.body[:at] + struct.pack(">i", 10**9) + LARGE.body[at + 4 :]
    session = session_of([LARGE._replace(body=body)])
    future = send(session)
    with pytest.raises(MalformedFrameError):
        future.result()
    assert session.connection.is_closed
