"""The rows that are recorded: made from a fixed seed, so that they are the same every time."""

from __future__ import annotations

import json
import random
import struct
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 20260320
START = datetime(2026, 3, 20, 8, 34, tzinfo=UTC)
READINGS = 6_000  # more than the largest page, so that every recorded page has a next one
BATCH = 100
WORDS = [
    "latency",
    "shard",
    "token",
    "replica",
    "hint",
    "memtable",
    "compaction",
    "repair",
    "gossip",
    "quorum",
    "commit",
    "segment",
    "größer",
    "größte",
    "mañana",
    "naïve",
    "Zürich",
    "查询",
    "向量",
    "数据",
    "кластер",
    "запрос",
    "δοκιμή",
    "été",
    "🙂",
]
NAMES = ("Ada", "Grace", "Edsger", "Barbara", "Donald", "Leslie", "Radia", "Nuño")
COLUMN_VALUES: tuple[Any, ...] = (17, "a short text", 1 << 40, 2.718281828459045, True)
LONG_KEY = "k" * 200

Row = tuple[str, dict[str, Any]]


def float32(value: float) -> float:
    """The nearest single: what a ``float`` column gives back."""
    return struct.unpack(">f", struct.pack(">f", value))[0]


def vector(source: random.Random, dimension: int) -> list[float]:
    """A vector of singles, about normalised as embeddings are."""
    return [float32(source.gauss(0.0, dimension**-0.5)) for _ in range(dimension)]


def text(source: random.Random, length: int) -> str:
    """Words up to a number of characters."""
    words: list[str] = []
    size = 0
    while size < length:
        words.append(source.choice(WORDS))
        size += len(words[-1]) + 1
    return " ".join(words)[:length]


def instant(moment: datetime) -> str:
    """A timestamp as JSON input takes it, to the millisecond."""
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def readings(source: random.Random) -> Iterator[Row]:
    """One sensor's readings, every tenth without a note."""
    for n in range(READINGS):
        row = {
            "sensor": 1,
            "at": instant(START + timedelta(milliseconds=250 * n)),
            "seq": n * 7919,
            "value": source.gauss(20.0, 5.0),
            "valid": source.random() < 0.97,
        }
        if n % 10 != 9:
            row["note"] = f"reading {n} of {source.choice(NAMES)}"
        yield "readings", row


def documents(source: random.Random) -> Iterator[Row]:
    """Bodies of two kilobytes."""
    for part in range(20):
        title, body = text(source, 60), text(source, 2000)
        row = {"id": 1, "part": part, "title": title, "body": body, "language": "mul"}
        yield "documents", row


def vectors(source: random.Random) -> Iterator[Row]:
    """Twenty vectors of 128, ten of 768, ten of 1536."""
    for dimension, count in ((128, 20), (768, 10), (1536, 10)):
        for n in range(count):
            row = {"id": 1, "n": n, "embedding": vector(source, dimension)}
            yield f"vector_{dimension}", row
    yield "items", {"id": 1, "name": "lamp", "price": 9.5, "embedding": vector(source, 1536)}
    yield "vector_text", {"id": 1, "words": ["eins", "zwei und mehr", ""]}


def collections(source: random.Random) -> Iterator[Row]:
    """Sets, lists, maps, a nested map and a tuple; the last row is all null."""
    for n in range(50):
        yield (
            "collections",
            {
                "id": 1,
                "n": n,
                "tags": sorted(source.sample(WORDS, 5)),
                "scores": [source.randrange(-1000, 1000) for _ in range(10)],
                "attributes": {word: text(source, 12) for word in source.sample(WORDS, 4)},
                "nested": {word: [1, 2, n] for word in source.sample(WORDS, 3)},
                "pair": [n, source.choice(WORDS), source.random()],
            },
        )
    yield "collections", {"id": 1, "n": 50}


def address(source: random.Random) -> dict[str, Any]:
    """A user-defined type with another one and a set in it."""
    return {
        "street": text(source, 20),
        "city": source.choice(NAMES) + "ville",
        "zip": source.randrange(100_000),
        "place": {"x": source.uniform(-180, 180), "y": source.uniform(-90, 90)},
        "phones": [f"+{source.randrange(10**9, 10**10)}" for _ in range(2)],
    }


def customers(source: random.Random) -> Iterator[Row]:
    """User-defined types, alone and in lists; the last home has null fields."""
    for n in range(50):
        others = [address(source) for _ in range(n % 3)]
        yield "customers", {"id": 1, "n": n, "home": address(source), "others": others}
    yield "customers", {"id": 1, "n": 50, "home": {"street": "nowhere"}}


def scalars(source: random.Random) -> Iterator[Row]:
    """Every scalar type: usual values, lowest, highest, empty, null."""
    usual = {
        "ascii": "plain",
        "bigint": 1 << 40,
        "blob": "0x00ff10",
        "boolean": True,
        "date": "2026-03-20",
        "decimal": "-12345.67890",
        "double": 3.141592653589793,
        "duration": "1y2mo3w4d5h6m7s8ms9us10ns",
        "float": 0.5,
        "inet": "192.168.10.4",
        "int": -42,
        "smallint": -300,
        "text": text(source, 40),
        "time": "08:34:01.123456789",
        "timestamp": instant(START + timedelta(milliseconds=7)),
        "timeuuid": "c2d7c9b0-2436-11f1-8de9-0242ac120002",
        "tinyint": -7,
        "uuid": str(uuid.UUID(int=source.getrandbits(128), version=4)),
        "varchar": "größer als 查询",
        "varint": "123456789012345678901234567890",
    }
    lowest = {
        **usual,
        "ascii": "",
        "bigint": -(1 << 63),
        "blob": "0x",
        "boolean": False,
        "date": "0001-01-01",
        "decimal": "-1E-20",
        "double": -1.7976931348623157e308,
        "duration": "-3mo2d1ns",
        "float": -1.5,
        "inet": "::1",
        "int": -(1 << 31),
        "smallint": -(1 << 15),
        "text": "",
        "time": "00:00:00.000000000",
        "timestamp": "0001-01-01 00:00:00.000Z",
        "tinyint": -128,
        "uuid": str(uuid.UUID(int=0)),
        "varint": str(-(1 << 127) - 1),
    }
    highest = {
        **usual,
        "bigint": (1 << 63) - 1,
        "blob": "0x" + bytes(range(256)).hex(),
        "date": "9999-12-31",
        "decimal": "9" * 40,
        "double": 1.7976931348623157e308,
        "duration": "99y11mo30d23h59m59s",
        "float": float32(3.4028234e38),
        "inet": "2001:db8::ff00:42:8329",
        "int": (1 << 31) - 1,
        "smallint": (1 << 15) - 1,
        "time": "23:59:59.999999999",
        "timestamp": "9999-12-31 23:59:59.999Z",
        "tinyint": 127,
        "uuid": str(uuid.UUID(int=(1 << 128) - 1)),
        "varint": str(1 << 127),
    }
    for n, values in enumerate((usual, lowest, highest, {})):
        row = {"id": 1, "n": n, **{f"c_{name}": value for name, value in values.items()}}
        yield "scalars", row


def others(_: random.Random) -> Iterator[Row]:
    """One row in each table of columns and of keys."""
    mixed = {f"i{n}": n for n in (1, 2, 3)} | {f"f{n}": n / 4 for n in range(1, 6)}
    yield "mixed", mixed | {"d1": 1.1, "d2": -2.2}
    yield "backwards", {"id": 1, "at": instant(START), "v": "later first"}
    yield "key_int", {"k": 1, "v": 1}
    account = str(uuid.UUID(int=7 << 64, version=4))
    yield "key_three", {"tenant": 7, "region": "eu-central-1", "account": account, "v": 1}
    yield "key_long", {"k": LONG_KEY, "v": 1}
    for count in (5, 10, 20, 50):
        columns = {f"c{n}": COLUMN_VALUES[n % len(COLUMN_VALUES)] for n in range(1, count)}
        yield f"columns_{count}", {"id": 1, **columns}


FAMILIES = (readings, documents, vectors, collections, customers, scalars, others)


def all_rows() -> Iterator[Row]:
    """(table, row) of everything; each family draws from a source of its own."""
    for family in FAMILIES:
        yield from family(random.Random(f"{SEED} {family.__name__}"))


def statements() -> Iterator[str]:
    """CQL that inserts all rows, many to a batch where they share a partition."""
    pending: list[str] = []
    for table, row in all_rows():
        document = json.dumps(row, ensure_ascii=False).replace("'", "''")
        # DEFAULT UNSET: a column that a row does not name must not become a tombstone.
        insert = f"INSERT INTO cqlpath.{table} JSON '{document}' DEFAULT UNSET"
        if table != "readings":
            yield insert
            continue
        pending.append(insert)
        if len(pending) == BATCH:
            yield f"BEGIN UNLOGGED BATCH {'; '.join(pending)}; APPLY BATCH"
            pending.clear()
    if pending:
        yield f"BEGIN UNLOGGED BATCH {'; '.join(pending)}; APPLY BATCH"
    yield "UPDATE cqlpath.counts SET hits = hits + 41 WHERE id = 1"
    for n in range(60):
        yield f"INSERT INTO cqlpath.graves (id, n, v) VALUES (1, {n}, {n})"
        yield f"DELETE FROM cqlpath.graves WHERE id = 1 AND n = {n}"
