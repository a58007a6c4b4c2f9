"""Columns: name, type, place in the table, and what masks their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .quoting import protect_name, protect_value, qualified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .table import MaterializedViewMetadata, TableMetadata


#: Types whose literals stand in single quotes.
_QUOTED_LITERALS = frozenset(
    {"ascii", "date", "inet", "text", "time", "timestamp", "varchar", "'empty'"}
)


class PartitionKeyColumn(NamedTuple):
    """A column of a partition key of which only the name is known.

    Attributes:
        name: its name, unquoted.
    """

    name: str


class ColumnMask(NamedTuple):
    """The function whose result users see who may not see a column (Cassandra 5.0, CEP-20).

    Attributes:
        function_keyspace: where the function lives; ``system`` for the server's own.
        function_name: its name.
        arguments: those after the column's value, as CQL literals.
    """

    function_keyspace: str
    function_name: str
    arguments: tuple[str, ...] = ()

    @classmethod
    def from_texts(
        cls,
        function_keyspace: str,
        function_name: str,
        types: Sequence[str],
        values: Sequence[str],
        nulls: Sequence[bool],
    ) -> ColumnMask:
        """A mask as ``system_schema.column_masks`` describes it: arguments as bare text.

        Raises:
            ValueError: the three sequences differ in length.
        """
        arguments = tuple(
            "null" if null else _literal(cql_type, value)
            for cql_type, value, null in zip(types, values, nulls, strict=True)
        )
        return cls(function_keyspace, function_name, arguments)

    def as_cql(self) -> str:
        """``MASKED WITH keyspace.function(arguments)``."""
        function = qualified(self.function_keyspace, self.function_name)
        return f"MASKED WITH {function}({', '.join(self.arguments)})"


def _literal(cql_type: str, value: str) -> str:
    """The literal of a value that the server stored as bare text."""
    if cql_type in _QUOTED_LITERALS:
        return protect_value(value)
    return f"0x{value}" if cql_type == "blob" and not value.startswith("0x") else value


class ColumnMetadata:
    """A column of a table or view.

    Attributes:
        table: the table or view; None for a column that stands alone.
        name: its name, unquoted.
        cql_type: its type as CQL text.
        is_static: it has one value for a partition.
        is_reversed: it is a clustering column in descending order.
        mask: what masks its values; None if nothing does.
    """

    def __init__(
        self,
        table_metadata: TableMetadata | MaterializedViewMetadata | None,
        column_name: str,
        cql_type: str,
        is_static: bool = False,
        is_reversed: bool = False,
        mask: ColumnMask | None = None,
    ) -> None:
        """Describe a column."""
        self.table = table_metadata
        self.name = column_name
        self.cql_type = cql_type
        self.is_static = is_static
        self.is_reversed = is_reversed
        self.mask = mask

    def as_cql(self) -> str:
        """The column as ``CREATE TABLE`` defines it."""
        parts = [protect_name(self.name), self.cql_type]
        if self.is_static:
            parts.append("static")
        if self.mask is not None:
            parts.append(self.mask.as_cql())
        return " ".join(parts)

    def __str__(self) -> str:
        """Name and type."""
        return f"{self.name} {self.cql_type}"

    def __repr__(self) -> str:
        """Class, name and type."""
        return f"<{type(self).__name__}: {self}>"
