"""What the garbage collector has to look into of requests in flight, and what it still finds."""

import gc
import weakref
from collections import Counter

import pytest
from cql_cluster import CqlCluster
from cql_node import SILENCE, rows

from driver.cluster import Cluster
from driver.execution import ResponseFuture
from driver.implementation import IMPL
from driver.statements import BoundStatement
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
def test_two_containers_of_a_request_in_flight(nodes, session):
    statement = session.prepare(TEXT)
    session.execute(statement, (1,))
    nodes.when(TEXT, SILENCE)
    before = own_containers()
    futures = [session.execute_async(statement, (n,)) for n in range(REQUESTS)]
    found = own_containers() - before
    assert found == {ResponseFuture: REQUESTS, BoundStatement: REQUESTS}
    for future in futures:
        assert not gc.is_tracked(future.message)
        assert not gc.is_tracked(future.query.values)
        assert not gc.is_tracked(future.attempted_hosts)


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
