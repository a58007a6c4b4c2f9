"""However answers, failures, timers and cancellation meet: a request ends once, and leaves nothing.

A machine draws what each host does and when; the request does not know that it is not real.
"""

import asyncio

import answers
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from script import (
    INVALID,
    NOTHING_LEFT,
    NUMBER,
    OVERLOADED,
    READ_TIMEOUT_WITHOUT_DATA,
    SERVER_ERROR,
    UNAVAILABLE,
    leftovers,
    respond,
    row,
    session_of,
    write_timeout,
)

from driver.execution import AwaitableResponse, Metrics, ResponseFuture
from driver.policies.retry import RetryPolicy
from driver.policies.speculative import ConstantSpeculativeExecutionPolicy
from driver.statements import SimpleStatement

HOSTS = 3
PREPARED = answers.prepared(b"id", NUMBER, NUMBER)
ANSWERS = [
    row(1),
    answers.rows([], []),
    answers.schema_change("CREATED", "KEYSPACE", "ks"),
    answers.set_keyspace("ks"),
    answers.unprepared(b"id"),
    answers.prepared(b"other", NUMBER),
    answers.Answer(0x02, b""),  # READY makes no sense here
    answers.Answer(0x08, b"\0\0\0\x02"),  # and this is no RESULT
    answers.rows(NUMBER, [(answers.Raw(b"broken"),)]),
    PREPARED,
    INVALID,
    OVERLOADED,
    READ_TIMEOUT_WITHOUT_DATA,
    SERVER_ERROR,
    UNAVAILABLE,
    write_timeout("BATCH_LOG"),
]
host_numbers = st.integers(0, HOSTS - 1)
some_answer = st.sampled_from(ANSWERS)
seconds = st.sampled_from([0.0, 0.3, 1.0, 5.0])
decisions = st.tuples(
    st.sampled_from([0, 1, 2, 3]), st.sampled_from([None, 1]), st.sampled_from([None, 0.0, 0.4])
)
steps = st.one_of(
    st.tuples(st.just("answer"), host_numbers, some_answer),
    st.tuples(st.just("answer"), host_numbers, some_answer),
    st.tuples(st.just("pass"), seconds),
    st.tuples(st.just("break"), host_numbers),
    st.tuples(st.just("down"), host_numbers),
    st.tuples(st.just("shut"), host_numbers),
    st.tuples(st.just("follow-up")),
    st.tuples(st.just("cancel")),
)


class Drawn:
    """A retry policy that says what was drawn, then rethrows."""

    def __init__(self, drawn):
        self.left = list(drawn)

    def decide(self, *_, **__):
        return self.left.pop() if self.left else (RetryPolicy.RETHROW, None)

    on_read_timeout = on_write_timeout = on_unavailable = on_request_error = decide


class Machine:
    """One session, and the things that can happen to it."""

    def __init__(self, at_once, policy, speculative):
        self.metrics = Metrics()
        self.session = session_of([PREPARED], *[[] for _ in range(HOSTS - 1)], metrics=self.metrics)
        prepared = self.session.prepare("q")
        prepared.is_idempotent = True
        self.statement = prepared.bind((1,))
        for script, given_answers in zip(self.session.scripts.values(), at_once, strict=True):
            script.left = list(given_answers)
        self.session.retry_policy = policy
        if speculative is not None:
            self.session.speculative_execution_policy = ConstantSpeculativeExecutionPolicy(
                *speculative
            )
        # Twice each: two executions may be on their way over one connection.
        self.session.query_plan = lambda *_: iter([*self.session.hosts, *self.session.hosts])
        self.pools = list(self.session.pools.values())
        self.follow_ups = []
        self.session.cluster.schema_changed = lambda _, __, done: self.follow_ups.append(
            (done, True)
        )
        self.session.set_keyspace_for_all_pools = lambda _, done: self.follow_ups.append((done, {}))
        self.outcomes = []

    def start(self, kind):
        self.request = self.session.request(kind, self.statement, timeout=8.0)
        self.request.add_callbacks(self.outcomes.append, self.outcomes.append)
        self.request.send_request()

    def do(self, name, *args):
        getattr(self, f"do_{name.replace('-', '_')}")(*args)

    def do_answer(self, number, answer):
        waits = self.session.scripts[self.session.hosts[number]].unanswered
        pool = self.pools[number]
        if waits and not pool.connection.is_closed:
            connection = pool.connection
            request = waits.pop(0)
            connection._receive(connection.server.send(request.stream_id, answer))

    def do_pass(self, time):
        self.session.timers.advance(time)

    def do_break(self, number):
        self.pools[number].connection.close()

    def do_down(self, number):
        self.session.pools.pop(self.session.hosts[number], None)

    def do_shut(self, number):
        self.pools[number].is_shutdown = True

    def do_follow_up(self):
        for done, value in self.follow_ups:
            done(value)
        self.follow_ups.clear()

    def do_cancel(self):
        if isinstance(self.request, AwaitableResponse):
            self.request.cancel()

    def check_end(self):
        """Let all time pass: there is one outcome by then, and nothing is left but orphans."""
        self.do_pass(20.0)
        assert self.request.is_done
        cancelled = isinstance(self.request, AwaitableResponse) and self.request._is_cancelled
        assert len(self.outcomes) == (0 if cancelled else 1)
        before = list(self.outcomes)
        for number in range(HOSTS):
            for _ in range(10):
                self.do_answer(number, row(9))
            self.do_break(number)
        self.do_follow_up()
        self.do_pass(20.0)
        assert self.outcomes == before
        assert all(pool.borrowed == 0 for pool in self.pools)
        assert all(not pool.connection._requests for pool in self.pools)
        assert self.session.timers.pending == 0
        assert not self.request._in_flight
        ended = self.metrics.request_timer["count"] - 1  # PREPARE
        assert ended == (0 if cancelled else 1)
        return "cancelled" if cancelled else type(self.outcomes[0]).__name__


machines = st.builds(
    Machine,
    at_once=st.tuples(*[st.lists(some_answer, max_size=2)] * HOSTS),
    policy=st.one_of(st.none(), st.builds(Drawn, st.lists(decisions, max_size=5))),
    speculative=st.one_of(st.none(), st.tuples(st.sampled_from([0.0, 0.5]), st.integers(0, 5))),
)


@given(machine=machines, history=st.lists(steps, max_size=12))
def test_a_future_ends_once_and_leaves_nothing(machine, history):
    machine.start(ResponseFuture)
    for step in history:
        machine.do(*step)
    event(machine.check_end())
    future = machine.request
    (outcome,) = machine.outcomes
    if isinstance(outcome, Exception):
        with pytest.raises(type(outcome)) as caught:
            future.result()
        assert caught.value is outcome
    else:
        future.result()


@given(machine=machines, history=st.lists(steps, max_size=12))
def test_an_awaitable_ends_once_and_leaves_nothing(machine, history):
    async def run():
        machine.start(AwaitableResponse)
        for step in history:
            machine.do(*step)
        event(machine.check_end())
        (outcome,) = await asyncio.gather(machine.request, return_exceptions=True)
        if isinstance(outcome, asyncio.CancelledError):
            assert not machine.outcomes
        elif isinstance(outcome, Exception):
            assert machine.outcomes == [outcome]
        else:
            assert not isinstance(machine.outcomes[0], Exception)

    asyncio.run(run())


@given(
    lengths=st.lists(st.sampled_from(["page", "fail", "time out"]), min_size=1, max_size=5),
    speculative=st.booleans(),
)
def test_each_page_ends_once(lengths, speculative):
    session = session_of([], [])
    if speculative:
        session.speculative_execution_policy = ConstantSpeculativeExecutionPolicy(0.5, 1)
    outcomes = []
    future = session.request(ResponseFuture, SimpleStatement("q", is_idempotent=True), timeout=2.0)
    future.add_callbacks(outcomes.append, outcomes.append)
    future.send_request()
    for number, how in enumerate(lengths, 1):
        if how == "time out":
            session.timers.advance(3.0)
        else:
            page = answers.rows(NUMBER, [(number,)], paging_state=b"p%d" % number)
            session.timers.advance(1.0)
            respond(session, 0, INVALID if how == "fail" else page)
        assert len(outcomes) == number
        assert leftovers(session) == NOTHING_LEFT
        if not future.has_more_pages:
            break
        for script in session.scripts.values():
            script.unanswered.clear()
        future.start_fetching_next_page()
