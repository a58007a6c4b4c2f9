"""Every CQL type, bound and as a literal, there and back."""
# ruff: noqa: T201  (the program writes its own CQL, and prints)

import datetime as dt
import uuid
from decimal import Decimal

from cassandra.util import Date, Duration, Time, sortedset, uuid_from_time
from keyspaces import connected

STAMP = dt.datetime(2024, 2, 29, 12, 0, 0, 5000)  # noqa: DTZ001  (CQL's are naive UTC)
TIMEUUID = uuid_from_time(STAMP, node=1, clock_seq=2)
VALUES = {
    "ascii": "plain",
    "bigint": -(2**60),
    "blob": b"\x00\xff",
    "boolean": True,
    "date": Date("2024-02-29"),
    "decimal": Decimal("12.34"),
    "double": 1.5,
    "duration": Duration(1, 2, 3_000_000_000),
    "float": 0.25,
    "inet": "2001:db8::1",
    "int": 42,
    "smallint": -3,
    "text": "naïve 😀",
    "time": Time("23:59:59.999999999"),
    "timestamp": STAMP,
    "timeuuid": TIMEUUID,
    "tinyint": 7,
    "uuid": uuid.UUID(int=99),
    "varint": 10**30,
    "list<int>": [1, 2],
    "set<text>": sortedset(["b", "a"]),
    "map<text, int>": {"k": 1},
    "frozen<map<int, frozen<list<text>>>>": {1: ["x"]},
    "tuple<int, text, double>": (1, "t", 0.5),
    "vector<float, 3>": [1.0, 2.0, 3.0],
}
#: A literal cannot say these, or says them otherwise.
BOUND_ONLY = {"tuple<int, text, double>"}

with connected() as (_, session):
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(VALUES))
    session.execute(f"CREATE TABLE t (k int PRIMARY KEY, {columns})")
    for number, (kind, value) in enumerate(VALUES.items()):
        insert = session.prepare(f"INSERT INTO t (k, c{number}) VALUES (?, ?)")
        session.execute(insert, (number, value))
        if kind not in BOUND_ONLY:
            session.execute(f"INSERT INTO t (k, c{number}) VALUES (%s, %s)", (100 + number, value))
        for key in (number, 100 + number):
            row = session.execute(f"SELECT c{number} FROM t WHERE k = {key}").one()
            if row:
                back = row[0]
                print(kind, type(back).__name__, back if kind != "duration" else str(back))
                print("   ", back == value or list(back) == list(value))
    empty = session.prepare("INSERT INTO t (k, c12, c19, c20, c21) VALUES (500, ?, ?, ?, ?)")
    session.execute(empty, ("", [], set(), {}))
    print(session.execute("SELECT c12, c19, c20, c21, c10 FROM t WHERE k = 500").one())
