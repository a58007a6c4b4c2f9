"""What every client is asked to do, with which values, and what must come back.

Only the standard library is needed here: clients run in environments that have nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEYSPACE, PARTITIONS, ROWS = "against_peers", 20, 1000
TABLE = f"{KEYSPACE}.board"
COLUMNS = ("sensor", "seq", "at", "value", "valid", "note")
SCHEMA = (
    (
        f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    ),
    (
        f"CREATE TABLE IF NOT EXISTS {TABLE} (sensor int, seq int, at timestamp, value double, "
        "valid boolean, note text, PRIMARY KEY (sensor, seq))"
    ),
)
ALL = ", ".join(COLUMNS)
TEXTS = {
    "insert": f"INSERT INTO {TABLE} ({ALL}) VALUES (?, ?, ?, ?, ?, ?)",
    "select": f"SELECT {ALL} FROM {TABLE} WHERE sensor = ? AND seq = ?",
    "page": f"SELECT {ALL} FROM {TABLE} WHERE sensor = ?",
}
#: The one reading whose answers were recorded: its key is what a load-test node replaces.
RECORDED = 7 * ROWS + 11
AT = datetime(2026, 3, 20, 8, 14, tzinfo=UTC)


@dataclass(frozen=True)
class Case:
    """A kind of request, so many at once.

    Attributes:
        kind: a key of `TEXTS`.
        flying: requests in flight.
        number: of requests that are measured, of a usual run.
    """

    kind: str
    flying: int
    number: int

    @property
    def name(self) -> str:
        """In documents."""
        return f"{self.kind}, {self.flying:,} in flight"


CASES = (
    Case("insert", 1, 500), Case("insert", 64, 2500), Case("insert", 1024, 4096),
    Case("select", 1, 500), Case("select", 64, 2500), Case("select", 1024, 4096),
    Case("page", 1, 40), Case("page", 64, 128),
)  # fmt: skip
#: That would measure the kernel's buffers.
LEFT_OUT = "nobody is asked for 1,024 pages of 1,000 rows in flight: 75 MB of answers"


def reading(number: int) -> tuple[Any, ...]:
    """A row."""
    sensor, seq = number // ROWS % PARTITIONS, number % ROWS
    at = AT + timedelta(milliseconds=number % (ROWS * PARTITIONS))
    value = number % (ROWS * PARTITIONS) / 8
    return sensor, seq, at, value, number % 2 == 0, f"reading {seq} of sensor {sensor}"


def values(kind: str, number: int) -> tuple[Any, ...]:
    """What request number n binds: keys that lie far apart and do not come again soon."""
    return values_of(kind, reading(number * 7919))


def values_of(kind: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a request about a row binds."""
    return {"insert": row, "select": row[:2], "page": row[:1]}[kind]


def expected(kind: str, bound: Sequence[Any], *, recorded: bool) -> list[tuple[Any, ...]]:
    """The rows that a request must get.

    Args:
        kind: of request.
        bound: what it bound.
        recorded: whether a load-test node answers, which knows one reading under every key.
    """
    if kind == "insert":
        return []
    sensor = RECORDED // ROWS if recorded else bound[0]
    seqs = range(ROWS) if kind == "page" else [RECORDED % ROWS if recorded else bound[1]]
    rows = [reading(sensor * ROWS + seq) for seq in seqs]
    key = len(bound)
    return [(*bound, *row[key:]) for row in rows] if recorded else rows


def plain(row: Mapping[str, Any] | Sequence[Any]) -> tuple[Any, ...]:
    """A row of whichever client, its timestamp as a time in UTC."""
    cells = [row[name] for name in COLUMNS] if isinstance(row, dict) else list(row)
    at = cells[2]
    if isinstance(at, int):  # rsylla gives milliseconds
        at = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=at)
    return (*cells[:2], at if at.tzinfo else at.replace(tzinfo=UTC), *cells[3:])
