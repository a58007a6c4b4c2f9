"""Requests that nobody waits for any more: their streams come back with their answers."""

import asyncio
import threading

import pytest
from cql_node import QUERY, SILENCE, VOID, rows
from loops import eventually

from driver.net.errors import ConnectionBusy
from driver.protocol.errors import OperationTimedOut
from driver.types import Int32Type
from driver.wire.requests import QueryMessage

SELECT = QueryMessage("SELECT v FROM t", 1)


@pytest.fixture(autouse=True)
def _silence(node):
    node.when("FROM t", SILENCE)


def test_a_timeout_orphans_the_stream_until_its_answer_comes(run, connect, node):
    async def main():
        connection = await connect(node, max_requests=1)
        with pytest.raises(OperationTimedOut, match=str(node.port)) as caught:
            await connection.ask(SELECT, timeout=0.05)
        assert caught.value.last_host == node.endpoint
        assert connection.orphaned_request_ids == {0}
        assert connection.in_flight == 1
        with pytest.raises(ConnectionBusy):
            connection.get_request_id()
        await eventually(lambda: node.count(QUERY) == 1)
        node.answer_later(node.requests[-1], VOID)
        await eventually(lambda: not connection.orphaned_request_ids)
        assert connection.in_flight == 0
        assert connection.get_request_id() == 0
        connection.close()

    run(main())


def test_a_late_answer_never_reaches_another_request(run, connect, node):
    async def main():
        connection = await connect(node, max_requests=2)
        with pytest.raises(OperationTimedOut):
            await connection.ask(SELECT, timeout=0.02)
        await eventually(lambda: node.count(QUERY) == 1)
        late = node.requests[-1]
        waiting = asyncio.ensure_future(connection.ask(SELECT))
        await eventually(lambda: node.count(QUERY) == 2)
        node.answer_later(late, rows([("v", Int32Type)], [(1,)]))
        node.answer_later(node.requests[-1], rows([("v", Int32Type)], [(2,)]))
        assert (await waiting).parsed_rows == [(2,)]
        connection.close()

    run(main())


def test_cancelling_frees_the_stream_when_the_answer_comes(run, connect, node):
    async def main():
        connection = await connect(node)
        asking = [asyncio.ensure_future(connection.ask(SELECT)) for _ in range(10)]
        await eventually(lambda: node.count(QUERY) == 10)
        for task in asking:
            task.cancel()
        results = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        assert len(connection.orphaned_request_ids) == connection.in_flight == 10
        for request in node.requests[-10:]:
            node.answer_later(request, VOID)
        await eventually(lambda: connection.in_flight == 0)
        connection.close()

    run(main())


def test_an_abandoned_request_is_not_called_back_even_by_the_end(run, connect, node):
    async def main():
        connection = await connect(node)
        stream = connection.get_request_id()
        connection.send_msg(SELECT, stream, lambda _: pytest.fail("it was called"))
        connection.abandon(stream)
        connection.abandon(stream)
        connection.close()

    run(main())


def test_a_request_that_was_answered_is_not_orphaned(run, connect, node):
    node.when("FROM t", VOID)

    async def main():
        connection = await connect(node)
        answers = []
        stream = connection.get_request_id()
        connection.send_msg(SELECT, stream, answers.append)
        await eventually(lambda: answers)
        connection.abandon(stream)
        assert not connection.orphaned_request_ids
        assert connection.in_flight == 0
        connection.close()

    run(main())


def test_other_threads_may_abandon(run, connect, node):
    async def main():
        connection = await connect(node)
        stream = connection.get_request_id()
        connection.send_msg(SELECT, stream, print)
        thread = threading.Thread(target=connection.abandon, args=(stream,))
        thread.start()
        await eventually(lambda: connection.orphaned_request_ids == {stream})
        thread.join()
        connection.close()

    run(main())


def test_three_quarters_of_the_streams_are_too_many_orphans(run, connect, node):
    async def main():
        connection = await connect(node, max_requests=8)
        for count in range(8):
            assert connection.orphaned_threshold_reached is (count > 6)
            stream = connection.get_request_id()
            connection.send_msg(SELECT, stream, print)
            connection.abandon(stream)
        connection.close()

    run(main())
