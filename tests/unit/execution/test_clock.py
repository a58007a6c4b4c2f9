"""The clock of a request: read at its beginning, not when somebody asks.

vitessio/vitess 20148 read the clock and the caller when they were first asked for, and took that
back: what went another way than through the accessor found nothing. There is a second hazard, which
no crash tells of: a beginning that is read when it is asked for is the end. Here both are shown by
a class that asks late, in pure Python: compiled, a beginning is in its slot, and no property can be
in front of it. To read the clock at the beginning, but only where metrics or listeners
will want it, is safe, and was taken back because it saves nothing that can be measured.
"""

import time

import answers
import pytest
from script import INVALID, NUMBER, respond, row, session_of

import driver
from driver.execution import Metrics, RequestExecution, ResponseFuture
from driver.protocol.errors import InvalidRequest

in_pure_python = pytest.mark.skipif(driver.IMPL == "cython", reason="slots have no properties")


class Clock:
    """A monotonic clock that tests move."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    return clock


def seconds_of(metrics):
    """The one time that metrics were told."""
    assert metrics.request_timer["count"] == 1
    return metrics.request_timer["max"]


def test_a_time_begins_when_the_request_is_made_not_when_it_is_asked_for(clock):
    metrics = Metrics()
    session = session_of([None], metrics=metrics)
    session.execute_async("q")
    clock.now += 3
    respond(session, 0, row(1))
    assert seconds_of(metrics) == 3


class AsksLate(RequestExecution):
    """What the lazy form would be: the beginning is read by the first who asks for it."""

    @property
    def _start_time(self):
        return self.__dict__.setdefault("began", time.monotonic())

    @_start_time.setter
    def _start_time(self, began):
        """Not wanted yet."""


@in_pure_python
def test_a_beginning_that_is_read_by_the_first_who_asks_tells_the_end(clock):
    metrics = Metrics()
    session = session_of([None], metrics=metrics)
    session.request(AsksLate, "q").send_request()
    clock.now += 3
    respond(session, 0, row(1))
    assert seconds_of(metrics) == 0  # three seconds are gone


class AsksThroughTheAccessor(RequestExecution):
    """The form of the pull request: there is nothing until the accessor is asked."""

    _start_time = property(lambda _: None, lambda *_: None)

    def began(self):
        return self.__dict__.setdefault("_began", time.monotonic())


@in_pure_python
def test_what_goes_past_the_accessor_finds_nothing(clock):
    session = session_of([None], metrics=Metrics())
    request = session.request(AsksThroughTheAccessor, "q")
    assert request.began() == clock.now
    request.send_request()
    with pytest.raises(TypeError, match="NoneType"):
        request._set_final_result(None)


def test_a_request_that_fails_is_timed_as_well(clock):
    metrics = Metrics()
    session = session_of([None], metrics=metrics)
    future = session.execute_async("q")
    clock.now += 2
    respond(session, 0, INVALID)
    with pytest.raises(InvalidRequest):
        future.result()
    assert seconds_of(metrics) == 2


def test_each_page_has_its_own_beginning(clock):
    metrics = Metrics()
    pages = [answers.rows(NUMBER, [(1,)], paging_state=b"p"), None]
    session = session_of(pages, metrics=metrics)
    future = session.execute_async("q")
    clock.now += 60  # in the hands of the application
    future.start_fetching_next_page()
    clock.now += 1
    respond(session, 0, row(2))
    assert metrics.request_timer["max"] == 1


def test_metrics_of_one_request_alone_are_told_its_time(clock):
    metrics = Metrics()
    session = session_of([None])
    future = session.request(ResponseFuture, "q")
    alone = ResponseFuture(session, future.message, future.query, metrics=metrics)
    alone.send_request()
    clock.now += 4
    respond(session, 0, row(1))
    assert seconds_of(metrics) == 4


def test_a_listener_is_told_when_the_request_was_made(clock):
    session = session_of([row(1)])
    heard = []
    session.request_listeners.append(heard.append)
    future = session.request(ResponseFuture, "q")
    clock.now += 5
    future.send_request()
    assert heard[0].started_at == 100


def test_a_listener_that_comes_after_the_request_was_made_is_told_its_beginning(clock):
    session = session_of([row(1)])
    future = session.request(ResponseFuture, "q")
    heard = []
    session.request_listeners.append(heard.append)
    clock.now += 5
    future.send_request()
    assert heard[0].started_at == 100


def test_a_beginning_that_was_given_is_kept(clock):
    metrics = Metrics()
    session = session_of([None], metrics=metrics)
    future = session.request(ResponseFuture, "q")
    ResponseFuture(session, future.message, future.query, start_time=90.0).send_request()
    clock.now += 1
    respond(session, 0, row(1))
    assert seconds_of(metrics) == 11
