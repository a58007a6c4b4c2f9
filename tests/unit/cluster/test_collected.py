"""What the garbage collector has to look into of requests in flight, and what it still finds."""

import asyncio
import gc
import weakref
from collections import Counter

import pytest
import wire_bodies as wb
from cql_cluster import CqlCluster
from cql_node import ERROR, SILENCE, Answer, rows
from script import session_of

from driver.cluster import Cluster
from driver.implementation import IMPL
from driver.net.timers import Timers
from driver.policies import RetryPolicy
from driver.protocol.errors import DriverException
from driver.types import Int32Type

TEXT = "SELECT n FROM t WHERE k = ?"
REQUESTS = 100

compiled = pytest.mark.skipif(IMPL != "cython", reason="Python's own containers are all collected")


@pytest.fixture
def nodes():
    with CqlCluster(1) as found:
        columns = [("n", Int32Type)]
        found.prepare(TEXT, markers=[("k", Int32Type)], results=columns, pk=(0,))
        found.when(TEXT, rows(columns, [(1,)]))
        yield found


@pytest.fixture
def session(nodes):
    with Cluster(**nodes.options) as cluster:
        yield cluster.connect()


def own_containers():
    """How many of each class of the driver the collector looks into."""
    kinds = Counter(type(each) for each in gc.get_objects())
    return Counter(
        {kind: n for kind, n in kinds.items() if f"{kind.__module__}".startswith("driver")}
    )


@compiled
def test_what_can_be_in_no_circle_is_not_looked_into(nodes, session):
    statement = session.prepare(TEXT)
    session.execute(statement, (1,))
    nodes.when(TEXT, SILENCE)
    before = own_containers()
    futures = [session.execute_async(statement, (n,)) for n in range(REQUESTS)]
    found = own_containers() - before
    names = ("Attempt", "BoundStatement", "Plan", "ResponseFuture", "TimeLimit", "Timer")
    assert {kind.__name__: n for kind, n in found.items()} == dict.fromkeys(names, REQUESTS)
    for future in futures:
        assert not gc.is_tracked(future.message)
        assert not gc.is_tracked(future.query.values)
        assert not gc.is_tracked(future.attempted_hosts)


def test_a_request_that_is_abandoned_in_flight_is_collected():
    session = session_of([None])
    future = session.execute_async("q")
    gone = weakref.ref(future)
    del session, future
    gc.collect()
    assert gone() is None


def test_a_request_that_is_abandoned_with_its_time_limit_is_collected():
    loop = asyncio.new_event_loop()
    session = session_of([None])
    session.timers = Timers(loop)
    future = session.execute_async("q", timeout=10)
    gone = weakref.ref(future)
    loop.close()
    del session, future, loop
    gc.collect()
    assert gone() is None


def test_a_future_in_a_circle_is_collected(session):
    statement = session.prepare(TEXT)
    future = session.execute_async(statement, (1,))
    future.add_callback(lambda _, own: own, future)
    future.result()
    gone = weakref.ref(future)
    del future
    gc.collect()
    assert gone() is None


def test_a_statement_in_a_circle_is_collected(session):
    bound = session.prepare(TEXT).bind((1,))
    bound.own = bound
    gone = weakref.ref(bound)
    del bound
    gc.collect()
    assert gone() is None


def test_a_request_whose_error_came_out_of_the_middle_of_it_is_collected(nodes):
    class Leaves(RetryPolicy):
        def on_request_error(self, *_):
            raise SystemExit(3)  # whose traceback has the frames in which its request is

    nodes.when("SELECT busy", Answer(ERROR, wb.integer(0x1001) + wb.string("busy")))
    with Cluster(default_retry_policy=Leaves(), **nodes.options) as cluster:
        future = cluster.connect().execute_async("SELECT busy", timeout=5)
        with pytest.raises(DriverException, match="SystemExit"):
            future.result()
    gone = weakref.ref(future)
    del future
    gc.collect()
    assert gone() is None


def test_a_statement_that_keeps_its_own_future_is_collected(session):
    bound = session.prepare(TEXT).bind((1,))
    bound.future = session.execute_async(bound)
    bound.future.result()
    gone = weakref.ref(bound)
    del bound
    gc.collect()
    assert gone() is None
