"""The response future: callbacks, timeouts, and what comes along with an answer."""

import logging
import threading
import time
from uuid import UUID

import answers
import pytest
from in_memory import InMemorySession

from driver.execution import QueryExhausted, ResponseFuture
from driver.protocol.errors import (
    DriverException,
    InvalidRequest,
    NoHostAvailable,
    UnsupportedOperation,
)
from driver.results import tuple_factory
from driver.statements import BatchStatement, SimpleStatement
from driver.types import Int32Type
from driver.wire.requests import BatchMessage, ExecuteMessage, QueryMessage

NUMBER = [("n", Int32Type)]
ROWS = answers.rows(NUMBER, [(1,)])
FIRST = answers.rows(NUMBER, [(1,)], paging_state=b"more")
FAILURE = answers.error(0x2200, "no such table")


def session_with(*given, **options):
    """A session whose server gives these answers in turn, then none."""
    left = list(given)
    return InMemorySession(
        lambda _: left.pop(0) if left else None, row_factory=tuple_factory, **options
    )


def unanswered():
    return session_with().execute_async("q")


def respond(future, answer):
    """Let the server answer the request that waits."""
    connection = future.session.connection
    stream = connection.server.requests[-1].stream_id
    connection._receive(connection.server.send(stream, answer))


def test_a_result_is_a_result_set():
    assert session_with(ROWS).execute_async("q").result().all() == [(1,)]


def test_a_failure_is_raised():
    with pytest.raises(InvalidRequest, match="no such table"):
        session_with(FAILURE).execute("q")


def test_waiting_ends_when_another_thread_has_the_answer():
    future = unanswered()
    reader = threading.Timer(0.01, respond, (future, ROWS))
    reader.start()
    assert future.result().all() == [(1,)]
    reader.join()


def test_what_cannot_be_sent_fails():
    session = session_with()
    session.connection.close()
    future = session.execute_async("q")
    with pytest.raises(NoHostAvailable, match="is closed"):
        future.result()


def test_the_size_of_the_request_is_known():
    future = unanswered()
    assert future.request_encoded_size == 9 + len(future.session.server.requests[0].body)


class TestCallbacks:
    def test_get_the_rows(self):
        future, got = unanswered(), []
        future.add_callback(lambda rows, *args, **kwargs: got.append((rows, args, kwargs)), 5, k=6)
        assert got == []
        respond(future, ROWS)
        assert got == [([(1,)], (5,), {"k": 6})]

    def test_are_called_at_once_if_the_rows_are_here(self):
        got = []
        assert session_with(ROWS).execute_async("q").add_callback(got.append)
        assert got == [[(1,)]]

    def test_get_the_exception_if_they_are_errbacks(self):
        future, rows, errors = unanswered(), [], []
        future.add_callbacks(
            lambda *a: rows.append(a),
            lambda *a, **k: errors.append((a, k)),
            callback_args=(1,),
            errback_args=(2,),
            errback_kwargs={"k": 3},
        )
        respond(future, FAILURE)
        (((error, two), kwargs),) = errors
        assert isinstance(error, InvalidRequest)
        assert (rows, two, kwargs) == ([], 2, {"k": 3})

    def test_get_the_exception_at_once_if_it_is_here(self):
        errors = []
        session_with(FAILURE).execute_async("q").add_errback(errors.append)
        assert [type(error) for error in errors] == [InvalidRequest]

    def test_are_called_for_each_page(self):
        pages = [
            answers.rows(NUMBER, [(i,)], paging_state=b"p" if i < 2 else None) for i in range(3)
        ]
        future, got = session_with(*pages).execute_async("q"), []
        future.add_callback(got.extend)
        while future.has_more_pages:
            future.start_fetching_next_page()
        assert got == [(0,), (1,), (2,)]

    @pytest.mark.parametrize("answer", [None, ROWS])
    def test_that_are_none_are_named_in_the_log(self, caplog, answer):
        future = unanswered()
        if answer is None:
            future.add_callback(5)
            respond(future, ROWS)
        else:
            respond(future, ROWS)
            future.add_callback(5)
        assert "Callback 5 raised an exception" in caplog.text
        assert "'int' object is not callable" in caplog.text

    def test_that_raise_do_not_stop_the_others(self, caplog):
        future, got = unanswered(), []
        future.add_callback(lambda _: 1 / 0).add_callback(got.append)
        with caplog.at_level(logging.ERROR):
            respond(future, ROWS)
        assert got == [[(1,)]]
        assert "raised an exception" in caplog.text
        assert future.result().all() == [(1,)]

    def test_can_be_forgotten(self):
        future, got = unanswered(), []
        future.add_callbacks(got.append, got.append)
        future.clear_callbacks()
        respond(future, ROWS)
        assert got == []


class TestPaging:
    def test_asks_for_the_page_after_the_state(self):
        first = answers.rows(NUMBER, [(1,)], paging_state=b"state!")
        session = session_with(first, ROWS)
        future = session.execute_async("q")
        assert future.has_more_pages
        future.start_fetching_next_page()
        assert b"state!" in session.server.requests[1].body
        assert not future.has_more_pages

    def test_asks_for_a_page_that_is_on_its_way_no_more(self):
        future = session_with(FIRST).execute_async("q")
        for _ in range(2):
            future.start_fetching_next_page()
        assert len(future.session.server.requests) == 2
        respond(future, ROWS)
        assert future.result().all() == [(1,)]

    def test_of_two_threads_asks_once(self):
        got = []
        other = threading.Thread(target=lambda: got.append(future.fetch_next_page()))

        def second_page(_):
            other.start()
            while future._waited_for is None:  # the other thread does not wait yet
                time.sleep(0.001)
            return ROWS

        session = InMemorySession(
            lambda asked: second_page(asked) if asked.body.endswith(b"more") else FIRST,
            row_factory=tuple_factory,
        )
        future = session.execute_async("q")
        assert future.fetch_next_page() == [(1,)]
        other.join()
        assert got == [[(1,)]]

    def test_ends(self):
        with pytest.raises(QueryExhausted, match="no more pages"):
            session_with(ROWS).execute_async("q").start_fetching_next_page()

    def test_ends_with_an_empty_state_which_marks_no_place(self):
        last = answers.rows(NUMBER, [(1,)], paging_state=b"")
        result = session_with(last).execute("q")
        assert not result.has_more_pages
        assert result.all() == [(1,)]

    def test_may_fail_on_a_later_page(self):
        first = answers.rows(NUMBER, [(1,)], paging_state=b"state!")
        result = session_with(first, FAILURE).execute("q")
        assert next(result) == (1,)
        with pytest.raises(InvalidRequest):
            next(result)


class TestWhatComesAlong:
    TRACE = UUID(int=7)

    def test_is_there_with_the_answer(self):
        answer = answers.along(
            ROWS, trace_id=self.TRACE, warnings=["slow", "big"], payload={"k": b"v", "n": None}
        )
        future = session_with(answer).execute_async("q", trace=True)
        assert future.warnings == ["slow", "big"]
        assert future.custom_payload == {"k": b"v", "n": None}
        assert future.get_query_trace_ids() == [self.TRACE]
        result = future.result()
        assert (result.warnings, result.custom_payload) == (["slow", "big"], {"k": b"v", "n": None})
        assert future.session.server.requests[0].flags & 0x02

    def test_comes_with_errors_too(self):
        future = session_with(answers.along(FAILURE, warnings=["w"])).execute_async("q")
        assert future.warnings == ["w"]

    def test_belongs_to_one_page(self):
        first = answers.rows(NUMBER, [(1,)], paging_state=b"p")
        traced = answers.along(first, trace_id=self.TRACE, warnings=["first"])
        result = session_with(traced, ROWS).execute("q")
        assert result.warnings == ["first"]
        result.fetch_next_page()
        assert result.warnings is None
        assert result.response_future.get_query_trace_ids() == [self.TRACE]

    @pytest.mark.parametrize("what", ["warnings", "custom_payload"])
    def test_cannot_be_known_before(self, what):
        with pytest.raises(DriverException, match=f"{what} cannot be retrieved before"):
            getattr(unanswered(), what)

    def test_goes_to_the_server_as_well(self):
        session = session_with(ROWS)
        statement = SimpleStatement("q", custom_payload={"a": b"1"})
        session.execute(statement, custom_payload={"b": b"2"})
        request = session.server.requests[0]
        assert request.flags == 0x04
        assert request.body.startswith(b"\0\x02\0\x01a\0\0\0\x011\0\x01b\0\0\0\x012")


class TestMessages:
    def test_are_made_of_each_kind_of_statement(self):
        prepared = answers.prepared(b"id", NUMBER, NUMBER)
        session = session_with(prepared, *[ROWS] * 4)
        statement = session.prepare("SELECT n FROM t WHERE n = ?")
        batch = BatchStatement().add(statement, (1,)).add("x %s", (2,))
        futures = [
            session.execute_async("x %s", ("it's",)),
            session.execute_async(statement, (1,)),
            session.execute_async(statement.bind((1,))),
            session.execute_async(batch),
        ]
        kinds = [QueryMessage, ExecuteMessage, ExecuteMessage, BatchMessage]
        assert [type(future.message) for future in futures] == kinds
        assert futures[0].message.query == "x 'it''s'"
        assert futures[1].message.skip_meta

    def test_have_the_session_s_defaults_where_statements_say_nothing(self):
        session = session_with(ROWS, ROWS)
        session.defaults = session.defaults._replace(fetch_size=11, serial_consistency_level=8)
        plain = session.execute_async(SimpleStatement("q")).message
        own = session.execute_async(
            SimpleStatement("q", fetch_size=None, consistency_level=5)
        ).message
        assert (plain.fetch_size, plain.consistency_level, plain.serial_consistency_level) == (
            11,
            10,
            8,
        )
        assert (own.fetch_size, own.consistency_level) == (None, 5)

    @pytest.mark.parametrize(("version", "keyspace"), [(4, None), (5, "ks")])
    def test_name_the_keyspace_where_the_version_can(self, version, keyspace):
        session = session_with(ROWS, protocol_version=version)
        future = session.execute_async(SimpleStatement("q", keyspace="ks"))
        assert future.message.keyspace == keyspace

    def test_carry_what_is_asked_of_one_request(self):
        session = session_with(
            answers.prepared(b"id", [], version=5), *[None] * 4, protocol_version=5
        )
        prepared = session.prepare("q")
        asked = {"keyspace": "ks", "now_in_seconds": 7}
        for query in (SimpleStatement("q", keyspace="other"), prepared, BatchStatement()):
            future = session.execute_async(query, **asked)
            assert future.message.options == asked == future.options.more
        assert session.execute_async("q", keyspace=None).message.options is None

    def test_are_refused_if_the_version_or_nobody_has_what_is_asked(self):
        session = session_with(ROWS, protocol_version=4)
        with pytest.raises(UnsupportedOperation, match="now_in_seconds needs protocol v5"):
            session.execute("q", now_in_seconds=7)
        with pytest.raises(TypeError, match=r"no option now_in_second$"):
            session.execute("q", now_in_second=7)

    def test_take_no_parameters_for_statements_that_have_them(self):
        with pytest.raises(TypeError, match="BatchStatement takes no parameters"):
            session_with().execute_async(BatchStatement(), (1,))

    def test_are_not_made_of_anything_else(self):
        with pytest.raises(TypeError, match="a int cannot be executed"):
            session_with().execute_async(5)


def test_a_future_needs_no_server_and_can_take_results_again():
    session = InMemorySession(row_factory=tuple_factory)
    future = ResponseFuture(session, QueryMessage("q", 1), SimpleStatement("q"))
    response = session_with(ROWS).execute_async("q")
    message = response.session.connection.handler.decode_message(
        4, None, {}, 0, 0, ROWS.opcode, ROWS.body, None, None
    )
    for _ in range(2):
        future._set_result(session.host, None, None, message)
        assert future.result().all() == [(1,)]


def test_a_future_shows_its_state():
    future = unanswered()
    assert "(none yet)" in repr(future)
    respond(future, ROWS)
    assert "result=[(1,)]" in str(future)
