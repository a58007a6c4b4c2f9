"""One process of one driver that asks a real node: requests a second, processor time a request.

Started as a module with a request (JSON) as its argument: ``{"driver": "ours" | "theirs", "task":
"prepare" | "ask", "host": ..., "port": ..., "scale": 1.0}``. Prints JSON. All drivers have
`Cluster`, `Session` and `execute_concurrent_with_args`, and run with their defaults.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Where each driver has its cluster, and requests side by side.
PACKAGES = {
    "ours": ("driver.cluster", "driver.execution.concurrent"),
    "theirs": ("cassandra.cluster", "cassandra.concurrent"),
}
KEYSPACE, PARTITIONS, ROWS = "against_peers", 200, 100
TABLE = """CREATE TABLE IF NOT EXISTS readings (
    sensor int, seq int, at timestamp, value double, valid boolean, note text,
    PRIMARY KEY (sensor, seq))"""
INSERT = "INSERT INTO readings (sensor, seq, at, value, valid, note) VALUES (?, ?, ?, ?, ?, ?)"
POINT = "SELECT at, value, valid, note FROM readings WHERE sensor = ? AND seq = ?"
RANGE = "SELECT seq, at, value, valid, note FROM readings WHERE sensor = ?"
AT = 1_773_995_640_000


@dataclass(frozen=True)
class Load:
    """One kind of request.

    Attributes:
        name: in tables.
        query: CQL.
        values: of request number n.
        flying: requests in flight; 1: one after the other.
        number: of requests.
        rows: that each of them answers.
    """

    name: str
    query: str
    values: Callable[[int], tuple[Any, ...]]
    flying: int
    number: int
    rows: int


def of_reading(number: int) -> tuple[Any, ...]:
    """A row to insert."""
    sensor, seq = number // ROWS % PARTITIONS, number % ROWS
    return sensor, seq, AT + number, number / 7, number % 2 == 0, f"reading {number} of a sensor"


LOADS = (
    Load("point select, one at a time", POINT, lambda n: of_reading(n)[:2], 1, 2000, 1),
    Load("point select, 128 in flight", POINT, lambda n: of_reading(n)[:2], 128, 10_000, 1),
    Load("100 rows, 32 in flight", RANGE, lambda n: (n % PARTITIONS,), 32, 2000, ROWS),
    Load("insert, 128 in flight", INSERT, of_reading, 128, 10_000, 0),
)


def main(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Connect, do the task, disconnect."""
    package, concurrent = PACKAGES[asked["driver"]]
    cluster = import_module(package).Cluster([asked["host"]], port=asked["port"])
    try:
        session = cluster.connect()
        if asked["task"] == "prepare":
            return prepare(session)
        together = import_module(concurrent).execute_concurrent_with_args
        return ask(session, together, asked["scale"])
    finally:
        cluster.shutdown()


def prepare(session: Any) -> dict[str, Any]:  # noqa: ANN401  (whichever driver's)
    """Make the table and its rows."""
    session.execute(
        f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.set_keyspace(KEYSPACE)
    session.execute(TABLE)
    statement = session.prepare(INSERT)
    for sensor in range(PARTITIONS):
        for future in [
            session.execute_async(statement, of_reading(sensor * ROWS + seq)) for seq in range(ROWS)
        ]:
            future.result()
    return {}


def ask(session: Any, together: Callable[..., Any], scale: float) -> dict[str, Any]:  # noqa: ANN401  (whichever driver's)
    """Run every load; seconds, and seconds of this process's processors, a request."""
    session.set_keyspace(KEYSPACE)
    found: dict[str, Any] = {"elapsed": {}, "processor": {}}
    for load in LOADS:
        statement = session.prepare(load.query)
        number = max(load.flying, round(load.number * scale))
        run(session, statement, load, max(load.flying, number // 10), together)
        gc.collect()
        clock, spent = time.perf_counter(), time.process_time()
        run(session, statement, load, number, together)
        found["elapsed"][load.name] = (time.perf_counter() - clock) / number
        found["processor"][load.name] = (time.process_time() - spent) / number
    return found


def run(
    session: Any,  # noqa: ANN401  (whichever driver's)
    statement: Any,  # noqa: ANN401  (the same)
    load: Load,
    number: int,
    together: Callable[..., Any],
) -> None:
    """Some requests, whose answers are counted.

    Raises:
        RuntimeError: one answered too few rows.
    """
    asked = [load.values(n) for n in range(number)]
    if load.flying == 1:
        answers = [session.execute(statement, values) for values in asked]
    else:
        answers = [rows for _, rows in together(session, statement, asked, concurrency=load.flying)]
    seen = sum(len(list(rows)) for rows in answers) if load.rows else 0
    if seen != number * load.rows:
        raise RuntimeError(f"{load.name}: {seen} rows, not {number * load.rows}")


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
