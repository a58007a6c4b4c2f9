"""Retry policies: what each failure leads to."""

import pytest

from driver.policies import (
    DowngradingConsistencyRetryPolicy,
    ExponentialBackoffRetryPolicy,
    FallthroughRetryPolicy,
    NeverRetryPolicy,
    RetryPolicy,
)
from driver.policies import retry as module
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import IsBootstrapping, Overloaded, ServerError, TruncateError
from driver.protocol.kinds import WriteType
from driver.statements import SimpleStatement

QUORUM, SERIAL = ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL
ONE, TWO, THREE = ConsistencyLevel.ONE, ConsistencyLevel.TWO, ConsistencyLevel.THREE
RETRY, RETHROW = RetryPolicy.RETRY, RetryPolicy.RETHROW
IGNORE, NEXT = RetryPolicy.IGNORE, RetryPolicy.RETRY_NEXT_HOST


def read_timeout(policy, required=2, received=2, data=False, retry_num=0, level=QUORUM):
    return policy.on_read_timeout(None, level, required, received, data, retry_num)


def write_timeout(policy, write_type, received=1, retry_num=0):
    return policy.on_write_timeout(None, QUORUM, write_type, 2, received, retry_num)


def unavailable(policy, alive=1, retry_num=0, level=QUORUM):
    return policy.on_unavailable(None, level, 2, alive, retry_num)


def request_error(policy, retry_num=0):
    return policy.on_request_error(None, QUORUM, OSError(), retry_num)


def test_by_default_a_read_is_retried_once_if_only_the_data_was_missing():
    policy = RetryPolicy()
    assert read_timeout(policy) == (RETRY, QUORUM)
    assert read_timeout(policy, retry_num=1) == (RETHROW, None)
    assert read_timeout(policy, data=True) == (RETHROW, None)
    assert read_timeout(policy, received=1) == (RETHROW, None)


@pytest.mark.parametrize("write_type", WriteType)
def test_by_default_a_write_is_retried_once_if_it_was_the_batch_log(write_type):
    policy = RetryPolicy()
    wanted = (RETRY, QUORUM) if write_type is WriteType.BATCH_LOG else (RETHROW, None)
    assert write_timeout(policy, write_type) == wanted
    assert write_timeout(policy, write_type, retry_num=1) == (RETHROW, None)


def test_by_default_another_host_is_asked_once_about_replicas_and_always_about_errors():
    policy = RetryPolicy()
    assert [unavailable(policy, retry_num=n) for n in (0, 1)] == [(NEXT, None), (RETHROW, None)]
    assert [request_error(policy, retry_num=n) for n in (0, 9)] == [(NEXT, None)] * 2


class RefusedError(ConnectionError):
    """As those of connections say that a request never went out."""

    was_sent = False


@pytest.mark.parametrize(
    ("policy", "again"),
    [
        (RetryPolicy(), (NEXT, None)),
        (NeverRetryPolicy(), (NEXT, None)),
        (DowngradingConsistencyRetryPolicy(), (NEXT, None)),
        (ExponentialBackoffRetryPolicy(3, 0, 0), (NEXT, None, 0)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_policy_repeats_what_may_have_been_executed_unless_it_is_idempotent(policy, again):
    once, often = SimpleStatement("q"), SimpleStatement("q", is_idempotent=True)
    for error in (OSError(), ServerError(), TruncateError()):
        assert policy.on_request_error(once, QUORUM, error, 0)[0] == RETHROW
        assert policy.on_request_error(often, QUORUM, error, 0) == again
    for error in (RefusedError(), Overloaded(), IsBootstrapping()):
        assert policy.on_request_error(once, QUORUM, error, 0) == again


def test_fallthrough_never_retries():
    policy = FallthroughRetryPolicy()
    decisions = [read_timeout(policy), write_timeout(policy, WriteType.BATCH_LOG)]
    decisions += [unavailable(policy), request_error(policy)]
    assert decisions == [(RETHROW, None)] * 4


def test_never_retries_no_answer_of_replicas():
    policy = NeverRetryPolicy()
    decisions = [read_timeout(policy), write_timeout(policy, WriteType.BATCH_LOG)]
    assert [*decisions, unavailable(policy)] == [(RETHROW, None)] * 3
    assert request_error(policy) == (NEXT, None)


LEVELS = [(4, (RETRY, THREE)), (3, (RETRY, THREE)), (2, (RETRY, TWO)), (1, (RETRY, ONE))]


@pytest.mark.parametrize(("there", "decision"), [*LEVELS, (0, (RETHROW, None))])
def test_downgrading_settles_for_the_replicas_that_are_there(there, decision):
    policy = DowngradingConsistencyRetryPolicy()
    assert read_timeout(policy, required=5, received=there) == decision
    assert unavailable(policy, alive=there) == decision
    assert write_timeout(policy, WriteType.UNLOGGED_BATCH, received=there) == decision


def test_downgrading_retries_once():
    policy = DowngradingConsistencyRetryPolicy()
    decisions = [read_timeout(policy, retry_num=1), unavailable(policy, retry_num=1)]
    decisions.append(write_timeout(policy, WriteType.SIMPLE, retry_num=1))
    assert decisions == [(RETHROW, None)] * 3


def test_downgrading_retries_a_read_that_lacked_its_data_as_it_was():
    policy = DowngradingConsistencyRetryPolicy()
    assert read_timeout(policy) == (RETRY, QUORUM)
    assert read_timeout(policy, data=True) == (RETHROW, None)


def test_downgrading_leaves_serial_levels_alone():
    policy = DowngradingConsistencyRetryPolicy()
    assert read_timeout(policy, received=1, level=SERIAL) == (RETHROW, None)
    assert unavailable(policy, level=SERIAL) == (NEXT, None)


def test_downgrading_takes_one_replica_as_enough_for_a_write():
    policy = DowngradingConsistencyRetryPolicy()
    for write_type in (WriteType.SIMPLE, WriteType.BATCH, WriteType.COUNTER):
        assert write_timeout(policy, write_type) == (IGNORE, None)
        assert write_timeout(policy, write_type, received=0) == (RETHROW, None)
    assert write_timeout(policy, WriteType.BATCH_LOG, received=0) == (RETRY, QUORUM)
    assert write_timeout(policy, WriteType.CAS) == (RETHROW, None)


@pytest.fixture
def _no_jitter(monkeypatch):
    monkeypatch.setattr(module.random, "random", lambda: 0.5)


@pytest.mark.usefixtures("_no_jitter")
def test_back_off_doubles_its_delay_up_to_the_limit():
    policy = ExponentialBackoffRetryPolicy(10, min_interval=0.5, max_interval=3)
    delays = [request_error(policy, retry_num=n)[2] for n in range(5)]
    assert delays == [0.5, 1, 2, 3, 3]
    endless = ExponentialBackoffRetryPolicy(float("inf"), 0.5, 3)
    assert request_error(endless, retry_num=10**6) == (NEXT, None, 3)


@pytest.mark.usefixtures("_no_jitter")
def test_back_off_retries_what_the_default_policy_does():
    policy = ExponentialBackoffRetryPolicy(3, 1)
    assert read_timeout(policy, retry_num=2) == (RETRY, QUORUM, 4)
    assert write_timeout(policy, WriteType.BATCH_LOG) == (RETRY, QUORUM, 1)
    assert unavailable(policy, retry_num=1) == (NEXT, None, 2)
    rethrow = (RETHROW, None, None)
    assert read_timeout(policy, data=True) == rethrow
    assert write_timeout(policy, WriteType.SIMPLE) == rethrow


def test_back_off_ends():
    policy = ExponentialBackoffRetryPolicy(3)
    decisions = [read_timeout(policy, retry_num=3), unavailable(policy, retry_num=3)]
    decisions += [write_timeout(policy, WriteType.BATCH_LOG, retry_num=3)]
    decisions += [request_error(policy, retry_num=3)]
    assert decisions == [(RETHROW, None, None)] * 4


def test_jitter_is_half_the_first_interval_at_the_most(monkeypatch):
    policy = ExponentialBackoffRetryPolicy(3, min_interval=2, max_interval=2)
    for random, delay in ((0, 1), (0.75, 2.5)):
        monkeypatch.setattr(module.random, "random", lambda value=random: value)
        assert request_error(policy)[2] == delay


@pytest.mark.parametrize("limits", [(-1,), (1, -1), (1, 2, 1)])
def test_limits_of_back_off_make_sense(limits):
    with pytest.raises(ValueError, match="must not be"):
        ExponentialBackoffRetryPolicy(*limits)
