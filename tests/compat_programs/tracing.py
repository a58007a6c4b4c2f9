"""Tracing, warnings and custom payloads."""
# ruff: noqa: T201  (a program prints)

from cassandra import ConsistencyLevel
from cassandra.query import SimpleStatement
from keyspaces import connected

with connected() as (_, session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY)")
    result = session.execute("SELECT * FROM t WHERE k = 1", trace=True)
    trace = result.get_query_trace(max_wait_sec=20)
    print(trace.request_type, trace.parameters["query"], trace.duration.total_seconds() > 0)
    print(len(trace.events) > 2, trace.coordinator is not None, trace.started_at is not None)
    event = trace.events[0]
    print(bool(event.description), event.source == trace.coordinator, event.thread_name is not None)
    print(len(result.get_all_query_traces(20)), result.response_future.get_query_trace_ids() != [])

    future = session.execute_async(
        SimpleStatement("SELECT * FROM t", consistency_level=ConsistencyLevel.ONE), trace=True
    )
    future.result()
    print(future.get_query_trace(max_wait=20, query_cl=ConsistencyLevel.ONE).trace_id is not None)
    print(session.execute("SELECT * FROM t").get_query_trace())

    future = session.execute_async("SELECT * FROM t", custom_payload={"key": b"value"})
    future.result()
    print(future.custom_payload in (None, {"key": b"value"}), future.warnings)
    prepared = session.prepare("SELECT * FROM t")
    prepared.custom_payload = {"a": b"1"}
    print(session.execute(prepared.bind(())).one())
