"""Asynchronous requests: futures, callbacks, errbacks, listeners."""
# ruff: noqa: T201  (a program prints)

import threading

from cassandra import InvalidRequest
from cassandra.query import SimpleStatement
from keyspaces import connected

with connected() as (_, session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    futures = [
        session.execute_async("INSERT INTO t (k, v) VALUES (%s, %s)", (k, str(k)))
        for k in range(20)
    ]
    for future in futures:
        future.result()
    print(session.execute("SELECT count(*) FROM t").one()[0])

    done = threading.Event()
    seen = []

    def on_rows(rows, *labels, **more):
        """Remember."""
        seen.append((sorted(row.k for row in rows)[:3], labels, more))
        done.set()

    def on_error(error, label):
        """Remember."""
        seen.append((type(error).__name__, label))
        done.set()

    future = session.execute_async("SELECT k FROM t")
    future.add_callback(on_rows, "first", second="kw")
    done.wait(30)
    future.add_callback(on_rows, "late")
    done.clear()
    future = session.execute_async("SELECT nothing FROM t")
    future.add_callbacks(on_rows, on_error, errback_args=("label",))
    done.wait(30)
    print(seen)
    try:
        future.result()
    except InvalidRequest as error:
        print("InvalidRequest", "nothing" in str(error))
    print(future.query.query_string, future.has_more_pages, future.warnings)

    def count(future, counted):
        """A listener of every request."""
        counted.append(future.query)

    counted = []
    session.add_request_init_listener(count, counted)
    session.execute(SimpleStatement("SELECT * FROM t LIMIT 1"))
    session.remove_request_init_listener(count, counted)
    session.execute("SELECT * FROM t LIMIT 1")
    print([query.query_string for query in counted])
