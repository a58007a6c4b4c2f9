"""What a request has for waiting threads, callbacks and traces is made for the first that asks."""

import threading
import time
from uuid import UUID

import answers
import pytest
from script import NUMBER, row, session_of

from driver.net.after_read import Latch, begin_read, end_read
from driver.protocol.errors import OperationTimedOut

TRACE = UUID(int=7)


def test_an_answer_that_is_here_needs_no_latch():
    future = session_of([row(1)]).execute_async("q")
    assert future.result().one() == (1,)
    assert future._waited_for is None
    assert future._latch() is None


def test_a_thread_that_waits_is_woken_by_the_answer():
    session = session_of([None])
    future = session.execute_async("q")
    rows = []
    waiting = threading.Thread(target=lambda: rows.append(future.wait_for_page()))
    latch = future._latch()
    waiting.start()
    assert not latch.wait(0)
    future._set_final_result([(1,)])
    waiting.join(10)
    assert rows == [[(1,)]]
    assert latch.wait(0)


def test_threads_that_begin_to_wait_while_the_answer_comes_are_all_woken():
    for _ in range(50):
        future = session_of([None]).execute_async("q")
        together = threading.Barrier(4)
        rows = []

        def wait(future=future, together=together, rows=rows):
            together.wait(10)
            rows.append(future.wait_for_page())

        threads = [threading.Thread(target=wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        together.wait(10)
        future._set_final_result("page")
        for thread in threads:
            thread.join(10)
        assert rows == ["page"] * 3


def test_each_page_has_a_latch_of_its_own():
    pages = [answers.rows(NUMBER, [(1,)], paging_state=b"p"), None]
    future = session_of(pages).execute_async("q")
    future.start_fetching_next_page()
    latch = future._latch()
    assert not latch.wait(0)
    future._set_final_result([(2,)])
    assert latch.wait(0)
    assert future.wait_for_page() == [(2,)]


def test_a_callback_that_is_added_by_a_callback_is_called_once():
    session = session_of([None])
    future = session.execute_async("q")
    heard = []
    future.add_callback(lambda rows: future.add_callback(heard.append) and heard.append(rows))
    future._set_final_result("rows")
    assert heard == ["rows", "rows"]


def test_requests_share_no_callbacks_and_no_traces():
    session = session_of([row(1), row(2)])
    first, second = session.execute_async("q"), session.execute_async("q")
    heard = []
    first.add_callbacks(heard.append, heard.append)
    first._query_traces = (*first._query_traces, TRACE)
    second.clear_callbacks()
    assert (second._callbacks, second._errbacks) == ((), ())
    assert second.get_query_trace_ids() == []
    assert first.get_query_trace_ids() == [TRACE]
    assert heard == [[(1,)]]


def test_a_request_without_tracing_or_payload_says_nothing_of_them():
    session = session_of([row(1)])
    future = session.execute_async("q")
    assert not future.message.tracing
    assert future.message.custom_payload is None


@pytest.mark.parametrize("timeout", [-1.5, -2, -0.5, 0])
def test_a_deadline_that_has_passed_is_a_time_out(timeout):
    future = session_of([None]).execute_async("q", timeout=timeout)
    with pytest.raises(OperationTimedOut):
        future.result()


def test_an_outcome_that_comes_when_the_time_ends_counts():
    future = session_of([None]).execute_async("q")

    class Late(Latch):
        def wait(self, _):
            future._final_result = [(1,)]
            return False

    future._waited_for = Late()
    assert future.wait_for_page() == [(1,)]


def test_who_waits_gets_a_page_though_a_callback_has_asked_for_the_next_one():
    future = session_of([None]).execute_async("q")
    future.add_callback(lambda rows: rows == "first" and future._reopen())
    rows, latch = [], future._latch()
    waiting = threading.Thread(target=lambda: rows.append(future.wait_for_page()))
    waiting.start()
    begin_read()
    future._set_final_result("first")
    end_read(1)
    assert latch.wait(10)
    while future._waited_for is None:  # until it waits again
        time.sleep(0.001)
    future._set_final_result("second")
    waiting.join(10)
    assert rows == ["second"]
