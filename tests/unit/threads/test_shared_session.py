"""A session that threads share: each request has its own answer, and nothing is left behind."""

import threading
from functools import partial

import pytest
from cql_cluster import CqlCluster, eventually
from cql_node import SILENCE, rows
from together import STRESS, together

from driver.cluster import Cluster
from driver.execution.concurrent import execute_concurrent_with_args
from driver.protocol.errors import OperationTimedOut
from driver.statements import BatchStatement
from driver.types import Int32Type

THREADS = 4
EACH = 24 * STRESS
SELECT = "SELECT k FROM t WHERE k = ?"
INSERT = "INSERT INTO t (k) VALUES (?)"
K = ("k", Int32Type)
#: Requests that nobody answers.
SILENT = 5


def echo(request):
    """The bound value, as the only row."""
    return rows([K], [(int.from_bytes(request.values[0]),)])


def pages(request):
    """Two pages, of which the first says where the second begins."""
    number = int(request.text.rpartition(" ")[2])
    if b"the second" in request.body:
        return rows([K], [(number + 1,)])
    return rows([K], [(number,)], paging_state=b"the second")


@pytest.fixture(params=[(4, "lz4"), (5, False)], ids=["v4 lz4", "v5 plain"])
def nodes(request):
    version, compression = request.param
    with CqlCluster(
        2, versions=(version,), compressions=(compression,) if compression else ()
    ) as found:
        found.prepare(SELECT, markers=[K], results=[K], pk=[0])
        found.prepare(INSERT, markers=[K], pk=[0])
        found.when("WHERE k = ?", echo)
        found.when("SELECT paged", pages)
        found.when("SELECT never", SILENCE)
        yield found


@pytest.fixture
def cluster(nodes):
    with Cluster(**nodes.options, metrics_enabled=True) as found:
        yield found


@pytest.fixture
def session(cluster):
    return cluster.connect(wait_for_all_pools=True)


def numbers_of(thread):
    """Values that no other thread has."""
    return range(thread * 1_000_000, thread * 1_000_000 + EACH)


def one_at_a_time(session, select, thread):
    for number in numbers_of(thread):
        assert session.execute(select, (number,)).one() == (number,)


def called_back(session, select, thread):
    ended = threading.Semaphore(0)
    got = []

    def note(number, page):
        got.append((number, page[0][0]))
        ended.release()

    def fail(error):
        got.append((error, None))
        ended.release()

    for number in numbers_of(thread):
        future = session.execute_async(select, (number,))
        future.add_callbacks(partial(note, number), fail)
    for _ in range(EACH):
        assert ended.acquire(timeout=30)
    assert sorted(got) == [(number, number) for number in numbers_of(thread)]


def at_once(session, select, thread):
    results = execute_concurrent_with_args(
        session, select, [(number,) for number in numbers_of(thread)], concurrency=8
    )
    assert [result.one() for _, result in results] == [(number,) for number in numbers_of(thread)]


def through_pages(session, _, thread):
    for number in numbers_of(thread)[: EACH // 8]:
        found = [row.k for row in session.execute(f"SELECT paged {number}")]
        assert found == [number, number + 1]


def prepared_anew(session, _, thread):
    for number in numbers_of(thread)[: EACH // 8]:
        select = session.prepare(SELECT)
        assert session.execute(select, (number,)).one() == (number,)


def in_batches(session, _, thread):
    insert = session.prepare(INSERT)
    for number in numbers_of(thread)[: EACH // 8]:
        batch = BatchStatement()
        for more in range(5):
            batch.add(insert, (number + more,))
        session.execute(batch)


def timed_out(session, _, __):
    futures = [session.execute_async("SELECT never", timeout=0.05) for _ in range(SILENT)]
    for future in futures:
        with pytest.raises(OperationTimedOut):
            future.result()


def test_each_request_has_its_own_answer_however_it_is_asked(session, cluster, nodes):
    select = session.prepare(SELECT)
    ways = (
        one_at_a_time,
        called_back,
        at_once,
        through_pages,
        prepared_anew,
        in_batches,
        timed_out,
    )
    together(*(partial(way, session, select, at) for at, way in enumerate(ways, 1)))
    few = EACH // 8
    prepares = len(nodes.nodes) * (2 + few)
    counted = 3 * EACH + 2 * few + few + few + SILENT + prepares
    assert cluster.metrics.request_timer.snapshot()["count"] == counted
    assert cluster.metrics.client_timeouts == cluster.metrics.request_errors == SILENT
    assert eventually(lambda: session.core.timers.pending == 0)


def test_threads_take_and_give_back_one_connection_s_streams(session, nodes):
    select = session.prepare(SELECT)
    together(*(partial(one_at_a_time, session, select, at) for at in range(THREADS)))
    asked = sorted(
        int.from_bytes(each.values[0])
        for node in nodes.nodes
        for each in node.requests
        if each.text == SELECT and each.values
    )
    assert asked == sorted(number for at in range(THREADS) for number in numbers_of(at))


def test_sessions_and_clusters_are_made_and_ended_by_threads_at_once(nodes):
    def lives():
        with Cluster(**nodes.options) as cluster:
            session = cluster.connect()
            one_at_a_time(session, session.prepare(SELECT), 1)

    together(*[lives] * 3)
