"""Concurrent execution: many statements, so many at a time, results in their order."""

import asyncio
import threading
from types import SimpleNamespace

import answers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import INVALID, NUMBER, row, session_of

from driver.execution import (
    execute_concurrent,
    execute_concurrent_async,
    execute_concurrent_with_args,
)
from driver.protocol.errors import InvalidRequest
from driver.statements import SimpleStatement

STATEMENT = "q %s"


def echo(number_of_failure=None):
    """A session whose server gives back the number in the text, but for one."""
    session = session_of([])

    def answer(request):
        session.scripts[session.host].requests.append(request)
        number = int(request.body.split(b"q ")[1].split(b"\0")[0])
        return INVALID if number == number_of_failure else row(number)

    session.server.answer = answer
    return session


def pairs(count):
    return [(STATEMENT, (number,)) for number in range(count)]


def numbers(results):
    return [result.result_or_exc.one()[0] for result in results]


class TestAList:
    def test_has_the_results_in_the_order_of_the_statements(self):
        assert numbers(execute_concurrent(echo(), pairs(20), concurrency=3)) == list(range(20))

    def test_is_empty_without_statements(self):
        assert execute_concurrent(echo(), []) == []

    def test_may_be_of_one_statement_with_many_parameters(self):
        results = execute_concurrent_with_args(echo(), STATEMENT, [(1,), (2,)], concurrency=1)
        assert numbers(results) == [1, 2]
        assert all(success for success, _ in results)

    def test_is_not_limited_by_the_depth_of_recursion(self):
        assert len(execute_concurrent(echo(), pairs(3000))) == 3000

    def test_has_failures_if_they_are_not_raised(self):
        results = execute_concurrent(echo(2), pairs(5), raise_on_first_error=False)
        assert [success for success, _ in results] == [True, True, False, True, True]
        assert isinstance(results[2].result_or_exc, InvalidRequest)

    def test_has_what_cannot_be_sent_among_the_failures(self):
        statements = [(STATEMENT, (1,)), (object(), None)]
        results = execute_concurrent(echo(), statements, raise_on_first_error=False)
        assert isinstance(results[1].result_or_exc, TypeError)

    def test_is_not_there_after_the_first_failure(self):
        session = echo(2)
        with pytest.raises(InvalidRequest):
            execute_concurrent(session, pairs(50), concurrency=1)
        assert len(session.scripts[session.host].requests) == 3

    def test_takes_no_more_from_statements_that_raise(self):
        def statements():
            yield STATEMENT, (1,)
            raise LookupError("no more")

        with pytest.raises(LookupError, match="no more"):
            execute_concurrent(echo(), statements(), raise_on_first_error=False)

    @pytest.mark.parametrize("given", [SimpleStatement("q"), "q %s", ("q",), ("q", 1, 2)])
    @pytest.mark.parametrize("raises", [True, False])
    def test_is_of_pairs_alone(self, given, raises):
        statements = [(STATEMENT, (1,)), given]
        with pytest.raises(TypeError, match=r"are pairs .*, not .*q"):
            execute_concurrent(echo(), statements, raise_on_first_error=raises)

    @pytest.mark.parametrize("concurrency", [0, -1])
    def test_needs_room_for_one(self, concurrency):
        with pytest.raises(ValueError, match="concurrency must be 1 or more"):
            execute_concurrent(echo(), [], concurrency=concurrency)

    def test_uses_the_profile_that_is_given(self):
        session, options = echo(), []
        send = session.execute_async
        session.execute_async = lambda *args, **kwargs: options.append(kwargs) or send(*args)
        execute_concurrent(session, pairs(1), execution_profile="own")
        execute_concurrent(session, pairs(1))
        assert options == [{"execution_profile": "own"}, {}]


class TestAGenerator:
    def test_gives_results_in_order(self):
        results = execute_concurrent(echo(), pairs(20), concurrency=3, results_generator=True)
        assert next(results).result_or_exc.one() == (0,)
        assert numbers(results) == list(range(1, 20))

    def test_waits_for_its_reader(self):
        session = echo()
        results = execute_concurrent(session, pairs(50), concurrency=4, results_generator=True)
        requests = session.scripts[session.host].requests
        assert len(requests) == 4
        next(results)
        assert len(requests) == 5
        results.close()
        assert len(requests) == 5

    def test_raises_the_first_failure(self):
        results = execute_concurrent(echo(0), pairs(5), concurrency=1, results_generator=True)
        with pytest.raises(InvalidRequest):
            next(results)


class TestAFuture:
    def test_has_the_list(self):
        assert numbers(execute_concurrent_async(echo(), pairs(5)).result(1)) == [0, 1, 2, 3, 4]

    def test_has_failures_or_fails(self):
        results = execute_concurrent_async(echo(1), pairs(2)).result(1)
        assert [success for success, _ in results] == [True, False]
        failed = execute_concurrent_async(echo(1), pairs(2), raise_on_first_error=True)
        assert isinstance(failed.exception(1), InvalidRequest)

    def test_is_done_without_statements(self):
        assert execute_concurrent_async(echo(), []).result(1) == []


def test_a_further_page_is_no_further_result():
    first = answers.rows(NUMBER, [(1,)], paging_state=b"p")
    session = session_of([first, first, row(2), INVALID])
    one, two = execute_concurrent(session, [("q", None)] * 2)
    assert one.result_or_exc.all() == [(1,), (2,)]
    with pytest.raises(InvalidRequest):
        two.result_or_exc.all()


@given(
    count=st.integers(0, 12),
    concurrency=st.integers(1, 5),
    data=st.data(),
    failing=st.sets(st.integers(0, 11)),
)
def test_whatever_the_order_of_answers_all_come_and_never_too_many_at_a_time(
    count, concurrency, data, failing
):
    session = session_of([])
    script = session.scripts[session.host]
    outcome = execute_concurrent_async(session, pairs(count), concurrency)
    while script.unanswered:
        assert len(script.unanswered) <= concurrency
        position = data.draw(st.integers(0, len(script.unanswered) - 1))
        request = script.unanswered.pop(position)
        number = int(request.body.split(b"q ")[1].split(b"\0")[0])
        session.respond(session.host, request, INVALID if number in failing else row(number))
    results = outcome.result(0)
    assert len(results) == count
    for number, (success, result) in enumerate(results):
        assert success is (number not in failing)
        assert (
            isinstance(result, InvalidRequest) if number in failing else result.one() == (number,)
        )


def test_answers_may_come_on_another_thread():
    session = session_of([])
    script = session.scripts[session.host]
    stop = threading.Event()

    def read():
        while not stop.wait(0.0005):
            for request in list(script.unanswered):
                script.unanswered.remove(request)
                session.respond(session.host, request, row(1))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert numbers(execute_concurrent(session, pairs(60), concurrency=7)) == [1] * 60
    finally:
        stop.set()
        reader.join()


@pytest.mark.parametrize("results_generator", [False, True])
def test_the_thread_that_reads_answers_does_not_wait_for_them(results_generator):
    async def run():
        session = session_of([])
        session.loop = asyncio.get_running_loop()
        with pytest.raises(RuntimeError, match="event loop's thread"):
            list(execute_concurrent(session, pairs(2), results_generator=results_generator))

    asyncio.run(run())


def answer_all(session, last_first=False):
    """Answer on this thread until nothing is asked any more."""
    unanswered = session.scripts[session.host].unanswered
    while unanswered:
        session.respond(session.host, unanswered.pop(-1 if last_first else 0), row(1))


def on_a_thread(fn, *args):
    thread = threading.Thread(target=fn, args=args)
    thread.start()
    thread.join()


def test_the_caller_sends_the_first_ones_and_whoever_reads_answers_the_others():
    session, senders = session_of([]), []
    send = session.execute_async
    session.execute_async = lambda *args: senders.append(threading.get_ident()) or send(*args)
    outcome = execute_concurrent_async(session, pairs(20), concurrency=4)
    assert senders == [threading.get_ident()] * 4
    on_a_thread(answer_all, session)
    assert numbers(outcome.result(0)) == [1] * 20
    assert len(senders) == 20
    assert threading.get_ident() not in senders[4:]


def test_a_reader_sends_what_answers_could_not_because_too_much_was_unread():
    session = session_of([])
    script = session.scripts[session.host]
    results = execute_concurrent(session, pairs(20), concurrency=4, results_generator=True)

    def answer(count):
        for _ in range(count):
            session.respond(session.host, script.unanswered.pop(0), row(1))

    answer(3)
    assert (len(script.requests), len(script.unanswered)) == (7, 4), "answers have sent them"
    next(results)
    assert len(script.requests) == 7, "nothing to make up for"
    answer(1)
    assert len(script.requests) == 8
    answer(1)
    assert (len(script.requests), len(script.unanswered)) == (8, 3), "four wait for their reader"
    next(results)
    assert (len(script.requests), len(script.unanswered)) == (9, 4), "though answers are to come"
    results.close()


def test_an_answer_while_others_are_being_sent_makes_room_for_one_more():
    """Or all that follows would wait for the slowest of the first ones."""
    session = session_of([])
    script, first = session.scripts[session.host], []
    send = session.execute_async

    def send_and_answer_all_but_the_first(*args):
        future = send(*args)
        if not first:
            first.append(script.unanswered.pop())
        while script.unanswered:
            on_a_thread(session.respond, session.host, script.unanswered.pop(), row(1))
        return future

    session.execute_async = send_and_answer_all_but_the_first
    outcome = execute_concurrent_async(session, pairs(30), concurrency=3)
    assert len(script.requests) == 30
    session.respond(session.host, first[0], row(1))
    assert len(outcome.result(0)) == 30


@pytest.mark.parametrize("results_generator", [False, True])
def test_only_what_is_waited_for_wakes_the_reader(monkeypatch, results_generator):
    waits, wakes = threading.Event(), []

    class Watched(threading.Condition):
        def wait(self, timeout=None):
            waits.set()
            return super().wait(timeout)

        def notify_all(self):
            wakes.append(threading.get_ident())
            super().notify_all()

    watched = SimpleNamespace(RLock=threading.RLock, Condition=Watched)
    monkeypatch.setattr("driver.execution.concurrent.threading", watched)
    session = session_of([])

    def answer():
        assert waits.wait(10)
        answer_all(session, last_first=True)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        results = execute_concurrent(
            session, pairs(8), concurrency=8, results_generator=results_generator
        )
        assert numbers(results) == [1] * 8
    finally:
        waits.set()
        thread.join()
    assert len(wakes) == 2, "the end of the statements, and the first one's answer, which came last"


def test_a_generator_may_be_collected_by_the_thread_that_takes_an_answer():
    """The collector runs at any moment, from Python 3.12 on between any two calls."""
    session = session_of([])
    results = execute_concurrent(session, pairs(9), concurrency=2, results_generator=True)
    unanswered = session.scripts[session.host].unanswered
    session.respond(session.host, unanswered.pop(0), row(1))
    next(results)
    run = results.gi_frame.f_locals["self"]

    def collect():
        with run._lock:
            results.close()

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "it waits for itself"
