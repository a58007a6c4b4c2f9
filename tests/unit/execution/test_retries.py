"""Retries: which failures are tried again, where, when, and what happens when nothing helps."""

import answers
import pytest
from script import (
    BOOTSTRAPPING,
    INVALID,
    NOTHING_LEFT,
    NUMBER,
    OVERLOADED,
    READ_TIMEOUT,
    READ_TIMEOUT_WITHOUT_DATA,
    SERVER_ERROR,
    TRUNCATE,
    UNAUTHORIZED,
    UNAVAILABLE,
    asked,
    leftovers,
    row,
    session_of,
    write_timeout,
)

from driver.execution import Metrics
from driver.net.errors import ConnectionBusy, ConnectionException, ConnectionShutdown
from driver.policies.retry import (
    ExponentialBackoffRetryPolicy,
    FallthroughRetryPolicy,
    NeverRetryPolicy,
    RetryPolicy,
)
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import (
    InvalidRequest,
    NoHostAvailable,
    Overloaded,
    ReadTimeout,
    ServerError,
    Unauthorized,
    Unavailable,
    UnsupportedOperation,
    WriteTimeout,
)
from driver.protocol.kinds import WriteType
from driver.statements import SimpleStatement

IDEMPOTENT = SimpleStatement("q", is_idempotent=True)


class Policy:
    """Remembers what it is asked and gives one answer to everything."""

    def __init__(self, *decision):
        self.decision = decision
        self.asked = []

    def _decide(self, name, query, **told):
        self.asked.append((name, query, told))
        return self.decision

    def on_read_timeout(self, query, **told):
        return self._decide("on_read_timeout", query, **told)

    def on_write_timeout(self, query, **told):
        return self._decide("on_write_timeout", query, **told)

    def on_unavailable(self, query, **told):
        return self._decide("on_unavailable", query, **told)

    def on_request_error(self, query, consistency, error, retry_num):
        return self._decide(
            "on_request_error", query, consistency=consistency, error=error, retry_num=retry_num
        )


def session_with_policy(policy, *hosts, **options):
    session = session_of(*hosts, **options)
    session.retry_policy = policy
    return session


class TestThePolicyIsAsked:
    def test_about_read_timeouts(self):
        policy = Policy(RetryPolicy.RETHROW, None)
        with pytest.raises(ReadTimeout):
            session_with_policy(policy, [READ_TIMEOUT]).execute(IDEMPOTENT)
        told = {
            "consistency": 4,
            "required_responses": 2,
            "received_responses": 1,
            "data_retrieved": False,
            "retry_num": 0,
        }
        assert policy.asked == [("on_read_timeout", IDEMPOTENT, told)]

    def test_about_write_timeouts(self):
        policy = Policy(RetryPolicy.RETHROW, None)
        with pytest.raises(WriteTimeout):
            session_with_policy(policy, [write_timeout("BATCH_LOG")]).execute("q")
        ((name, _, told),) = policy.asked
        assert name == "on_write_timeout"
        assert told == {
            "consistency": 4,
            "required_responses": 2,
            "received_responses": 1,
            "write_type": WriteType.BATCH_LOG,
            "retry_num": 0,
        }

    def test_about_contended_writes_without_saying_how_contended_they_were(self):
        answer = write_timeout("CAS")
        answer = answer._replace(body=answer.body + b"\0\x05")
        policy = Policy(RetryPolicy.RETHROW, None)
        with pytest.raises(WriteTimeout) as caught:
            session_with_policy(policy, [answer], protocol_version=5).execute("q")
        assert caught.value.contentions == 5
        assert "contentions" not in policy.asked[0][2]

    def test_about_too_few_replicas(self):
        policy = Policy(RetryPolicy.RETHROW, None)
        with pytest.raises(Unavailable):
            session_with_policy(policy, [UNAVAILABLE]).execute("q")
        ((name, _, told),) = policy.asked
        assert name == "on_unavailable"
        assert told == {
            "consistency": 4,
            "required_replicas": 2,
            "alive_replicas": 1,
            "retry_num": 0,
        }

    @pytest.mark.parametrize("answer", [OVERLOADED, BOOTSTRAPPING, TRUNCATE, SERVER_ERROR])
    def test_about_other_failures_of_a_node(self, answer):
        policy = Policy(RetryPolicy.RETHROW, None)
        session = session_with_policy(policy, [answer])
        with pytest.raises(Exception, match="Error from server") as caught:
            session.execute(SimpleStatement("q", consistency_level=ConsistencyLevel.TWO))
        ((name, _, told),) = policy.asked
        assert name == "on_request_error"
        assert (told["consistency"], told["retry_num"]) == (ConsistencyLevel.TWO, 0)
        assert type(told["error"]) is type(caught.value)

    def test_about_lost_connections(self):
        policy = Policy(RetryPolicy.RETHROW, None)
        session = session_with_policy(policy, [])
        future = session.execute_async("q")
        session.connection.close()
        with pytest.raises(ConnectionShutdown):
            future.result()
        assert [name for name, *_ in policy.asked] == ["on_request_error"]

    @pytest.mark.parametrize(
        ("answer", "error"), [(INVALID, InvalidRequest), (UNAUTHORIZED, Unauthorized)]
    )
    def test_about_nothing_that_would_fail_anywhere(self, answer, error):
        policy = Policy(RetryPolicy.RETRY_NEXT_HOST, None)
        session = session_with_policy(policy, [answer], [row(2)])
        with pytest.raises(error):
            session.execute("q")
        assert policy.asked == []
        assert asked(session) == [1, 0]

    def test_of_the_statement_first(self):
        own = Policy(RetryPolicy.IGNORE, None)
        session = session_with_policy(Policy(RetryPolicy.RETHROW, None), [UNAVAILABLE])
        assert session.execute(SimpleStatement("q", retry_policy=own)).all() == []

    def test_again_with_the_number_of_retries(self):
        policy = Policy(RetryPolicy.RETRY, None)
        session = session_with_policy(policy, [UNAVAILABLE, OVERLOADED, READ_TIMEOUT, row(1)])
        assert session.execute("q").all() == [(1,)]
        assert [told["retry_num"] for _, _, told in policy.asked] == [0, 1, 2]

    def test_and_if_it_raises_the_request_fails_with_that_and_nothing_is_logged(self, caplog):
        policy = Policy()
        policy._decide = lambda *_, **__: 1 / 0
        session = session_with_policy(policy, [UNAVAILABLE])
        with pytest.raises(ZeroDivisionError):
            session.execute("q")
        assert caplog.text == ""

    @pytest.mark.parametrize("answer", [None, RetryPolicy.RETRY, "RETRY"])
    @pytest.mark.parametrize("failure", [UNAVAILABLE, OVERLOADED, READ_TIMEOUT])
    def test_and_if_it_decides_nothing_the_request_fails_with_what_a_decision_is(
        self, answer, failure
    ):
        policy = Policy()
        policy._decide = lambda *_, **__: answer
        session = session_with_policy(policy, [failure])
        told = f"^a retry policy returns .*RetryPolicy.RETHROW, None.*, not {answer!r}$"
        with pytest.raises(TypeError, match=told):
            session.execute("q")


class TestDecisions:
    def test_retry_is_for_the_same_host(self):
        session = session_with_policy(
            Policy(RetryPolicy.RETRY, None), [UNAVAILABLE, row(1)], [row(2)]
        )
        future = session.execute_async("q")
        assert future.result().all() == [(1,)]
        assert future.attempted_hosts == [session.hosts[0]] * 2

    def test_retry_next_host_is_for_the_next(self):
        session = session_with_policy(
            Policy(RetryPolicy.RETRY_NEXT_HOST, None), [UNAVAILABLE, row(1)], [row(2)]
        )
        future = session.execute_async("q")
        assert future.result().all() == [(2,)]
        assert future.attempted_hosts == session.hosts
        assert future.coordinator_host is session.hosts[1]

    def test_a_level_of_consistency_is_sent(self):
        policy = Policy(RetryPolicy.RETRY, ConsistencyLevel.ONE)
        session = session_with_policy(policy, [UNAVAILABLE, row(1)])
        session.execute(SimpleStatement("q", consistency_level=ConsistencyLevel.QUORUM))
        first, again = (request.body for request in session.server.requests)
        assert (first[5:7], again[5:7]) == (b"\0\x04", b"\0\x01")

    def test_ignoring_gives_an_empty_result(self):
        session = session_with_policy(Policy(RetryPolicy.IGNORE, None), [UNAVAILABLE])
        assert session.execute("q").all() == []

    def test_rethrowing_gives_the_error(self):
        session = session_with_policy(Policy(RetryPolicy.RETHROW, None), [UNAVAILABLE], [row(2)])
        with pytest.raises(Unavailable):
            session.execute("q")
        assert asked(session) == [1, 0]

    def test_a_retry_where_the_host_went_away_is_for_the_next(self):
        policy = Policy(RetryPolicy.RETRY, None)
        session = session_with_policy(policy, [], [row(2)])
        future = session.execute_async("q")
        pool = session.pools.pop(session.hosts[0])
        pool.connection.close()
        assert future.result().all() == [(2,)]

    def test_a_retry_may_wait(self):
        policy = Policy(RetryPolicy.RETRY_NEXT_HOST, None, 0.5)
        session = session_with_policy(policy, [UNAVAILABLE], [row(2)])
        future = session.execute_async("q")
        session.timers.advance(0.4)
        assert asked(session) == [1, 0]
        session.timers.advance(0.1)
        assert future.result().all() == [(2,)]
        assert leftovers(session) == NOTHING_LEFT

    def test_a_retry_that_waits_does_not_outlive_the_request(self):
        policy = Policy(RetryPolicy.RETRY, None, 60.0)
        session = session_with_policy(policy, [UNAVAILABLE, row(1)])
        future = session.execute_async("q", timeout=1.0)
        session.timers.advance(1.0)
        with pytest.raises(Exception, match="Unavailable"):
            future.result()
        session.timers.advance(100.0)
        assert asked(session) == [1]
        assert leftovers(session) == NOTHING_LEFT


class TestNoHostAvailable:
    def test_names_what_went_wrong_with_each_host(self):
        session = session_of([UNAVAILABLE], [OVERLOADED], [row(3)])
        session.pools[session.hosts[2]].is_shutdown = True
        session.hosts.append(gone := session.hosts[2].__class__("127.0.0.9"))
        with pytest.raises(NoHostAvailable, match="No host of the query plan") as caught:
            session.execute("q", host=None)
        errors = caught.value.errors
        one, two, three, _ = session.hosts
        assert [type(errors[host]) for host in (one, two, three, gone)] == [
            Unavailable,
            Overloaded,
            ConnectionException,
            ConnectionException,
        ]
        assert "is closed" in str(errors[three])
        assert "There is no pool" in str(errors[gone])

    def test_comes_at_once_if_there_is_no_host(self):
        session = session_of([row(1)])
        session.hosts.clear()
        with pytest.raises(NoHostAvailable) as caught:
            session.execute("q")
        (error,) = caught.value.errors.values()
        assert "no use for this host" in str(error)

    def test_comes_if_the_only_host_that_may_be_asked_is_down(self):
        session = session_of([row(1)], [row(2)])
        second = session.hosts[1]
        assert session.execute("q", host=second).all() == [(2,)]
        del session.pools[second]
        with pytest.raises(NoHostAvailable) as caught:
            session.execute("q", host=second)
        assert list(caught.value.errors) == [second]

    def test_does_not_come_while_a_host_is_left(self):
        session = session_of([row(1)], [row(2)])
        session.connection.close()
        assert session.execute("q").all() == [(2,)]
        assert leftovers(session) == NOTHING_LEFT

    def test_does_not_come_while_a_connection_is_left(self):
        def busy(*_):
            raise ConnectionBusy("no stream is free")

        session = session_of([row(1)], [row(2)])
        session.pools[session.hosts[0]].borrow_connection = busy
        assert session.execute("q").all() == [(2,)]
        session.pools[session.hosts[1]].borrow_connection = busy
        with pytest.raises(NoHostAvailable, match="no stream is free"):
            session.execute("q")

    def test_is_no_answer_to_what_cannot_be_encoded(self):
        session = session_of([row(1)], [row(2)], protocol_version=3)
        with pytest.raises(UnsupportedOperation):
            session.execute(SimpleStatement("q", custom_payload={"a": b"b"}))
        assert leftovers(session) == NOTHING_LEFT

    def test_belongs_to_one_page(self):
        first = answers.rows(NUMBER, [(1,)], paging_state=b"p")
        session = session_of([OVERLOADED, UNAVAILABLE], [first, row(2)])
        result = session.execute("q")
        assert result.all() == [(1,), (2,)]
        assert asked(session) == [2, 2]


class TestStatementsThatAreNotIdempotent:
    """No policy of the driver sends them again; one of the application may."""

    class Inherited(RetryPolicy):
        """Looks at the error, and leaves the rest to the default."""

        def on_request_error(self, *args):
            return super().on_request_error(*args)

    @pytest.mark.parametrize(
        "policy", [RetryPolicy(), NeverRetryPolicy(), ExponentialBackoffRetryPolicy(3), Inherited()]
    )
    def test_are_not_sent_again_if_they_may_have_been_executed(self, policy):
        session = session_with_policy(policy, [], [row(2)])
        future = session.execute_async("q")
        session.connection.close()
        with pytest.raises(ConnectionShutdown):
            future.result()
        assert asked(session) == [1, 0]

    def test_are_not_sent_again_after_an_error_within_the_node(self):
        session = session_of([SERVER_ERROR], [row(2)])
        with pytest.raises(ServerError):
            session.execute("q")

    def test_are_sent_again_if_the_node_refused_them(self):
        for refusal in (OVERLOADED, BOOTSTRAPPING):
            assert session_of([refusal], [row(2)]).execute("q").all() == [(2,)]

    def test_are_sent_again_if_a_policy_of_the_application_says_so(self):
        class Own(RetryPolicy):
            def on_request_error(self, *_):
                return self.RETRY_NEXT_HOST, None

        session = session_with_policy(Own(), [], [row(2)])
        future = session.execute_async("q")
        session.connection.close()
        assert future.result().all() == [(2,)]

    def test_are_told_from_those_that_are(self):
        session = session_of([], [SERVER_ERROR], [row(3)])
        future = session.execute_async(IDEMPOTENT)
        session.connection.close()
        assert future.result().all() == [(3,)]

    def test_are_told_from_messages_of_the_driver(self):
        session = session_of([SERVER_ERROR], [answers.prepared(b"id", [])])
        assert session.prepare("q").query_id == b"id"


class TestTheDefaultPolicy:
    def test_asks_another_host_once_if_replicas_are_missing(self):
        session = session_of([UNAVAILABLE], [UNAVAILABLE], [row(3)])
        with pytest.raises(Unavailable):
            session.execute("q")
        assert asked(session) == [1, 1, 0]

    def test_asks_the_same_host_once_if_only_data_is_missing(self):
        session = session_of([READ_TIMEOUT_WITHOUT_DATA, row(1)])
        assert session.execute("q").all() == [(1,)]
        session = session_of([READ_TIMEOUT_WITHOUT_DATA] * 2, [row(2)])
        with pytest.raises(ReadTimeout):
            session.execute("q")
        assert asked(session) == [2, 0]

    def test_retries_a_batch_that_was_not_logged(self):
        assert session_of([write_timeout("BATCH_LOG"), row(1)]).execute("q").all() == [(1,)]
        with pytest.raises(WriteTimeout):
            session_of([write_timeout("SIMPLE"), row(1)]).execute("q")

    def test_can_be_told_not_to_retry(self):
        session = session_with_policy(FallthroughRetryPolicy(), [OVERLOADED], [row(2)])
        with pytest.raises(Overloaded):
            session.execute("q")


def test_each_failure_is_counted_as_what_it_is():
    metrics = Metrics()
    session = session_of(
        [UNAVAILABLE, write_timeout("SIMPLE"), READ_TIMEOUT, INVALID, SERVER_ERROR],
        [OVERLOADED],
        [row(3)],
        metrics=metrics,
    )
    assert session.execute("q").all() == [(3,)]
    for error in (WriteTimeout, ReadTimeout, InvalidRequest, ServerError):
        with pytest.raises(error):
            session.execute("q")
    session.connection.close()
    session.pools.pop(session.hosts[1])
    session.execute_async("q")
    session.pools[session.hosts[2]].connection.close()
    stats = metrics.get_stats()
    assert stats["request_timer"]["count"] == 6
    counted = {name: stats[name] for name in stats if name != "request_timer" and stats[name]}
    assert counted == {
        "unavailables": 1,
        "write_timeouts": 1,
        "read_timeouts": 1,
        "other_errors": 3,
        "connection_errors": 2,
        "retries": 2,
        "rethrows": 5,
        "request_errors": 5,
    }
