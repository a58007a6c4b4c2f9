"""Metrics, logging, timestamps and an own retry of everything that an operator looks at."""
# ruff: noqa: T201  (a program prints)

import logging

from cassandra.timestamps import MonotonicTimestampGenerator
from keyspaces import connected

names = set()


class Remembering(logging.Handler):
    """Keeps the names of loggers."""

    def emit(self, record):
        """Keep one."""
        names.add(record.name)


logging.getLogger("cassandra").setLevel(logging.DEBUG)
logging.getLogger("cassandra").addHandler(Remembering())

with connected(timestamp_generator=MonotonicTimestampGenerator()) as (cluster, session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v int)")
    session.execute("INSERT INTO t (k, v) VALUES (1, 1)")
    first = session.execute("SELECT writetime(v) FROM t").one()[0]
    session.use_client_timestamp = False
    session.execute("INSERT INTO t (k, v) VALUES (1, 2)")
    print(session.execute("SELECT writetime(v) FROM t").one()[0] > first)
    print(session.use_client_timestamp, cluster.metrics_enabled)

print("cassandra.cluster" in names)
print(sorted(name for name in names if not name.startswith("cassandra.")))
