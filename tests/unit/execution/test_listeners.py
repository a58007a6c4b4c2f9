"""Listeners: who hears of each request before it is sent."""

import answers
import pytest
from script import NUMBER, row, session_of

from driver.execution.listeners import RequestInitListener
from driver.statements import SimpleStatement


def test_a_listener_hears_of_a_request_before_it_is_sent():
    session = session_of([row(1)])
    heard = []
    session.request_listeners.append(
        lambda event: heard.append((event, len(session.server.requests)))
    )
    statement = SimpleStatement("q", keyspace="ks", consistency_level=4)
    future = session.execute_async(statement)
    ((event, sent),) = heard
    assert sent == 0
    assert event.future is future
    assert event.statement is statement
    assert (event.keyspace, event.consistency_level, event.values) == ("ks", 4, ())
    assert event.started_at > 0


def test_a_further_page_is_no_further_request():
    session = session_of([answers.rows(NUMBER, [(1,)], paging_state=b"p"), row(2)])
    heard = []
    session.request_listeners.append(heard.append)
    assert session.execute("q").all() == [(1,), (2,)]
    assert len(heard) == 1


def test_bound_values_are_a_copy():
    session = session_of([answers.prepared(b"id", NUMBER, NUMBER), row(1), row(1)])
    heard = []
    prepared = session.prepare("q")
    session.request_listeners.append(heard.append)
    bound = prepared.bind([5])
    session.execute(bound)
    bound.bind([6])
    assert heard[0].values == (5,)


class CountedCopies(list):
    """Values that tell how often somebody went through them."""

    copies = 0

    def __iter__(self):
        self.copies += 1
        return super().__iter__()


@pytest.mark.parametrize(
    ("listeners", "copies"),
    [
        ([], 0),
        ([RequestInitListener(id)], 0),
        ([lambda event: event], 1),
        ([RequestInitListener(id), id, RequestInitListener(id), id], 1),
    ],
    ids=["nobody", "requests", "events", "both"],
)
def test_bound_values_are_copied_once_and_only_for_who_sees_them(listeners, copies):
    session = session_of([answers.prepared(b"id", NUMBER, NUMBER), row(1)])
    bound = session.prepare("q").bind([5])
    bound.raw_values = CountedCopies([5])
    session.request_listeners += listeners
    session.execute(bound)
    assert bound.raw_values.copies == copies


def test_a_listener_of_requests_takes_an_event_as_well():
    heard = []
    session = session_of([row(1)])
    session.request_listeners.append(RequestInitListener(heard.append).__call__)
    future = session.execute_async("q")
    assert heard == [future]


def test_callbacks_of_a_listener_hear_how_it_ended():
    session = session_of([row(1)])
    rows = []
    session.request_listeners.append(lambda event: event.future.add_callback(rows.append))
    session.execute("q")
    assert rows == [[(1,)]]


def test_a_listener_that_raises_keeps_nobody(caplog):
    session = session_of([row(1)])
    heard = []
    session.request_listeners += [lambda _: 1 / 0, heard.append]
    assert session.execute("q").one() == (1,)
    assert len(heard) == 1
    assert "raised an exception" in caplog.text


def test_messages_of_the_driver_are_heard_of_as_well():
    session = session_of([answers.prepared(b"id", NUMBER)])
    heard = []
    session.request_listeners.append(heard.append)
    session.prepare("q")
    assert [(event.statement, event.values, event.keyspace) for event in heard] == [
        (None, (), None)
    ]


def test_functions_of_the_older_form_are_listeners_and_can_be_told_apart():
    session = session_of([row(1)])
    heard = []

    def listen(future, *args, **kwargs):
        heard.append((future, args, kwargs))

    session.request_listeners.append(RequestInitListener(listen, (1,), {"k": 2}))
    future = session.execute_async("q")
    assert heard == [(future, (1,), {"k": 2})]
    session.request_listeners.remove(RequestInitListener(listen, (1,), {"k": 2}))
    assert session.request_listeners == []
    assert RequestInitListener(listen) != RequestInitListener(listen, (1,))
    assert RequestInitListener(listen) != listen
    assert hash(RequestInitListener(listen)) == hash(RequestInitListener(listen, (1,)))
