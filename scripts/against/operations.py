"""What is compared: the steps of a request that every driver has, on the same recorded frames.

Each driver has a class of the same few methods (`ours`, `theirs`). An operation is a call without
arguments and a way to write its answer down, so that the answers of all drivers can be compared
before anything is measured.
"""

from __future__ import annotations

import random
import struct
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import lz4.block

from asv_benchmarks import bind, encode_message, recordings, routing_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

VERSION, STREAM, ONE, TIMESTAMP = 4, 117, 1, 1_773_995_640_000_000
#: As the suites bind them: three int, five float, two double; and the key of three parts.
SCALARS = bind.mixed()
KEY_STATEMENT, KEY = routing_key.VALUES["composite_of_three"]
#: What is around the text in the body of a QUERY of v4: two lengths, consistency and flags.
AROUND_TEXT = 4 + 2 + 1
DIMENSIONS = (128, 768, 1536)


class Driver(Protocol):
    """What a driver must be able to do."""

    name: str

    def modules(self) -> dict[str, str]:
        """The files of what runs, by name: the proof that it is compiled, or is not."""

    def decode(self, frame: recordings.Recorded) -> Callable[[], Any]:
        """A call that decodes a frame of rows, whose metadata the prepared statement brought."""

    def prepared(self, name: str) -> Any:  # noqa: ANN401  (whichever driver's)
        """The statement of a recorded PREPARED."""

    def query_message(self, text: str, consistency: int) -> Any:  # noqa: ANN401  (whichever driver's)
        """A QUERY."""

    def execute_message(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (whichever driver's)
        """An EXECUTE; all drivers name its arguments alike."""

    def encode(self, message: Any, compression: str | None = None) -> Callable[[], bytes]:  # noqa: ANN401  (whichever driver's)
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


def decompressed(frame: bytes) -> str:
    """A compressed frame, without what each release of lz4 does in its own way: the block."""
    size = int.from_bytes(frame[9:13], "big")
    body: bytes = lz4.block.decompress(frame[13:], uncompressed_size=size)
    return frame[:5].hex() + body.hex()


def key_of(statement: Any) -> Callable[[], bytes]:  # noqa: ANN401  (whichever driver's)
    """A call that computes the routing key of a bound statement, which would keep it."""

    def routing_key() -> bytes:
        statement._routing_key = None  # noqa: SLF001  (all drivers keep it there)
        key: bytes = statement.routing_key
        return key

    return routing_key


def files_of(package: str, names: Iterable[str]) -> dict[str, str]:
    """The files of those modules of a package that were imported, from the file's folder on."""
    known = ((name, sys.modules.get(f"{package}.{name}")) for name in names)
    files = {name: Path(str(module.__file__)) for name, module in known if module}
    return {name: f"{file.parent.name}/{file.name}" for name, file in files.items()}


def of(driver: Driver) -> list[Operation]:
    """All operations, by one driver."""
    return [*binding(driver), *routing(driver), *encoding(driver), *decoding(driver)]


def binding(driver: Driver) -> list[Operation]:
    """Values to the bytes of a statement."""
    scalars, reading = driver.prepared("insert_mixed"), driver.prepared("insert_reading")
    row = bind.reading()
    found = [
        Operation("bind ten scalars", lambda: scalars.bind(SCALARS), values),
        Operation("bind six mixed columns", lambda: reading.bind(row), values),
    ]
    for size in DIMENSIONS:
        call = partial(driver.prepared(f"insert_vector_{size}").bind, vector_of(driver, size))
        found.append(Operation(f"bind a vector of {size:,} floats", call, values))
    return found


def vector_of(driver: Driver, size: int) -> tuple[list[float]]:
    """What a statement with a vector is bound to."""
    message = driver.decode(recordings.frame(f"rows_vector_{size}"))()
    at = list(message.column_names).index("embedding")
    return (list(message.parsed_rows[0][at]),)


def routing(driver: Driver) -> list[Operation]:
    """The key of a bound statement, and the token of a key."""
    key = driver.prepared(KEY_STATEMENT)

    def route() -> int:
        return driver.token(key.bind(KEY).routing_key)

    return [
        Operation("bind a key of three parts, route it", route, int),
        *(Operation(name, key_of(bound), bytes.hex) for name, bound in bound_keys(driver)),
    ]


def bound_keys(driver: Driver) -> Iterable[tuple[str, Any]]:
    """Bound statements, by what is done with each."""
    for name, case in (
        ("routing key of one part", "single_int"),
        ("routing key of three parts", "composite_of_three"),
        ("routing key of 200 bytes", "200_bytes"),
    ):
        statement, given = routing_key.VALUES[case]
        yield name, driver.prepared(statement).bind(given)


def encoding(driver: Driver) -> list[Operation]:
    """Messages to frames."""
    scalars, reading = driver.prepared("insert_mixed"), driver.prepared("insert_reading")
    found = []
    for compression in (None, "lz4"):
        for name, size in (("64 B", 64), ("1 KB", 1024), ("16 KB", 16 * 1024)):
            text = encode_message.query_text(size - AROUND_TEXT)
            call = driver.encode(driver.query_message(text, ONE), compression)
            way = f", {compression}" if compression else ""
            answer = decompressed if compression else bytes.hex
            found.append(Operation(f"encode QUERY of {name}{way}", call, answer))
    for name, statement, given in (
        ("five", reading, reading.bind(bind.reading()).values[:5]),
        ("ten", scalars, scalars.bind(SCALARS).values),
    ):
        message = driver.execute_message(
            statement.query_id, given, ONE, fetch_size=5000, timestamp=TIMESTAMP
        )
        call = driver.encode(message)
        found.append(Operation(f"encode EXECUTE of {name} values", call, bytes.hex))
    return found


def decoding(driver: Driver) -> list[Operation]:
    """Frames of results to messages."""
    recorded = {
        "decode one row": "rows_one_skipped",
        "decode one row with metadata": "rows_one",
        "decode 100 rows": "rows_page_100",
        "decode 5,000 rows": "rows_page_5000",
        "decode vectors of 1,536 floats": "rows_vector_1536",
    }
    frames = {name: recordings.frame(frame) for name, frame in recorded.items()}
    void = recordings.frame("void")
    made = {
        "decode 100 rows of uuid, text, bigint, timestamp, double": mixed_rows(100),
        "decode 5,000 rows of uuid, text, bigint, timestamp, double": mixed_rows(5000),
        "decode 1,000 x 10 ints": grid("int"),
        "decode 1,000 x 10 texts": grid("text"),
    }
    frames |= {name: void._replace(body=body) for name, body in made.items()}
    found = [Operation(name, driver.decode(frame), rows) for name, frame in frames.items()]
    return [*found, Operation("decode VOID", driver.decode(void), lambda message: message.kind)]


#: Option codes of types in the metadata of rows (native protocol v4, section 4.2.5.2).
CODES = {"bigint": 0x02, "double": 0x07, "int": 0x09, "timestamp": 0x0B, "uuid": 0x0C, "text": 0x0D}


def rows_body(types: Sequence[str], values: Iterable[Sequence[bytes]]) -> bytes:
    """A RESULT of rows with its metadata, columns called c0, c1, ..."""

    def string(text: str) -> bytes:
        return struct.pack(">H", len(text)) + text.encode()

    given = list(values)
    columns = (string(f"c{i}") + struct.pack(">H", CODES[kind]) for i, kind in enumerate(types))
    head = struct.pack(">iii", 2, 1, len(types)) + string("cqlpath") + string("made")
    cells = (struct.pack(">i", len(value)) + value for row in given for value in row)
    return b"".join((head, *columns, struct.pack(">i", len(given)), *cells))


def mixed_rows(count: int) -> bytes:
    """Rows of uuid, text, bigint, timestamp and double, a second apart."""
    drawn = random.Random(2)
    types = ("uuid", "text", "bigint", "timestamp", "double")
    values = (
        (
            drawn.randbytes(16),
            b"name %d of it" % i,
            struct.pack(">q", drawn.getrandbits(50)),
            struct.pack(">q", TIMESTAMP // 1000 + i * 1000),
            struct.pack(">d", drawn.random()),
        )
        for i in range(count)
    )
    return rows_body(types, values)


def grid(kind: str) -> bytes:
    """1,000 rows of ten ints of any size, or ten texts of 10 to 24 characters."""
    drawn = random.Random(1)

    def value() -> bytes:
        if kind == "int":
            return struct.pack(">i", drawn.randrange(-(2**31), 2**31))
        return b"%0*x" % (drawn.randrange(10, 25), drawn.getrandbits(40))

    return rows_body([kind] * 10, [[value() for _ in range(10)] for _ in range(1000)])
