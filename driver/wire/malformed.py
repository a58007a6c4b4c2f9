"""What bytes that break the protocol raise, with messages that say where they broke.

Both implementations of the row parsers raise through these functions, so that their messages are
the same to the letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ..protocol.errors import DriverException
from ..protocol.limits import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..protocol.columns import ColumnMetadata
    from .frame import Frame


class MalformedFrameError(DriverException):
    """A frame ends early, or says something that the protocol does not allow.

    Attributes:
        frames: from a conversation: the frames that were complete before the bytes broke.
    """

    frames: Sequence[Frame] = ()


class CrcMismatchException(MalformedFrameError):
    """A v5 segment's header or payload does not have the checksum that it came with."""


class ResultMetadataMismatch(MalformedFrameError):
    """A result came without metadata, and that of the request is none or that of other columns.

    The frame is whole, and so is the connection: a table was altered under a prepared statement.
    """


class ColumnDecodeError(DriverException):
    """A value of a result could not be decoded; the message names its column and type."""


def ends_early(wanted: int, left: int) -> NoReturn:
    """Raise for a read of ``wanted`` bytes where ``left`` are left.

    Raises:
        MalformedFrameError: always.
    """
    raise MalformedFrameError(f"the frame ends early: {wanted} bytes wanted, {left} left")


def value_ends_early(column: ColumnMetadata, wanted: int, left: int) -> NoReturn:
    """Raise for a row value of ``wanted`` bytes where ``left`` are left in the frame.

    Raises:
        MalformedFrameError: always.
    """
    name = shortened(column.name)
    raise MalformedFrameError(
        f'the frame ends early in column "{name}": {wanted} bytes wanted, {left} left'
    )


def undecodable(column: ColumnMetadata, error: Exception) -> NoReturn:
    """Raise for a value that its column's type could not decode.

    Raises:
        ColumnDecodeError: always, with ``error`` as its cause.
    """
    name, type_name = shortened(column.name), shortened(column.type.cql_parameterized_type())
    raise ColumnDecodeError(
        f'Failed decoding result column "{name}" of type {type_name}: {shortened(str(error))}'
    ) from error


def check_row_count(row_count: int, column_count: int, left: int) -> None:
    """Refuse a number of rows that the rest of the frame cannot hold, before allocating for it.

    Args:
        row_count: as the frame states it.
        column_count: values in a row.
        left: bytes of the frame after the count. A value takes four of them at least.

    Raises:
        MalformedFrameError: the count is negative, or more than fits.
    """
    if row_count < 0 or row_count * max(column_count, 1) * 4 > left:
        raise MalformedFrameError(
            f"{row_count} rows of {column_count} columns do not fit in {left} bytes"
        )


def wrong_size(column: ColumnMetadata, size: int, expected: int) -> NoReturn:
    """Raise for a fixed-size value that has another size.

    Raises:
        ColumnDecodeError: always.
    """
    undecodable(column, ValueError(f"{size} bytes where {expected} are expected"))
