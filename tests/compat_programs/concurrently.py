"""execute_concurrent and its kin."""
# ruff: noqa: T201  (a program prints)

from cassandra import InvalidRequest
from cassandra.concurrent import execute_concurrent, execute_concurrent_with_args
from keyspaces import connected

with connected() as (_, session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v int)")
    insert = session.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    select = session.prepare("SELECT v FROM t WHERE k = ?")
    results = execute_concurrent_with_args(session, insert, [(k, k * k) for k in range(50)])
    print(len(results), all(success for success, _ in results))
    results = execute_concurrent_with_args(
        session, select, [(k,) for k in range(50)], concurrency=7
    )
    print([result.one().v for _, result in results][:5])
    for success, rows in execute_concurrent(
        session, [(select, (3,)), ("SELECT v FROM t WHERE k = 4", None)]
    ):
        print(success, rows.one().v)
    mixed = [("SELECT nope FROM t", ()), (select, (5,))]
    for success, value in execute_concurrent(session, mixed, raise_on_first_error=False):
        print(success, type(value).__name__ if not success else value.one().v)
    try:
        execute_concurrent(session, mixed, concurrency=1)
    except InvalidRequest:
        print("raised")
    generated = execute_concurrent_with_args(
        session, select, ((k,) for k in range(5)), results_generator=True
    )
    print([(result.success, result.result_or_exc.one().v) for result in generated])
    print(len(session.execute_concurrent_with_args(select, [(1,), (2,)])))
    print(len(session.execute_concurrent([(select, (1,))])))
