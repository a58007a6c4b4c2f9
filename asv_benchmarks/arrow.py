"""Frames to Apache Arrow's columns: ``decode_message`` of recorded ROWS results.

The frames are those of ``decode_rows``, whose cases make tuples and NumPy arrays of the same bytes:
a page of 5,000 rows, wide text, vectors, collections, user-defined types, every scalar type; and a
page on its way to a consumer, by the capsules of Arrow's C data interface.
"""

# ruff: noqa: ANN001, ANN202, ANN401  (objects of whichever driver is installed)

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

from . import recordings, subjects
from .case import Case, Prepared, expect, install

PARSE = "wire.arrow.page:parse_page"
MODULES = ("wire.codec", "wire.responses.result", "wire.arrow.page", "wire.arrow.fields")


def _decode(decode=None, version=4, flags=0, body=b"", metadata=None):
    return decode(version, None, {}, 117, flags, 0x08, body, None, metadata).parsed_rows


def _hand_out(hand_out=None):
    return hand_out()


def _handler() -> Any:
    if find_spec("driver.results.arrow") is None:
        raise NotImplementedError("results as Arrow's data are not there yet")
    from driver.results.arrow import arrow_factory

    return arrow_factory.protocol_handler


def _shape(batch: Any) -> list[Any]:
    """Rows, bytes and schema: buffers themselves are for who reads them."""
    return [batch.num_rows, [(f.name, f.format) for f in batch.fields]]


def page(name: str, version: int = 4) -> Prepared:
    """Make columns of a recorded frame."""
    handler = _handler()
    frame = recordings.frame(name, version)
    metadata = subjects.metadata_of(frame.about["prepared"], version)

    def check(batch: Any) -> dict[str, Any]:
        rows = frame.about["rows"]
        expect(batch.num_rows == rows, f"{batch.num_rows} rows of {rows}")
        expect(batch.nbytes >= rows, f"{batch.nbytes} bytes for {rows} rows")
        return {"rows": rows, "body_bytes": len(frame.body), "columns": len(batch.fields)}

    inputs = (handler.decode_message, version, frame.flags, frame.body, metadata)
    return Prepared(inputs, answer=_shape, check=check)


def handed_out(name: str) -> Prepared:
    """Give a page to a consumer that does not take it."""
    batch = _decode(*page(name).inputs)

    def check(capsules: Any) -> dict[str, Any]:
        kinds = [type(capsule).__name__ for capsule in capsules]
        expect(kinds == ["PyCapsule", "PyCapsule"], f"capsules: {kinds}")
        return {"rows": batch.num_rows}

    return Prepared((batch.__arrow_c_array__,), answer=lambda _: _shape(batch), check=check)


def _case(name: str, frame: str) -> Case:
    return Case(name, _decode, partial(page, frame), MODULES, (PARSE,))


CASES = [
    _case("one_row", "rows_one_skipped"),
    _case("page_100", "rows_page_100_skipped"),
    _case("page_5000", "rows_page_5000_skipped"),
    _case("wide_text", "rows_wide_text_skipped"),
    _case("vectors_768", "rows_vector_768_skipped"),
    _case("collections", "rows_collections_skipped"),
    _case("udt", "rows_udt_skipped"),
    _case("all_scalars", "rows_scalars_skipped"),
    Case(
        "page_5000_handed_out",
        _hand_out,
        partial(handed_out, "rows_page_5000_skipped"),
        ("wire.arrow.page",),
        ("wire.arrow.page:ArrowBatch.__arrow_c_array__",),
    ),
]

install(globals(), CASES)
