"""Requests that a thread sends while answers are on their way: all of them leave."""

import sys
import threading

import loops
import pytest
from cql_cluster import CqlCluster
from cql_node import SILENCE, rows
from loops import eventually_here as eventually

from driver.cluster import Cluster
from driver.net import loop as loop_module
from driver.net import timers
from driver.types import Int32Type

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="loops are woken elsewhere")


@pytest.fixture
def nodes():
    with CqlCluster(1) as found:
        found.when("SELECT n", rows([("n", Int32Type)], [(1,)]))
        found.when("SELECT silent", SILENCE)
        yield found


@pytest.fixture
def no_ticks(monkeypatch):
    """Timers send nothing: whoever else is to do so has to."""
    monkeypatch.setattr(timers, "send_postponed", lambda: None)


@pytest.fixture(params=loops.LOOPS)
def session(request, nodes, monkeypatch):
    monkeypatch.setattr(loop_module, "new_event_loop", loops.LOOPS[request.param])
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect()
        session.execute("SELECT n FROM before")
        yield session


def begin(session, nodes):
    """Leave an answer on its way that never comes."""
    session.execute_async("SELECT silent FROM t")
    eventually(lambda: "SELECT silent FROM t" in nodes.texts)


def has_come(nodes, number=0):
    return f"SELECT n FROM t{number}" in nodes.texts


def ask(session, number=0, **options):
    return session.execute_async(f"SELECT n FROM t{number}", **options)


@pytest.mark.usefixtures("no_ticks")
def test_who_waits_for_one_has_all_of_them_sent(nodes, session):
    begin(session, nodes)
    futures = [ask(session, n) for n in range(20)]
    assert not any(has_come(nodes, n) for n in range(20))
    assert futures[7].result().one() == (1,)
    assert all(future.result().one() == (1,) for future in futures)


@pytest.mark.usefixtures("no_ticks")
def test_another_thread_that_waits_has_them_sent(nodes, session):
    begin(session, nodes)
    futures, found = [ask(session, n) for n in range(2)], []
    other = threading.Thread(target=lambda: found.extend(futures[1].result()))
    other.start()
    other.join()
    assert found == [(1,)]
    eventually(lambda: has_come(nodes, 0))


@pytest.mark.usefixtures("no_ticks")
@pytest.mark.parametrize("add", ["add_callback", "add_errback"])
def test_nobody_has_to_wait_for_one_with_a_callback(nodes, session, add):
    begin(session, nodes)
    getattr(ask(session), add)(lambda _: None)
    eventually(lambda: has_come(nodes))


@pytest.mark.usefixtures("no_ticks")
def test_nobody_has_to_wait_for_one_without_a_time_limit(nodes, session):
    begin(session, nodes)
    ask(session, timeout=None)
    eventually(lambda: has_come(nodes))


@pytest.mark.usefixtures("no_ticks")
def test_who_executes_another_one_has_them_sent(nodes, session):
    begin(session, nodes)
    ask(session)
    assert session.execute("SELECT n FROM u").one() == (1,)
    eventually(lambda: has_come(nodes))


@pytest.mark.usefixtures("no_ticks")
def test_the_next_answer_has_them_sent(nodes, session):
    held = []
    nodes.when("SELECT held", lambda request: held.append(request) and None)
    session.execute_async("SELECT held FROM t")
    eventually(lambda: held)
    ask(session)
    assert not has_come(nodes)
    held[0].client.node.answer_later(held[0], rows([("n", Int32Type)], [(1,)]))
    eventually(lambda: has_come(nodes))


def test_a_tick_of_the_timers_has_them_sent(nodes, session):
    begin(session, nodes)
    ask(session)
    eventually(lambda: has_come(nodes))


@pytest.mark.usefixtures("no_ticks")
def test_the_next_page_of_a_future_with_callbacks_is_asked_for(nodes, session):
    def page(request):
        more = None if b"more" in request.body else b"more"
        return rows([("n", Int32Type)], [(1,)], paging_state=more)

    nodes.when("SELECT pages", page)
    pages = []
    future = session.execute_async("SELECT pages FROM t")
    future.result()
    future.add_callback(pages.append)
    begin(session, nodes)
    future.start_fetching_next_page()
    eventually(lambda: len(pages) == 2)


@pytest.mark.usefixtures("no_ticks")
def test_statements_that_are_executed_some_at_a_time_are_sent(nodes, session):
    begin(session, nodes)
    found = session.execute_concurrent([(f"SELECT n FROM t{n}", None) for n in range(300)])
    assert [each.result_or_exc.one() for each in found] == [(1,)] * 300
