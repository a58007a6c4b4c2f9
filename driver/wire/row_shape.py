"""The shape of rows: what is known of a result's columns, in one object that never changes.

Names, types and deserializers follow from the columns. Kept apart from them they would go stale
apart: a server that sends new metadata while old names stay cached gives wrong data, silently. A
prepared statement holds a shape, and new metadata replaces it by one assignment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

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
    """

    names: list[str]
    types: list[Any]
    deserializers: list[Deserializer]

    def __new__(cls, columns: Iterable[ColumnMetadata]) -> Self:
        """Work out names, types and deserializers, once."""
        shape = super().__new__(cls, columns)
        shape.names = [column.name for column in shape]
        shape.types = [column.type for column in shape]
        shape.deserializers = make_deserializers(shape.types)
        return shape
