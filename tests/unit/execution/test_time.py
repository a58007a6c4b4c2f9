"""Time: client time-outs and speculative executions, on a clock that tests move."""

import threading

import answers
import pytest
from script import (
    INVALID,
    NOTHING_LEFT,
    NUMBER,
    OVERLOADED,
    asked,
    leftovers,
    respond,
    row,
    session_of,
)

from driver.execution import Metrics, ResponseFuture
from driver.net.errors import ConnectionShutdown
from driver.policies.retry import FallthroughRetryPolicy
from driver.policies.speculative import ConstantSpeculativeExecutionPolicy
from driver.protocol.errors import (
    InvalidRequest,
    NoHostAvailable,
    OperationTimedOut,
    Overloaded,
)
from driver.statements import SimpleStatement

IDEMPOTENT = SimpleStatement("q", is_idempotent=True)


class AnotherThread(Metrics):
    """Does, while an answer is counted, what the thread that sent the request may do then."""

    act = staticmethod(lambda: None)

    def on_result(self, seconds):
        self.act()
        super().on_result(seconds)

    def on_exception(self, seconds):
        self.act()
        super().on_exception(seconds)


class TestTimeouts:
    @pytest.mark.parametrize("answer", [row(1), INVALID])
    def test_are_not_kept_if_they_are_set_while_the_request_ends(self, answer):
        session = session_of([], metrics=AnotherThread())
        future = session.request(ResponseFuture, IDEMPOTENT, timeout=2.0)
        session.metrics.act = lambda: future._set_timers(1)
        future.send_request()
        respond(session, 0, answer)
        assert future.is_done
        assert leftovers(session) == NOTHING_LEFT

    def test_name_the_host_that_did_not_answer(self):
        session = session_of([], [row(2)])
        future = session.execute_async("q", timeout=2.0)
        session.timers.advance(1.9)
        assert "none yet" in repr(future)
        session.timers.advance(0.1)
        with pytest.raises(OperationTimedOut) as caught:
            future.result()
        host = session.hosts[0]
        assert caught.value.last_host is host
        assert list(caught.value.errors) == [host]
        assert "no answer within the timeout" in caught.value.errors[host]

    def test_name_what_other_hosts_said(self):
        session = session_of([OVERLOADED], [])
        future = session.execute_async("q")
        session.timers.advance(10)
        with pytest.raises(OperationTimedOut) as caught:
            future.result()
        one, two = session.hosts
        assert isinstance(caught.value.errors[one], Overloaded)
        assert "no answer within the timeout" in caught.value.errors[two]
        assert caught.value.last_host is two

    def test_call_errbacks(self):
        session = session_of([])
        errors = []
        session.execute_async("q").add_errback(errors.append)
        session.timers.advance(10)
        assert [type(error) for error in errors] == [OperationTimedOut]

    def test_leave_the_stream_to_the_late_answer(self):
        session = session_of([])
        future = session.execute_async("q")
        session.timers.advance(10)
        assert len(session.connection.orphaned_request_ids) == 1
        assert leftovers(session) == NOTHING_LEFT
        respond(session, 0, row(1))
        assert session.connection.orphaned_request_ids == set()
        with pytest.raises(OperationTimedOut):
            future.result()

    def test_are_cancelled_by_the_answer(self):
        session = session_of([])
        future = session.execute_async("q")
        assert session.timers.pending == 1
        respond(session, 0, row(1))
        assert leftovers(session) == NOTHING_LEFT
        assert future.result().all() == [(1,)]

    def test_are_not_set_for_an_answer_that_is_here_already(self):
        session = session_of([row(1)])
        session.execute("q")
        assert session.timers.pending == 0

    def test_may_be_none(self):
        session = session_of([])
        session.default_timeout = None
        session.execute_async("q")
        assert session.timers.pending == 0

    def test_count_for_each_page(self):
        first = answers.rows(NUMBER, [(1,)], paging_state=b"p")
        session = session_of([])
        future = session.execute_async("q", timeout=1.0)
        session.timers.advance(0.9)
        respond(session, 0, first)
        future.start_fetching_next_page()
        session.timers.advance(0.9)
        respond(session, 0, row(2))
        assert future.result().all() == [(2,)]

    def test_may_hit_a_later_page(self):
        session = session_of([answers.rows(NUMBER, [(1,)], paging_state=b"p")])
        result = session.execute("q", timeout=1.0)
        result.response_future.start_fetching_next_page()
        session.timers.advance(1.0)
        with pytest.raises(OperationTimedOut):
            result.response_future.result()

    def test_tell_when_only_the_schema_was_missing(self):
        session = session_of([answers.schema_change("CREATED", "KEYSPACE", "ks")])
        done = []
        session.cluster.schema_changed = lambda *args: done.append(args[-1])
        future = session.execute_async("CREATE")
        session.timers.advance(10)
        with pytest.raises(OperationTimedOut, match="agreed on the new schema"):
            future.result()
        done[0](True)
        assert not future.is_schema_agreed
        with pytest.raises(OperationTimedOut):
            future.result()

    def test_come_while_a_keyspace_is_set_and_what_it_comes_to_is_too_late(self):
        session = session_of([answers.set_keyspace("ks")])
        done = []
        session.set_keyspace_for_all_pools = lambda _, callback: done.append(callback)
        future = session.execute_async("USE ks")
        session.timers.advance(10)
        done[0]({})
        with pytest.raises(OperationTimedOut):
            future.result()
        assert leftovers(session) == NOTHING_LEFT

    def test_end_the_waiting_even_if_the_loop_has_stopped(self, monkeypatch):
        monkeypatch.setattr("driver.execution.waiting.GRACE", 0.0)
        future = session_of([]).execute_async("q", timeout=0.001)
        with pytest.raises(OperationTimedOut) as caught:
            future.result()
        assert caught.value.last_host is future.session.host


def test_waiting_on_the_thread_that_reads_answers_is_refused():
    import asyncio

    async def wait():
        session = session_of([])
        session.loop = asyncio.get_running_loop()
        with pytest.raises(RuntimeError, match="would wait for an answer that only this thread"):
            session.execute("q")
        other = session_of([row(1)])
        other.loop = session.loop
        assert other.execute("q").all() == [(1,)]

    asyncio.run(wait())


def session_with_speculation(*hosts, delay=1.0, attempts=1, **options):
    session = session_of(*hosts, **options)
    session.speculative_execution_policy = ConstantSpeculativeExecutionPolicy(delay, attempts)
    return session


class TestSpeculativeExecutions:
    def test_ask_the_next_host_while_the_first_is_slow(self):
        session = session_with_speculation([], [row(2)])
        future = session.execute_async(IDEMPOTENT)
        session.timers.advance(0.9)
        assert asked(session) == [1, 0]
        session.timers.advance(0.1)
        assert future.result().all() == [(2,)]
        assert future.attempted_hosts == session.hosts
        assert future.coordinator_host is session.hosts[1]
        assert leftovers(session) == NOTHING_LEFT

    def test_leave_the_first_answer_to_count(self):
        session = session_with_speculation([], [])
        future, results = session.execute_async(IDEMPOTENT), []
        future.add_callback(results.append)
        session.timers.advance(1)
        respond(session, 0, row(1))
        respond(session, 1, row(2))
        assert results == [[(1,)]]
        assert future.result().all() == [(1,)]
        assert session.pools[session.hosts[1]].connection.orphaned_request_ids == set()

    def test_are_as_many_as_the_policy_says(self):
        session = session_with_speculation([], [], [], [], attempts=2)
        session.execute_async(IDEMPOTENT)
        session.timers.advance(9)
        assert asked(session) == [1, 1, 1, 0]

    def test_are_for_idempotent_statements(self):
        session = session_with_speculation([], [row(2)])
        session.execute_async("q")
        session.timers.advance(9)
        assert asked(session) == [1, 0]

    def test_need_a_host_and_do_no_harm_without(self):
        session = session_with_speculation([])
        future = session.execute_async(IDEMPOTENT)
        session.timers.advance(1)
        respond(session, 0, row(1))
        assert future.result().all() == [(1,)]

    def test_keep_a_request_alive_whose_first_execution_failed(self):
        session = session_with_speculation([], [])
        future = session.execute_async(IDEMPOTENT)
        session.timers.advance(1)
        respond(session, 0, OVERLOADED)
        respond(session, 1, row(2))
        assert future.result().all() == [(2,)]

    def test_end_in_no_host_available_when_all_have_failed(self):
        session = session_with_speculation([], [])
        future = session.execute_async(IDEMPOTENT)
        session.timers.advance(1)
        respond(session, 1, OVERLOADED)
        respond(session, 0, OVERLOADED)
        with pytest.raises(NoHostAvailable) as caught:
            future.result()
        assert set(caught.value.errors) == set(session.hosts)

    def test_end_with_an_error_that_is_final(self):
        session = session_with_speculation([], [])
        future = session.execute_async(IDEMPOTENT)
        session.timers.advance(1)
        respond(session, 1, INVALID)
        with pytest.raises(InvalidRequest):
            future.result()
        assert leftovers(session) == NOTHING_LEFT

    def test_stop_with_the_time_out(self):
        session = session_with_speculation([], [], [], delay=0.6, attempts=9)
        future = session.execute_async(IDEMPOTENT, timeout=1.0)
        session.timers.advance(30)
        assert asked(session) == [1, 1, 0]
        with pytest.raises(OperationTimedOut) as caught:
            future.result()
        assert set(caught.value.errors) == set(session.hosts[:2])
        assert leftovers(session) == NOTHING_LEFT

    def test_over_one_connection_end_once_when_it_is_lost(self):
        session = session_with_speculation([])
        session.retry_policy = FallthroughRetryPolicy()
        session.query_plan = lambda *_: iter(session.hosts * 2)
        future, errors = session.execute_async(IDEMPOTENT), []
        future.add_errback(errors.append)
        session.timers.advance(1)
        assert asked(session) == [2]
        session.connection.close()
        assert [type(error) for error in errors] == [ConnectionShutdown]
        assert leftovers(session) == NOTHING_LEFT

    def test_that_cannot_be_planned_fail_the_request(self):
        session = session_with_speculation([], [])
        future = session.execute_async(IDEMPOTENT)
        session.pool_for = lambda _: 1 / 0
        session.timers.advance(1)
        with pytest.raises(ZeroDivisionError):
            future.result()

    def test_are_counted(self):
        metrics = Metrics()
        session = session_with_speculation([], [row(2)], metrics=metrics)
        session.execute_async(IDEMPOTENT)
        session.timers.advance(1)
        assert metrics.speculative_executions == 1
        session.execute_async("q")
        session.timers.advance(10)
        assert metrics.client_timeouts == 1


def test_another_thread_may_wait_meanwhile():
    session = session_with_speculation([], [row(2)])
    future, got = session.execute_async(IDEMPOTENT), []
    reader = threading.Thread(target=lambda: got.append(future.result().all()))
    reader.start()
    session.timers.advance(1)
    reader.join()
    assert got == [[(2,)]]
