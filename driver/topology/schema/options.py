"""Options of tables and views: which columns of their rows are options, and their CQL text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .quoting import map_literal, protect_name, protect_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .column import ColumnMetadata

#: What a row of ``system_schema.tables`` or ``views`` has besides options. Everything else is taken
#: for an option, so that those of later servers are seen without a change here.
_NO_OPTIONS: Final = frozenset(
    {
        "keyspace_name",
        "table_name",
        "view_name",
        "id",
        "flags",
        "extensions",
        "base_table_id",
        "base_table_name",
        "include_all_columns",
        "where_clause",
    }
)
#: Cassandra 4.0 keeps these columns and takes their options for obsolete (CASSANDRA-13910).
_OBSOLETE_SINCE_4: Final = frozenset({"read_repair_chance", "dclocal_read_repair_chance"})
#: Data in a view expires with the data of its table; the server takes no other time.
_NOT_OF_VIEWS: Final = frozenset({"default_time_to_live"})


def options_of_row(row: Mapping[str, Any], major_version: int) -> dict[str, Any]:
    """The options in a row; those that are null have the server's default and are left out."""
    left_out = _NO_OPTIONS | _OBSOLETE_SINCE_4 if major_version >= 4 else _NO_OPTIONS
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in row.items()
        if name not in left_out and value is not None
    }


def option_strings(options: Mapping[str, Any], of_view: bool = False) -> list[str]:
    """Each option as ``name = value``, by name."""
    return [
        f"{name} = {map_literal(value) if isinstance(value, Mapping) else protect_value(value)}"
        for name, value in sorted(options.items())
        if value is not None and not (of_view and name in _NOT_OF_VIEWS)
    ]


def clustering_order(clustering_key: Sequence[ColumnMetadata]) -> str:
    """``CLUSTERING ORDER BY (a ASC, b DESC)``."""
    columns = (
        f"{protect_name(c.name)} {'DESC' if c.is_reversed else 'ASC'}" for c in clustering_key
    )
    return f"CLUSTERING ORDER BY ({', '.join(columns)})"


def primary_key(
    partition_key: Sequence[ColumnMetadata], clustering_key: Sequence[ColumnMetadata]
) -> str:
    """``PRIMARY KEY ((a, b), c)``, with as few parentheses as CQL takes."""
    partition = ", ".join(protect_name(column.name) for column in partition_key)
    if len(partition_key) > 1:
        partition = f"({partition})"
    rest = "".join(f", {protect_name(column.name)}" for column in clustering_key)
    return f"PRIMARY KEY ({partition}{rest})"
