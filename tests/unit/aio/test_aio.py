"""The awaitable driver: the same cluster on the application's own loop, and nothing left on it."""

import asyncio
import contextlib
import random
import threading
from pathlib import Path

import pytest
from control_core import until
from cql_cluster import CqlCluster, eventually
from cql_node import SILENCE, error, rows

from driver.aio import AsyncResultSet, Cluster
from driver.aio import session as session_module
from driver.cluster import ClusterOptions, ExecutionProfile
from driver.net.errors import ConnectionException
from driver.policies import RoundRobinPolicy
from driver.protocol.errors import (
    DriverException,
    InvalidRequest,
    NoHostAvailable,
    OperationTimedOut,
)
from driver.results.rows import dict_factory
from driver.types import Int32Type

COLUMNS = [("k", Int32Type)]
INSERT = "INSERT INTO t (k) VALUES (?)"


@pytest.fixture
def nodes():
    with CqlCluster(2) as found:
        found.when("FROM t", rows(COLUMNS, [(1,), (2,)]))
        found.prepare(INSERT, markers=COLUMNS)
        yield found


@contextlib.asynccontextmanager
async def connected(nodes, keyspace=None, **options):
    async with Cluster(**nodes.options, **options) as cluster:
        yield await cluster.connect(keyspace, wait_for_all_pools=True)


def page(request):
    """Three pages, the second of them empty."""
    columns = COLUMNS
    if b"third" in request.body:
        return rows(columns, [(3,)])
    if b"second" in request.body:
        return rows(columns, [], paging_state=b"third")
    return rows(columns, [(1,), (2,)], paging_state=b"second")


def in_flight(session):
    return sum(pool.in_flight for pool in session.get_pools())


def orphans(session):
    return sum(sum(state["orphan_requests"]) for state in session.get_pool_state().values())


def files():
    """How many are open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def becomes(is_so):
    """Wait until something becomes so."""
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110  (nothing tells when it does)
            await asyncio.sleep(0.005)


def test_a_statement_is_awaited(nodes):
    async def main():
        async with connected(nodes, "ks") as session:
            result = await session.execute("SELECT k FROM t WHERE k = %s", (1,))
            assert session.keyspace == "ks"
            assert result.one().k == 1
            assert [row.k for row in result.current_rows] == [1, 2]
            assert result.column_names == ["k"]
            assert result
            assert not await session.execute("INSERT INTO t (k) VALUES (1)")

    asyncio.run(main())
    assert "SELECT k FROM t WHERE k = 1" in nodes.texts


def test_pages_are_fetched_as_they_are_reached(nodes):
    nodes.when("FROM paged", page)

    async def main():
        async with connected(nodes) as session:
            text = "SELECT k FROM paged"
            assert [row.k async for row in await session.execute(text)] == [1, 2, 3]
            assert [row.k async for row in session.stream(text)] == [1, 2, 3]
            assert [row.k for row in await (await session.execute(text)).all()] == [1, 2, 3]

    asyncio.run(main())


def test_pages_are_fetched_by_hand_and_from_a_state(nodes):
    nodes.when("FROM paged", page)

    async def main():
        async with connected(nodes) as session:
            result = await session.execute("SELECT k FROM paged")
            state = result.paging_state
            assert state == b"second"
            seen = [list(result.current_rows)]
            while result.has_more_pages:
                await result.fetch_next_page()
                seen.append(list(result.current_rows))
            assert [[row.k for row in rows_] for rows_ in seen] == [[1, 2], [], [3]]
            await result.fetch_next_page()
            assert result.current_rows == []
            rest = await session.execute("SELECT k FROM paged", paging_state=state)
            assert [row.k async for row in rest] == [3]

    asyncio.run(main())


def test_tasks_that_go_through_one_result_get_its_pages_and_come_to_an_end(nodes):
    nodes.when("FROM paged", page)

    async def main():
        async with connected(nodes) as session:
            result = await session.execute("SELECT k FROM paged")

            async def rest():
                return [row.k async for row in result]

            found = await asyncio.wait_for(asyncio.gather(rest(), rest()), 30)
            assert [rows[:2] for rows in found] == [[1, 2]] * 2
            assert {row for rows in found for row in rows} == {1, 2, 3}

    asyncio.run(main())


def test_further_pages_make_no_further_result_sets(nodes, monkeypatch):
    nodes.when("FROM paged", page)
    made = []

    class Counted(AsyncResultSet):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(type(self))

        async def __aiter__(self):
            made.append("a generator")
            async for row in super().__aiter__():
                yield row

    monkeypatch.setattr(session_module._Response, "page_class", Counted)

    async def main():
        async with connected(nodes) as session:
            result = await session.execute("SELECT k FROM paged")
            while result.has_more_pages:
                await result.fetch_next_page()
            assert made == [Counted]
            assert len(await (await session.execute("SELECT k FROM paged")).all()) == 3
            assert made == [Counted] * 2

    asyncio.run(main())


def test_prepared_statements_profiles_and_hosts_work_as_in_threads(nodes):
    profile = ExecutionProfile(RoundRobinPolicy(), row_factory=dict_factory)

    async def main():
        async with connected(nodes, execution_profiles={"dicts": profile}) as session:
            prepared = await session.prepare(INSERT)
            for host in session.hosts:
                result = await session.execute(prepared, (1,), host=host)
                assert result.response_future.coordinator_host == host
            found = await session.execute("SELECT k FROM t", execution_profile="dicts")
            assert found.one() == {"k": 1}
            await session.set_keyspace("other")
            assert session.keyspace == "other"

    asyncio.run(main())
    assert [node.count(0x09) for node in nodes.nodes] == [1, 1]


def test_what_the_server_says_is_raised(nodes):
    nodes.when("nonsense", error(0x2200, "makes no sense"))

    async def main():
        async with connected(nodes) as session:
            with pytest.raises(InvalidRequest, match="makes no sense"):
                await session.execute("nonsense")

    asyncio.run(main())


def test_a_cancelled_request_frees_its_stream_as_soon_as_the_late_answer_came(nodes):
    release = threading.Event()

    async def answer_late(_):
        await asyncio.get_running_loop().run_in_executor(None, release.wait)
        return rows(COLUMNS, [(1,)])

    nodes.when("FROM slow", answer_late)

    async def main():
        async with connected(nodes) as session:
            task = asyncio.create_task(session.execute("SELECT * FROM slow", timeout=None))
            await becomes(lambda: in_flight(session) == 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (in_flight(session), orphans(session)) == (1, 1)
            release.set()
            await becomes(lambda: (in_flight(session), orphans(session)) == (0, 0))
            assert session.core.timers.pending == 0
            assert (await session.execute("SELECT k FROM t")).one().k == 1

    asyncio.run(main())


def test_a_timeout_of_the_application_cancels_and_one_of_the_driver_names_the_host(nodes):
    nodes.when("FROM slow", SILENCE)

    async def main():
        async with connected(nodes) as session:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await session.execute("SELECT * FROM slow")
            with pytest.raises(OperationTimedOut) as caught:
                await session.execute("SELECT * FROM slow", timeout=0.05)
            assert caught.value.last_host in session.hosts
            assert orphans(session) == 2
            with pytest.raises(OperationTimedOut, match="was over before"):
                await session.execute("SELECT * FROM slow", timeout=-1)

    asyncio.run(main())


def test_many_statements_are_executed_at_a_time_in_their_order(nodes):
    nodes.when("bad", error(0x2200, "bad"))

    async def main():
        async with connected(nodes) as session:
            prepared = await session.prepare(INSERT)
            done = await session.execute_concurrent_with_args(prepared, [(k,) for k in range(50)])
            assert [result.success for result in done] == [True] * 50
            mixed = [("SELECT k FROM t", None), ("bad", None), ("SELECT k FROM t", None)]
            done = await session.execute_concurrent(mixed, raise_on_first_error=False)
            assert [result.success for result in done] == [True, False, True]
            assert isinstance(done[1].result_or_exc, InvalidRequest)
            with pytest.raises(InvalidRequest):
                await session.execute_concurrent(mixed)
            with pytest.raises(ValueError, match="concurrency"):
                await session.execute_concurrent(mixed, concurrency=0)
            with pytest.raises(TypeError, match=r"are pairs .*, not <PreparedStatement"):
                await session.execute_concurrent([mixed[0], prepared])

    asyncio.run(main())


def test_no_more_statements_are_on_their_way_than_asked_for(nodes):
    most = 0

    async def main():
        nonlocal most
        async with connected(nodes) as session:

            def statements():
                nonlocal most
                for k in range(40):
                    most = max(most, in_flight(session))
                    yield "INSERT INTO t (k) VALUES (%s)", (k,)

            await session.execute_concurrent(statements(), concurrency=3)

    asyncio.run(main())
    assert 0 < most <= 3


def test_shutdown_leaves_no_task_no_socket_no_thread_and_no_file(nodes):
    async def main():
        threads, before = set(threading.enumerate()), files()
        tasks = asyncio.all_tasks()
        async with connected(nodes, "ks") as session:
            await session.execute("SELECT k FROM t")
            assert set(threading.enumerate()) == threads, "the driver needs no thread"
        await becomes(lambda: files() == before)
        assert asyncio.all_tasks() == tasks

    asyncio.run(main())
    assert eventually(lambda: not any(node.clients for node in nodes.nodes))


def test_a_session_is_shut_down_by_itself_and_its_cluster_again_and_again(nodes):
    async def main():
        cluster = Cluster(**nodes.options)
        async with await cluster.connect() as session:
            await session.execute("SELECT 1")
        assert session.is_shutdown
        with pytest.raises(NoHostAvailable, match="was shut down"):
            await session.execute("SELECT 1")
        await cluster.shutdown()
        await cluster.shutdown()
        with pytest.raises(DriverException, match="was shut down"):
            await cluster.connect()

    asyncio.run(main())


def test_a_failed_connect_leaves_nothing_and_says_why(nodes):
    for node in nodes.nodes:
        node.stop_listening()

    async def main():
        tasks = asyncio.all_tasks()
        with pytest.raises(NoHostAvailable) as caught:
            await Cluster(**nodes.options).connect()
        assert isinstance(next(iter(caught.value.errors.values())), ConnectionException)
        assert asyncio.all_tasks() == tasks

    asyncio.run(main())


def test_a_shutdown_that_is_cancelled_goes_on_and_can_be_waited_for_again(nodes):
    nodes.when("FROM slow", SILENCE)

    async def run():
        before = asyncio.all_tasks()
        cluster = Cluster(**nodes.options)
        session = await cluster.connect()
        waiting = asyncio.create_task(session.execute("SELECT * FROM slow"))
        await until(lambda: nodes.texts)
        shutdown = asyncio.create_task(cluster.shutdown())
        await asyncio.sleep(0)
        shutdown.cancel()
        with pytest.raises(asyncio.CancelledError):
            await shutdown
        again = asyncio.create_task(cluster.shutdown())
        await asyncio.sleep(0)
        assert not again.done()
        for node in nodes.nodes:
            node.drop_connections()  # nothing is left to be waited for
        with pytest.raises(DriverException):
            await waiting
        await again
        assert asyncio.all_tasks() == before

    asyncio.run(run())
    assert eventually(lambda: not any(node.clients for node in nodes.nodes))


def test_a_connect_that_is_cancelled_leaves_nothing(nodes):
    for node in nodes.nodes:
        node.fall_silent()

    async def main():
        tasks = asyncio.all_tasks()
        cluster = Cluster(**nodes.options)
        connecting = asyncio.create_task(cluster.connect())
        await becomes(lambda: nodes.nodes[0].clients)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        assert asyncio.all_tasks() == tasks
        assert cluster.is_shutdown

    asyncio.run(main())
    assert eventually(lambda: not any(node.clients for node in nodes.nodes))


def test_a_cluster_that_is_shut_down_while_it_connects_leaves_nothing(nodes):
    async def main():
        tasks, before = asyncio.all_tasks(), files()
        for _ in range(30):
            cluster = Cluster(**nodes.options)
            connecting = asyncio.create_task(cluster.connect("ks"))
            for _ in range(random.randrange(40)):
                await asyncio.sleep(0)
            await cluster.shutdown()
            with contextlib.suppress(DriverException):
                await connecting
        await becomes(lambda: files() == before)
        assert asyncio.all_tasks() == tasks

    asyncio.run(main())
    assert eventually(lambda: not any(node.clients for node in nodes.nodes))


def test_a_cluster_belongs_to_the_loop_on_which_it_was_connected(nodes):
    cluster = Cluster.from_options(ClusterOptions(**nodes.options))
    with asyncio.Runner() as one, asyncio.Runner() as other:
        one.run(cluster.connect())
        with pytest.raises(RuntimeError, match="another event loop"):
            other.run(cluster.connect())
        one.run(cluster.shutdown())


def test_refreshing_is_awaited(nodes):
    async def main():
        async with Cluster(**nodes.options) as cluster:
            await cluster.connect()
            nodes.members.remove(1)
            await cluster.refresh_nodes()
            assert len(cluster.metadata.all_hosts()) == 1
            await cluster.refresh_schema_metadata(0)
            await cluster.add_execution_profile("all", ExecutionProfile(RoundRobinPolicy()))

    asyncio.run(main())


def test_the_driver_runs_on_uvloop(nodes):
    uvloop = pytest.importorskip("uvloop")

    async def main():
        async with connected(nodes, "ks") as session:
            return [row.k async for row in session.stream("SELECT k FROM t")]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(main()) == [1, 2]


def test_two_statements_at_a_time_take_no_more_than_two_tasks(nodes):
    async def main():
        async with connected(nodes) as session:
            most = 0
            execute = session.execute

            async def counted(*args, **options):
                nonlocal most
                most = max(most, len(asyncio.all_tasks()))
                return await execute(*args, **options)

            session.execute = counted
            before = len(asyncio.all_tasks())
            done = await session.execute_concurrent([("SELECT k FROM t", None)] * 2)
            assert [result.success for result in done] == [True, True]
            assert most <= before + 2

    asyncio.run(main())


def test_reprs_say_what_it_is(nodes):
    async def main():
        async with Cluster(**nodes.options) as cluster:
            assert "not connected" in repr(cluster)
            session = await cluster.connect("ks", wait_for_all_pools=True)
            assert repr(session) == "<Session: keyspace ks, 2 pools>"
            assert repr(await session.execute("SELECT k FROM t")) == "<AsyncResultSet: 2 rows>"
            assert "'Test Cluster', contact points 127.0.0.1, connected" in repr(cluster)
            await session.shutdown()
            assert repr(session).endswith(", shut down>")
        assert repr(cluster).endswith(", shut down>")

    asyncio.run(main())
