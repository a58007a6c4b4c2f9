"""Frames to rows: ``ProtocolHandler.decode_message`` of recorded ROWS results.

One row, a page of 100, a page of 5,000, wide text, vectors, collections, user-defined types, every
scalar type; the names and types of 5, 10, 20 and 50 columns (scylladb/python-driver pull request
805), which is what is left of a result without rows; a page on a connection with a column
encryption policy (pull request 630); NumPy columns and lazy rows.
"""

# ruff: noqa: ANN001, ANN003, ANN202, ANN401  (objects of whichever driver is installed)

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

from . import moved, recordings, subjects
from .case import Case, Prepared, expect, install

DECODE = "wire.decoding:decode_message"
PARSE, LAZY, COLUMNS = (
    "wire.rows:parse_rows",
    "wire.rows:LazyRows.__init__",
    "wire.rows:parse_columns",
)
MODULES = ("wire.codec", "wire.responses.result", "wire.rows", "types.deserializers")
COLUMN_COUNTS = (5, 10, 20, 50)


def _decode(decode=None, version=4, flags=0, body=b"", decompressor=None, metadata=None):
    return decode(version, None, {}, 117, flags, 0x08, body, decompressor, metadata)


def _decode_and_iterate(decode=None, version=4, flags=0, body=b"", metadata=None):
    return list(decode(version, None, {}, 117, flags, 0x08, body, None, metadata).parsed_rows)


def _rows(result: Any) -> Any:
    """The rows of a message, or what was made of them."""
    parsed = getattr(result, "parsed_rows", result)
    if isinstance(parsed, dict):
        return {name: array.tolist() for name, array in parsed.items()}
    return parsed


def _answer(result: Any) -> Any:
    """Names, types and rows of a message; of rows alone, the rows."""
    types = [kind.cql_parameterized_type() for kind in getattr(result, "column_types", ())]
    return [getattr(result, "column_names", ()), types, _rows(result)]


def _check(frame: recordings.Recorded):
    """A check that rows and columns are those that the manifest counts."""
    expected = recordings.expected()[f"v{frame.version}/{frame.name}"]

    def check(result: Any) -> dict[str, Any]:
        rows = _rows(result)
        first = next(iter(rows.values())) if isinstance(rows, dict) else rows
        expect(len(first) == frame.about["rows"], f"{len(first)} rows of {frame.about['rows']}")
        names = getattr(result, "column_names", expected["column_names"])
        expect(list(names) == expected["column_names"], f"columns {names}")
        return {"rows": len(first), "columns": len(names), "body_bytes": len(frame.body)}

    return check


def recorded(name: str, version: int = 4, compression: str = "") -> Prepared:
    """Decode a recorded frame into tuples."""
    frame = recordings.frame(name, version)
    decompressor = None
    if compression:
        from .encode_message import compressor_of

        decompressor = compressor_of(compression)[1]
    prepared = frame.about["prepared"]
    metadata = subjects.metadata_of(prepared, version) if prepared else None
    decode = subjects.handler().decode_message
    inputs = (decode, version, frame.flags, frame.body, decompressor, metadata)
    return Prepared(inputs, answer=_answer, check=_check(frame))


def with_handler(name: str, handler: str, *, iterate: bool = False) -> Prepared:
    """Decode with another protocol handler."""
    from driver.wire import handlers

    if handler == "NumpyProtocolHandler" and find_spec("numpy") is None:
        raise NotImplementedError("NumPy is not installed")
    frame = recordings.frame(name)
    metadata = subjects.metadata_of(frame.about["prepared"])
    decode = getattr(handlers, handler).decode_message
    inputs = (decode, 4, frame.flags, frame.body)
    inputs += (metadata,) if iterate else (None, metadata)
    return Prepared(inputs, answer=_answer, check=_check(frame))


def with_policy(name: str) -> Prepared:
    """Decode rows of a table without secrets on a connection that has an encryption policy."""
    if find_spec("cryptography") is None:
        raise NotImplementedError("cryptography is not installed")
    from driver.policies.column_encryption import AES256ColumnEncryptionPolicy

    policy = AES256ColumnEncryptionPolicy()
    policy.add_column(
        moved.load("protocol.columns:ColDesc")("cqlpath", "elsewhere", "secret"), bytes(32), "text"
    )
    plain = subjects.handler()
    careful = type("CarefulHandler", (plain,), {"column_encryption_policy": policy})
    frame = recordings.frame(name)
    metadata = subjects.metadata_of(frame.about["prepared"])
    inputs = (careful.decode_message, 4, frame.flags, frame.body, None, metadata)
    return Prepared(inputs, answer=_answer, check=_check(frame))


def _case(name, frame, parser=PARSE, **about) -> Case:
    return Case(name, _decode, partial(recorded, frame, **about), MODULES, (DECODE, parser))


CASES = [
    # Metadata left out, as prepared statements are executed; one with it, for the difference.
    _case("one_row", "rows_one_skipped"),
    _case("one_row_with_metadata", "rows_one"),
    _case("one_row_v5", "rows_one_skipped", version=5),
    _case("page_100", "rows_page_100_skipped"),
    _case("page_100_lz4", "lz4_rows_page", compression="lz4"),
    Case(
        "page_100_with_policy",
        _decode,
        partial(with_policy, "rows_page_100_skipped"),
        MODULES,
        (DECODE, PARSE),
    ),
    _case("page_5000", "rows_page_5000_skipped"),
    _case("wide_text", "rows_wide_text_skipped"),
    _case("vectors_128", "rows_vector_128_skipped"),
    _case("vectors_768", "rows_vector_768_skipped"),
    _case("vectors_1536", "rows_vector_1536_skipped"),
    _case("collections", "rows_collections_skipped"),
    _case("udt", "rows_udt_skipped"),
    _case("all_scalars", "rows_scalars_skipped"),
    *(
        _case(f"names_and_types_{count}_columns", f"none_columns_{count}_skipped")
        for count in COLUMN_COUNTS
    ),
    Case(
        "page_5000_numpy",
        _decode,
        partial(with_handler, "rows_page_5000_skipped", "NumpyProtocolHandler"),
        MODULES,
        (DECODE, COLUMNS),
    ),
    Case(
        "page_5000_lazy_not_read",
        _decode,
        partial(with_handler, "rows_page_5000_skipped", "LazyProtocolHandler"),
        MODULES,
        (DECODE, LAZY),
    ),
    Case(
        "page_5000_lazy",
        _decode_and_iterate,
        partial(with_handler, "rows_page_5000_skipped", "LazyProtocolHandler", iterate=True),
        MODULES,
        (DECODE, LAZY),
    ),
]

install(globals(), CASES)
