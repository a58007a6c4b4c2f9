"""Schedules: reconnection attempts, speculative executions, timestamps."""

import threading
import time
from itertools import islice
from types import SimpleNamespace

import pytest

from driver.policies import (
    ConstantReconnectionPolicy,
    ConstantSpeculativeExecutionPolicy,
    ExponentialBackoffRetryPolicy,
    ExponentialReconnectionPolicy,
    MonotonicTimestampGenerator,
    NoSpeculativeExecutionPolicy,
    ReconnectionPolicy,
    SpeculativeExecutionPlan,
    SpeculativeExecutionPolicy,
    reconnection,
)

# --- reconnection ---------------------------------------------------------------------------------


def test_a_constant_schedule_repeats_its_delay():
    assert list(ConstantReconnectionPolicy(2, 3).new_schedule()) == [2, 2, 2]
    assert len(list(ConstantReconnectionPolicy(2).new_schedule())) == 64


@pytest.mark.parametrize("max_attempts", [None, 0])
def test_a_constant_schedule_can_have_no_end(max_attempts):
    schedule = ConstantReconnectionPolicy(2, max_attempts).new_schedule()
    assert list(islice(schedule, 100)) == [2] * 100


def test_an_exponential_schedule_doubles_up_to_its_limit(monkeypatch):
    monkeypatch.setattr(reconnection, "randint", lambda *_: 100)
    assert list(ExponentialReconnectionPolicy(1, 10, 6).new_schedule()) == [1, 2, 4, 8, 10, 10]
    assert len(list(ExponentialReconnectionPolicy(1, 10).new_schedule())) == 64


def test_jitter_stays_within_the_limits(monkeypatch):
    policy = ExponentialReconnectionPolicy(2, 10, 4)
    monkeypatch.setattr(reconnection, "randint", lambda low, _: low)
    assert list(policy.new_schedule()) == [2, 3.4, 6.8, 8.5]
    monkeypatch.setattr(reconnection, "randint", lambda _, high: high)
    assert list(policy.new_schedule()) == [2.3, 4.6, 9.2, 10]


def test_an_exponential_schedule_without_end_does_not_overflow():
    schedule = ExponentialReconnectionPolicy(1e300, 1e305, None).new_schedule()
    assert list(islice(schedule, 1500))[-1] == 1e305


@pytest.mark.parametrize(
    ("policy", "arguments"),
    [
        (ConstantReconnectionPolicy, (-1,)),
        (ConstantReconnectionPolicy, (1, -1)),
        (ExponentialReconnectionPolicy, (-1, 1)),
        (ExponentialReconnectionPolicy, (1, -1)),
        (ExponentialReconnectionPolicy, (2, 1)),
        (ExponentialReconnectionPolicy, (1, 2, -1)),
        (ConstantSpeculativeExecutionPolicy, (-1, 1)),
        (ConstantSpeculativeExecutionPolicy, (1, -1)),
    ],
)
def test_delays_and_attempts_make_sense(policy, arguments):
    with pytest.raises(ValueError, match=r"negative|greater"):
        policy(*arguments)


@pytest.mark.parametrize(
    ("policy", "arguments", "told"),
    [
        (ConstantSpeculativeExecutionPolicy, ("a", -1), "delay"),
        (ConstantSpeculativeExecutionPolicy, (1, "a"), "max_attempts"),
        (ExponentialBackoffRetryPolicy, ("a",), "max_num_retries"),
    ],
)
def test_what_is_no_number_is_refused_by_its_name(policy, arguments, told):
    with pytest.raises(TypeError, match=f"^{told} is a number, not 'a'$"):
        policy(*arguments)


def test_policies_must_give_schedules_and_plans():
    with pytest.raises(NotImplementedError):
        ReconnectionPolicy().new_schedule()
    with pytest.raises(NotImplementedError):
        SpeculativeExecutionPolicy().new_plan("ks", None)
    with pytest.raises(NotImplementedError):
        SpeculativeExecutionPlan().next_execution(None)


# --- speculative execution ------------------------------------------------------------------------


def test_no_speculative_execution_is_negative():
    assert NoSpeculativeExecutionPolicy().new_plan("ks", None).next_execution(None) < 0


def test_each_request_has_its_own_speculative_executions():
    policy = ConstantSpeculativeExecutionPolicy(0.5, 2)
    for _ in range(2):
        plan = policy.new_plan("ks", None)
        assert [plan.next_execution(None) for _ in range(4)] == [0.5, 0.5, -1, -1]


# --- timestamps -----------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """A clock whose seconds the test sets."""
    hands = SimpleNamespace(now=0)
    monkeypatch.setattr(time, "time", lambda: hands.now)
    return hands


def test_timestamps_are_microseconds_and_ever_greater(clock):
    generator = MonotonicTimestampGenerator()
    given = []
    for clock.now in (1.5, 1.5, 1.5, 1.500001, 2):
        given.append(generator())
    assert given == [1_500_000, 1_500_001, 1_500_002, 1_500_003, 2_000_000]


def warnings_of(caplog, clock, generator, seconds):
    for clock.now in seconds:
        generator()
    return [record.getMessage() for record in caplog.records]


def test_a_clock_that_falls_behind_is_warned_of(caplog, clock):
    said = warnings_of(caplog, clock, MonotonicTimestampGenerator(), [20, 16])
    assert len(said) == 1
    assert all(part in said[0] for part in ("Clock skew", "16000000", "4000000", "20000000"))


def test_warnings_keep_their_distance(caplog, clock):
    generator = MonotonicTimestampGenerator(warning_interval=2)
    assert len(warnings_of(caplog, clock, generator, [20, 10, 10, 11, 11.9, 12, 13])) == 2


def test_a_little_drift_is_not_warned_of(caplog, clock):
    generator = MonotonicTimestampGenerator(warning_threshold=5)
    assert warnings_of(caplog, clock, generator, [20, 15.1]) == []
    assert len(warnings_of(caplog, clock, generator, [14])) == 1


@pytest.mark.parametrize(
    ("threshold", "behind", "count"),
    [(0, 0, 1), (0.000_5, 0.000_499, 0), (0.000_5, 0.000_5, 1), (1, 0.999_999, 0), (1, 1, 1)],
)
def test_drift_is_warned_of_from_its_threshold_on(caplog, clock, threshold, behind, count):
    generator = MonotonicTimestampGenerator(warning_threshold=threshold)
    assert len(warnings_of(caplog, clock, generator, [16, 16 - behind])) == count


def test_warnings_can_be_off(caplog, clock):
    assert warnings_of(caplog, clock, MonotonicTimestampGenerator(False), [20, 1]) == []


def test_threads_get_different_timestamps(clock):
    class Watched(MonotonicTimestampGenerator):
        """Lets another thread in after a timestamp was read and before the next is written."""

        def _next_timestamp(self, now, last):
            if not helpers:
                helpers.append(threading.Thread(target=lambda: given.append(self())))
                helpers[0].start()
                was_locked.append(self.lock.locked())
                if not self.lock.locked():
                    helpers[0].join()
            return super()._next_timestamp(now, last)

    helpers, given, was_locked = [], [], []
    clock.now = 1.0
    given.append(Watched()())
    helpers[0].join()
    assert was_locked == [True]
    assert sorted(given) == [1_000_000, 1_000_001]
