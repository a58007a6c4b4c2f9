"""Materialized views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .options import clustering_order, option_strings, primary_key
from .part import SchemaPart
from .quoting import protect_name, qualified

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .column import ColumnMetadata


class MaterializedViewMetadata(SchemaPart):
    """A materialized view: a table that the server keeps in step with another one.

    Attributes:
        keyspace_name: the keyspace of the view and of its table.
        name: its name.
        base_table_name: the table that it shows.
        partition_key: columns of its partition key, in order.
        clustering_key: columns of its clustering key, in order.
        columns: all columns by name, those of the key first.
        include_all_columns: it was created with ``SELECT *``.
        where_clause: its condition, as the server keeps it: CQL text.
        options: as those of a table.
        extensions: opaque options of the server's extensions.
    """

    def __init__(
        self,
        keyspace_name: str,
        view_name: str,
        base_table_name: str,
        include_all_columns: bool,
        where_clause: str,
        options: Mapping[str, Any] | None,
    ) -> None:
        """Describe a view as ``system_schema.views`` does."""
        self.keyspace_name = keyspace_name
        self.name = view_name
        self.base_table_name = base_table_name
        self.partition_key: list[ColumnMetadata] = []
        self.clustering_key: list[ColumnMetadata] = []
        self.columns: dict[str, ColumnMetadata] = {}
        self.include_all_columns = include_all_columns
        self.where_clause = where_clause
        self.options: dict[str, Any] = dict(options or {})
        self.extensions: Mapping[str, bytes] = {}

    @property
    def primary_key(self) -> list[ColumnMetadata]:
        """Columns of the partition key and of the clustering key."""
        return self.partition_key + self.clustering_key

    @property
    def label(self) -> str:
        """Keyspace and name."""
        return f"Materialized view {self.keyspace_name}.{self.name}"

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE MATERIALIZED VIEW``."""
        line, and_ = ("\n    ", "\n    AND ") if formatted else (" ", " AND ")
        # The server keeps the text of a view's condition with the names as they were written, so
        # the columns are listed in the view's order, whichever the statement had.
        names = [protect_name(name) for name in self.columns]
        parts = [
            f"CREATE MATERIALIZED VIEW {qualified(self.keyspace_name, self.name)} AS",
            f"SELECT {'*' if self.include_all_columns else ', '.join(names)}",
            f"FROM {qualified(self.keyspace_name, self.base_table_name)}",
            f"WHERE {self.where_clause}",
            primary_key(self.partition_key, self.clustering_key),
        ]
        properties = [clustering_order(self.clustering_key)] if self.clustering_key else []
        properties += option_strings(self.options, of_view=True)
        if properties:
            parts.append(f"WITH {and_.join(properties)}")
        return line.join(parts)
