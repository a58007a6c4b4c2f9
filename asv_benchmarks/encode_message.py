"""Requests to frames: ``ProtocolHandler.encode_message``.

Bodies of 64 B, 1 KB and 16 KB, plain and compressed (scylladb/python-driver pull request 800), and
what a session really sends: EXECUTE with few values, EXECUTE of an embedding, a batch.
"""

# ruff: noqa: ANN001, ANN201, ANN202  (objects of whichever driver is installed)

from __future__ import annotations

from functools import partial

from . import moved, recordings, subjects
from .case import Case, Prepared, expect, install

HEADER = 9
ONE, STREAM, COMPRESSED = 1, 117, 0x01
SIZES = {"64b": 64, "1kb": 1024, "16kb": 16 * 1024}
COMPRESSIONS = ("plain", "lz4", "snappy")
SHORT_QUERY = "SELECT * FROM cqlpath.readings WHERE sensor = 1 LIMIT 100"
INSERT = "INSERT INTO cqlpath.documents (id, part, body) VALUES (1, 1, '{}')"

ENCODE = "wire.requests.frames:encode_message"
MODULES = ("wire.codec", "wire.primitives")


def _encode(encode=None, message=None, stream=0, version=4, compressor=None):
    return encode(message, stream, version, compressor, False)


def query_text(size: int) -> str:
    """CQL of so many bytes: a select if it fits, else the insert of a recorded text."""
    if size == len(SHORT_QUERY):
        return SHORT_QUERY
    recorded = recordings.frame("rows_wide_text").body.decode("utf-8", "ignore")
    words = " ".join("".join(c if c.isalpha() else " " for c in recorded).split())
    text = INSERT.format(words.encode()[: size - len(INSERT) + 2].decode("utf-8", "ignore"))
    return text + " " * (size - len(text.encode()))  # where a cut fell inside a character


def compressor_of(compression: str):
    """(compress, decompress), both None for ``plain``."""
    from driver.wire.compression import locally_supported_compressions

    if compression == "plain":
        return None, None
    if compression not in locally_supported_compressions:
        raise NotImplementedError(f"{compression} is not installed")
    return locally_supported_compressions[compression]


def framed(message, version: int, compression: str, body_size: int | None = None) -> Prepared:
    """Encode a message; the check undoes the compression and compares the bodies."""
    encode = subjects.handler().encode_message
    compress, decompress = compressor_of(compression)
    plain = encode(message, STREAM, version, None, False)

    def check(frame: bytes) -> dict:
        body, flags = frame[HEADER:], frame[1]
        # From v5 on segments are compressed, not bodies.
        compressed = compress is not None and version < 5
        expect(bool(flags & COMPRESSED) == compressed, f"flags {flags:#x} with {compression}")
        whole = decompress(body) if compressed else body
        expect(whole == plain[HEADER:], "the body does not survive")
        expect(body_size in {None, len(whole)}, f"a body of {len(whole)} bytes, not {body_size}")
        return {"flags": flags, "body_bytes": len(whole), "frame_bytes": len(frame)}

    return Prepared((encode, message, STREAM, version, compress), check=check)


def query(size: int, compression: str, version: int) -> Prepared:
    """QUERY with a body of so many bytes: the text, its length, consistency and flags."""
    from driver.wire.requests import QueryMessage

    around = 4 + 2 + (4 if version >= 5 else 1)
    message = QueryMessage(query_text(size - around), ONE)
    return framed(message, version, compression, size)


def execute(statement: str, values, compression: str, version: int) -> Prepared:
    """EXECUTE of a recorded prepared statement."""
    from driver.wire.requests import ExecuteMessage

    prepared = subjects.prepared(statement, version)
    message = ExecuteMessage(
        prepared.query_id,
        prepared.bind(values()).values,
        ONE,
        fetch_size=5000,
        timestamp=1_773_995_640_000_000,
        skip_meta=True,
        result_metadata_id=prepared.result_metadata_id,
    )
    return framed(message, version, compression)


def batch(compression: str, version: int) -> Prepared:
    """A batch of a hundred inserts of one prepared statement."""
    from driver.wire.requests import BatchMessage

    prepared = subjects.prepared("insert_mixed", version)
    values = prepared.bind(mixed()).values
    queries = [(True, prepared.query_id, values)] * 100
    unlogged = moved.load("protocol.kinds:BatchType").UNLOGGED
    message = BatchMessage(unlogged, queries, ONE, timestamp=1_773_995_640_000_000)
    return framed(message, version, compression)


def mixed() -> tuple:
    """Values for ``insert_mixed``: three int, five float, two double."""
    return (1, 2, 3, 0.25, 0.5, 0.75, 1.0, 1.25, 1.1, -2.2)


def embedding() -> tuple:
    """The value for ``insert_vector_1536``."""
    return (subjects.recorded_value("rows_vector_1536", "embedding"),)


def _case(name, prepare) -> Case:
    return Case(name, _encode, prepare, MODULES, (ENCODE,))


CASES = [
    *(
        _case(f"query_{size}_{compression}", partial(query, SIZES[size], compression, 4))
        for size in SIZES
        for compression in COMPRESSIONS
    ),
    # The compressor is there and not used: v5 asks its version before it leaves it alone.
    _case("query_1kb_v5", partial(query, 1024, "lz4", 5)),
    _case("execute_mixed_plain", partial(execute, "insert_mixed", mixed, "plain", 4)),
    _case("execute_mixed_v5", partial(execute, "insert_mixed", mixed, "plain", 5)),
    _case(
        "execute_vector_1536_plain", partial(execute, "insert_vector_1536", embedding, "plain", 4)
    ),
    _case("execute_vector_1536_lz4", partial(execute, "insert_vector_1536", embedding, "lz4", 4)),
    _case("batch_100_plain", partial(batch, "plain", 4)),
]

install(globals(), CASES)
