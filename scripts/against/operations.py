"""What is compared: the steps of a request that every driver has, on the same recorded frames.

Each driver has a class of the same few methods (`ours`, `theirs`). An operation is a call without
arguments and a way to write its answer down, so that the answers of all drivers can be compared
before anything is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from asv_benchmarks import recordings

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION, STREAM, ONE, TIMESTAMP = 4, 117, 1, 1_773_995_640_000_000
ACCOUNT = UUID("00000000-0000-4007-8000-000000000007")
#: Three int, five float, two double, in the order of ``insert_mixed``.
SCALARS = (1, 2, 3, 0.25, 0.5, 0.75, 1.0, 1.25, 1.1, -2.2)
KEY = (7, "eu-central-1", ACCOUNT)


class Driver(Protocol):
    """What a driver must be able to do."""

    name: str

    def modules(self) -> dict[str, str]:
        """The files of what runs, by name: the proof that it is compiled, or is not."""

    def decode(self, frame: recordings.Recorded) -> Callable[[], Any]:
        """A call that decodes a frame of rows, whose metadata the prepared statement brought."""

    def prepared(self, name: str) -> Any:  # noqa: ANN401  (whichever driver's)
        """The statement of a recorded PREPARED."""

    def execute(self, name: str, values: tuple[Any, ...]) -> Callable[[], bytes]:
        """A call that makes the frame of an EXECUTE of bound values."""

    def token(self, key: bytes) -> int:
        """Murmur3's token of a routing key."""


@dataclass(frozen=True)
class Operation:
    """A step of a request.

    Attributes:
        name: in tables.
        call: it.
        answer: its result in types that JSON knows.
    """

    name: str
    call: Callable[[], Any]
    answer: Callable[[Any], Any]


def rows(message: Any) -> Any:  # noqa: ANN401  (whichever driver's)
    """Names and rows of a decoded message."""
    return [list(message.column_names), recordings.plain(message.parsed_rows)]


def values(statement: Any) -> list[str | None]:  # noqa: ANN401  (whichever driver's)
    """What is bound, in hexadecimal."""
    return [None if value is None else bytes(value).hex() for value in statement.values]


def of(driver: Driver) -> list[Operation]:
    """All operations, by one driver."""
    scalars, item, key = (
        driver.prepared(name) for name in ("insert_mixed", "insert_vector_1536", "select_key_three")
    )
    embedding = driver.decode(recordings.frame("rows_vector_1536"))()
    at = list(embedding.column_names).index("embedding")
    vector = (list(embedding.parsed_rows[0][at]),)

    def route() -> int:
        return driver.token(key.bind(KEY).routing_key)

    driver.execute("insert_mixed", SCALARS)
    found = [
        Operation("bind ten scalars", lambda: scalars.bind(SCALARS), values),
        Operation("bind a vector of 1,536 floats", lambda: item.bind(vector), values),
        Operation("bind a key of three parts, route it", route, int),
        Operation(
            "encode EXECUTE of ten values", driver.execute("insert_mixed", SCALARS), bytes.hex
        ),
    ]
    for name, frame in (
        ("decode one row", "rows_one_skipped"),
        ("decode 100 rows", "rows_page_100"),
        ("decode 5,000 rows", "rows_page_5000"),
        ("decode vectors of 1,536 floats", "rows_vector_1536"),
    ):
        found.append(Operation(name, driver.decode(recordings.frame(frame)), rows))
    return found
