"""The shape of rows: what is known of a result's columns, in one object that never changes.

Names, types and deserializers follow from the columns. Kept apart from them they would go stale
apart: a server that sends new metadata while old names stay cached gives wrong data, silently. A
prepared statement holds a shape, and new metadata replaces it by one assignment.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from ..protocol.columns import ColumnMetadata
from ..types.deserializers import make_deserializers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..types.deserializers import Deserializer


class RowShape(tuple[ColumnMetadata, ...]):  # noqa: SLOT001  (a tuple has no room for slots)
    """The columns of a result, in order, and what decoding their rows needs.

    The lists are shared by all results of a statement: nobody may change them.

    Attributes:
        names: of the columns.
        types: of the columns: classes of ``driver.types``.
        deserializers: of the columns.
        parts: all three, for compiled code, which looks up one attribute then.
    """

    names: list[str]
    types: list[Any]
    deserializers: list[Deserializer]
    parts: tuple[list[str], list[Any], list[Deserializer]]

    def __new__(cls, columns: Iterable[ColumnMetadata]) -> Self:
        """Work out names, types and deserializers, once."""
        shape = super().__new__(cls, columns)
        shape.names = [column.name for column in shape]
        shape.types = [column.type for column in shape]
        shape.deserializers = make_deserializers(shape.types)
        shape.parts = (shape.names, shape.types, shape.deserializers)
        return shape


class KnownShape(NamedTuple):
    """A shape that came with a result, and what it was read from.

    Attributes:
        head: two [int]: whether all columns are of one table, and how many they are.
        columns: bytes of their descriptions.
        shape: what these bytes mean.
    """

    head: bytes
    columns: bytes
    shape: RowShape


#: Shapes of results that brought their metadata, latest first: a statement brings the same bytes
#: each time, and comparing them costs a hundredth of reading them. Changed in place, and never
#: shorter than before: other threads go through it meanwhile, without a lock.
KNOWN: Final[list[KnownShape]] = []

#: How many shapes are kept, and of how many bytes of metadata at most.
_MOST_KNOWN: Final = 32
_LONGEST_KNOWN: Final = 16_384
_HEAD: Final = struct.Struct(">ii")
_ONE_TABLE: Final = 0x0001


def known_shape(body: bytes, offset: int, flags: int, column_count: int) -> KnownShape | None:
    """The shape whose columns are described at an offset of a body, if these bytes came before.

    Args:
        body: of a frame.
        offset: where the metadata has its columns.
        flags: of the metadata.
        column_count: as the metadata states it.
    """
    head = _HEAD.pack(flags & _ONE_TABLE, column_count)
    for known in KNOWN:
        # A description of columns is never the beginning of another of as many columns.
        if body.startswith(known.columns, offset) and known.head == head:
            return known
    return None


def remember_shape(flags: int, columns: bytes, shape: RowShape) -> None:
    """Know a shape by the flags of its metadata and the bytes of its columns from now on.

    Whoever calls knows that the bytes have no other meaning on another connection.
    """
    if len(columns) <= _LONGEST_KNOWN:
        known = KnownShape(_HEAD.pack(flags & _ONE_TABLE, len(shape)), columns, shape)
        KNOWN[:] = [known, *KNOWN[: _MOST_KNOWN - 1]]
