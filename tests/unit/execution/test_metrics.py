"""Metrics: counters, the timer and gauges."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import row, session_of

from driver.execution.metrics import Metrics, RequestTimer


def test_everything_starts_at_zero():
    stats = Metrics().get_stats()
    assert set(stats.pop("request_timer").values()) == {0}
    assert set(stats.values()) == {0}
    assert {"known_hosts", "connected_to", "open_connections", "in_flight_requests"} < set(stats)


def test_gauges_are_read_when_they_are_asked_for():
    hosts = [1, 2]
    metrics = Metrics({"known_hosts": lambda: len(hosts)})
    hosts.append(3)
    assert metrics.known_hosts == metrics.get_stats()["known_hosts"] == 3
    assert (metrics.connected_to, metrics.open_connections, metrics.in_flight_requests) == (0, 0, 0)
    with pytest.raises(ValueError, match="no gauge temperature"):
        Metrics({"temperature": lambda: 1})


def test_statistics_have_a_name():
    metrics = Metrics(stats_name="one")
    metrics.set_stats_name("two")
    assert metrics.stats_name == "two"
    with pytest.raises(ValueError, match="must not be empty"):
        metrics.set_stats_name("")


def test_times_are_those_of_requests_from_the_beginning():
    metrics = Metrics()
    session = session_of([row(1)], metrics=metrics)
    session.execute("q")
    assert metrics.request_timer["count"] == 1
    assert metrics.request_timer["max"] >= 0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_a_snapshot_is_in_order(times):
    timer = RequestTimer()
    for seconds in times:
        timer.add(seconds)
    got = timer.snapshot()
    assert got["count"] == len(times)
    assert (got["min"], got["max"]) == (min(times), max(times))
    names = ("min", "median", "75percentile", "95percentile", "98percentile", "99percentile", "max")
    values = [got[name] for name in names]
    assert values == sorted(values)
    assert got["min"] <= got["mean"] * (1 + 1e-9)
    assert "median" in repr(timer)


def test_percentiles_are_of_the_last_requests_and_the_count_of_all():
    timer = RequestTimer()
    for seconds in [100.0] * 10 + [1.0] * 1024:
        timer.add(seconds)
    assert (timer["count"], timer["max"]) == (1034, 1.0)


def test_counts_of_several_threads_are_all_counted():
    metrics = Metrics()
    others = []

    class Slow(int):
        """While one is added, another thread counts, if it may."""

        def __add__(self, more):
            others.append(threading.Thread(target=metrics.on_retry))
            others[0].start()
            others[0].join(0.2)
            return int(self) + more

    metrics.retries = Slow(0)
    metrics.on_retry()
    others[0].join()
    assert metrics.retries == 2
