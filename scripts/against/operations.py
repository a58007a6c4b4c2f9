"""What is compared: the steps of a request that every driver has, on the same recorded frames.

Each driver has a class of the same few methods (`ours`, `theirs`). An operation is a call without
arguments and a way to write its answer down, so that the answers of all drivers can be compared
before anything is measured.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from asv_benchmarks import bind, recordings, routing_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

VERSION, STREAM, ONE, TIMESTAMP = 4, 117, 1, 1_773_995_640_000_000
#: As the suites bind them: three int, five float, two double; and the key of three parts.
SCALARS = bind.mixed()
KEY_STATEMENT, KEY = routing_key.VALUES["composite_of_three"]


class Driver(Protocol):
    """What a driver must be able to do."""

    name: str

    def modules(self) -> dict[str, str]:
        """The files of what runs, by name: the proof that it is compiled, or is not."""

    def decode(self, frame: recordings.Recorded) -> Callable[[], Any]:
        """A call that decodes a frame of rows, whose metadata the prepared statement brought."""

    def prepared(self, name: str) -> Any:  # noqa: ANN401  (whichever driver's)
        """The statement of a recorded PREPARED."""

    def execute_message(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (whichever driver's)
        """An EXECUTE; all drivers name its arguments alike."""

    def encode(self, message: Any) -> Callable[[], bytes]:  # noqa: ANN401  (whichever driver's)
        """A call that makes a message's frame."""

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


def files_of(package: str, names: Iterable[str]) -> dict[str, str]:
    """The files of those modules of a package that were imported, from the file's folder on."""
    known = ((name, sys.modules.get(f"{package}.{name}")) for name in names)
    files = {name: Path(str(module.__file__)) for name, module in known if module}
    return {name: f"{file.parent.name}/{file.name}" for name, file in files.items()}


def of(driver: Driver) -> list[Operation]:
    """All operations, by one driver."""
    scalars, item, key = (
        driver.prepared(name) for name in ("insert_mixed", "insert_vector_1536", KEY_STATEMENT)
    )
    embedding = driver.decode(recordings.frame("rows_vector_1536"))()
    at = list(embedding.column_names).index("embedding")
    vector = (list(embedding.parsed_rows[0][at]),)

    def route() -> int:
        return driver.token(key.bind(KEY).routing_key)

    bound = scalars.bind(SCALARS)
    execute = driver.execute_message(
        scalars.query_id, bound.values, ONE, fetch_size=5000, timestamp=TIMESTAMP
    )
    found = [
        Operation("bind ten scalars", lambda: scalars.bind(SCALARS), values),
        Operation("bind a vector of 1,536 floats", lambda: item.bind(vector), values),
        Operation("bind a key of three parts, route it", route, int),
        Operation("encode EXECUTE of ten values", driver.encode(execute), bytes.hex),
    ]
    for name, frame in (
        ("decode one row", "rows_one_skipped"),
        ("decode 100 rows", "rows_page_100"),
        ("decode 5,000 rows", "rows_page_5000"),
        ("decode vectors of 1,536 floats", "rows_vector_1536"),
    ):
        found.append(Operation(name, driver.decode(recordings.frame(frame)), rows))
    return found
