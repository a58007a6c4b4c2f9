"""The awaitable session against a real node, on asyncio's own loop and on uvloop."""

import asyncio
import contextlib
import gc
import re

import pytest

from driver.aio import Cluster
from driver.protocol.errors import (
    DriverException,
    InvalidRequest,
    NoHostAvailable,
    OperationTimedOut,
)
from driver.statements import BatchStatement, SimpleStatement
from tests.integration.leaks import threads
from tests.integration.rings import VERSIONS

COUNT = 250


def _uvloop():
    return pytest.importorskip("uvloop").new_event_loop()


@pytest.fixture(params=[asyncio.new_event_loop, _uvloop], ids=["asyncio", "uvloop"])
def awaited(request, belongings):
    """Runs a coroutine to its end on a loop; nothing of it may be left when the loop is closed."""
    assert belongings
    loop = request.param()
    complaints = []
    loop.set_exception_handler(lambda _, context: complaints.append(context))

    def run(coroutine):
        value = loop.run_until_complete(coroutine)
        assert asyncio.all_tasks(loop) == set()
        return value

    yield run
    gc.collect()  # exceptions that nobody fetched are told of by then
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    assert complaints == []


@pytest.fixture
def connected(one_node, keyspace_name):
    """A session in a keyspace of its own, as an asynchronous context."""

    @contextlib.asynccontextmanager
    async def session(**options):
        async with Cluster(one_node.addresses, **options) as cluster:
            made = await cluster.connect()
            await made.execute(
                f"CREATE KEYSPACE {keyspace_name} WITH replication = "
                "{'class': 'SimpleStrategy', 'replication_factor': 1}"
            )
            await made.set_keyspace(keyspace_name)
            await made.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
            try:
                yield made
            finally:
                await made.execute(f"DROP KEYSPACE {keyspace_name}", timeout=30)

    return session


async def fill(session):
    insert = await session.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    await session.execute_concurrent_with_args(insert, [(k, str(k)) for k in range(COUNT)])


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_are_written_and_read(awaited, connected, version):
    async def main():
        async with connected(protocol_version=version) as session:
            insert = await session.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
            await session.execute(insert, (1, "bound"))
            await session.execute("INSERT INTO t (k, v) VALUES (%s, %s)", (2, "it's simple"))
            batch = BatchStatement()
            batch.add(insert, (3, "batched"))
            await session.execute(batch)
            return sorted((await session.execute("SELECT k, v FROM t")).current_rows)

    assert awaited(main()) == [(1, "bound"), (2, "it's simple"), (3, "batched")]


def test_no_thread_is_started(awaited, connected):
    async def main():
        before = threads()
        async with connected() as session:
            await session.execute("SELECT * FROM t")
            return before, threads()

    before, during = awaited(main())
    # Asking the resolver for a name is done by the loop's own pool of threads.
    assert [name for name in during if name not in before and "asyncio" not in name] == []


def test_iteration_goes_over_all_pages(awaited, connected):
    async def main():
        async with connected() as session:
            await fill(session)
            paged = SimpleStatement("SELECT k FROM t", fetch_size=40)
            result = await session.execute(paged)
            assert (len(result.current_rows), result.has_more_pages) == (40, True)
            iterated = [row.k async for row in result]
            streamed = [row.k async for row in session.stream(paged)]
            by_hand = await session.execute(paged)
            pages = [len(by_hand.current_rows)]
            while by_hand.has_more_pages:
                await by_hand.fetch_next_page()
                pages.append(len(by_hand.current_rows))
            everything = await (await session.execute(paged)).all()
            return iterated, streamed, pages, [row.k for row in everything]

    iterated, streamed, pages, everything = awaited(main())
    assert sorted(iterated) == sorted(streamed) == sorted(everything) == list(range(COUNT))
    assert pages == [40] * 6 + [10]


def test_a_stream_may_be_left_before_its_end(awaited, connected):
    async def main():
        async with connected() as session:
            await fill(session)
            paged = SimpleStatement("SELECT k FROM t", fetch_size=10)
            rows = session.stream(paged)
            async for _ in rows:
                break
            await rows.aclose()
            return (await session.execute("SELECT count(*) FROM t")).one()[0]

    assert awaited(main()) == COUNT


def test_errors_are_raised_where_they_are_awaited(awaited, connected):
    async def main():
        async with connected() as session:
            with pytest.raises(InvalidRequest, match="nothing"):
                await session.execute("SELECT nothing FROM t")
            with pytest.raises(InvalidRequest, match="nothing"):
                await session.prepare("SELECT nothing FROM t")
            statements = [("SELECT k FROM t", ()), ("SELECT nothing FROM t", ())]
            with pytest.raises(InvalidRequest):
                await session.execute_concurrent(statements)
            return await session.execute_concurrent(statements, raise_on_first_error=False)

    assert [result.success for result in awaited(main())] == [True, False]


def test_many_requests_wait_at_once(awaited, connected):
    async def main():
        async with connected() as session:
            await fill(session)
            read = await session.prepare("SELECT v FROM t WHERE k = ?")
            results = await asyncio.gather(
                *(session.execute(read, (k % COUNT,)) for k in range(2000))
            )
            return [result.one().v for result in results]

    assert awaited(main()) == [str(k % COUNT) for k in range(2000)]


def in_flight(session):
    return sum(
        connection["in_flight"] if isinstance(connection, dict) else connection
        for state in session.get_pool_state().values()
        for connection in state["in_flights"]
    )


def test_cancelling_a_request_frees_its_stream(awaited, connected, one_node):
    async def main():
        async with connected() as session:
            await fill(session)
            before = in_flight(session)
            one_node.pause(1)
            try:
                tasks = [
                    asyncio.create_task(session.execute("SELECT * FROM t")) for _ in range(300)
                ]
                await asyncio.sleep(0.2)
                assert in_flight(session) == before + 300
                for task in tasks:
                    task.cancel()
                ends = await asyncio.gather(*tasks, return_exceptions=True)
            finally:
                one_node.resume(1)
            assert {type(end) for end in ends} == {asyncio.CancelledError}
            for _ in range(500):  # the late answers come
                if in_flight(session) == before:
                    break
                await asyncio.sleep(0.02)
            assert in_flight(session) == before
            return (await session.execute("SELECT count(*) FROM t")).one()[0]

    assert awaited(main()) == COUNT


def test_a_timeout_of_asyncio_and_one_of_the_driver_end_a_request(awaited, connected, one_node):
    async def main():
        async with connected() as session:
            one_node.pause(1)
            try:
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.3):
                        await session.execute("SELECT * FROM t")
                with pytest.raises(OperationTimedOut, match=re.escape(one_node.addresses[0])):
                    await session.execute("SELECT * FROM t", timeout=0.3)
            finally:
                one_node.resume(1)
            return (await session.execute("SELECT count(*) FROM t", timeout=30)).one()[0]

    assert awaited(main()) == 0


def test_a_cluster_that_is_not_there_is_an_error_that_names_it(awaited):
    async def main():
        with pytest.raises(NoHostAvailable, match=r"127\.0\.0\.250"):
            async with Cluster(["127.0.0.250"]) as cluster:
                await cluster.connect()

    awaited(main())


def test_traces_are_awaited(awaited, connected, one_node):
    async def main():
        async with connected() as session:
            result = await session.execute("SELECT * FROM t", trace=True)
            return await result.get_query_trace(20)

    trace = awaited(main())
    assert trace.coordinator == one_node.addresses[0]
    assert trace.duration.total_seconds() > 0


def test_a_session_that_was_shut_down_refuses_requests(awaited, one_node):
    async def main():
        cluster = Cluster(one_node.addresses)
        session = await cluster.connect()
        await cluster.shutdown()
        await cluster.shutdown()
        with pytest.raises(DriverException, match="shut down"):
            await session.execute("SELECT * FROM system.local")

    awaited(main())


def test_schema_changes_are_awaited_until_they_are_known(awaited, connected, keyspace_name):
    async def main():
        async with connected() as session:
            await session.execute("CREATE TABLE u (k int PRIMARY KEY)")
            return set(session.cluster.metadata.keyspaces[keyspace_name].tables)

    assert awaited(main()) == {"t", "u"}
