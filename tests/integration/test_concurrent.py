"""Many requests at once, their results in the order of their parameters."""

import pytest

from driver.execution.concurrent import (
    ExecutionResult,
    execute_concurrent,
    execute_concurrent_with_args,
)
from driver.protocol.errors import InvalidRequest

COUNT = 500


@pytest.fixture
def table(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    return session


def test_parameters_are_executed_and_results_come_in_their_order(table):
    insert = table.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    read = table.prepare("SELECT k, v FROM t WHERE k = ?")
    written = execute_concurrent_with_args(
        table, insert, [(k, str(k)) for k in range(COUNT)], concurrency=32
    )
    assert all(success for success, _ in written)
    found = execute_concurrent_with_args(table, read, [(k,) for k in range(COUNT)])
    assert [tuple(result.one()) for _, result in found] == [(k, str(k)) for k in range(COUNT)]


def test_results_can_be_taken_as_they_are_needed(table):
    read = table.prepare("SELECT k FROM t WHERE k = ?")
    results = execute_concurrent(
        table, ((read, (k,)) for k in range(COUNT)), concurrency=16, results_generator=True
    )
    assert sum(success for success, _ in results) == COUNT


def test_the_first_error_is_raised_or_all_are_kept(table):
    statements = [("SELECT * FROM t", ()), ("SELECT nothing FROM t", ()), ("SELECT k FROM t", ())]
    with pytest.raises(InvalidRequest):
        execute_concurrent(table, statements, raise_on_first_error=True)
    results = execute_concurrent(table, statements, raise_on_first_error=False)
    assert [result.success for result in results] == [True, False, True]
    assert isinstance(results[1], ExecutionResult)
    assert isinstance(results[1].result_or_exc, InvalidRequest)


def test_nothing_to_execute_is_no_result(table):
    assert list(execute_concurrent(table, [])) == []


@pytest.mark.parametrize("concurrency", [1, 64])
def test_a_session_executes_concurrently_by_itself(table, concurrency):
    insert = table.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    results = table.execute_concurrent_with_args(
        insert, [(k, "v") for k in range(100)], concurrency=concurrency
    )
    assert len(results) == 100
    assert table.execute("SELECT count(*) FROM t").one()[0] == 100


def test_more_requests_than_are_answered_at_once_are_all_answered(table):
    read = table.prepare("SELECT k FROM t WHERE k = ?")
    futures = [table.execute_async(read, (k,)) for k in range(3000)]
    assert sum(1 for future in futures if future.result() is not None) == 3000
