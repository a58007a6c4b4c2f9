"""Which schema tables are read for which part of the schema, and the text of the queries.

Source: the ``system_schema`` keyspace of Cassandra 3.0 and later (CASSANDRA-6717), virtual
keyspaces of 4.0 (CASSANDRA-7622), column masks of 5.0 (CEP-20), ScyllaDB's ``scylla_*`` tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .quoting import protect_value


@dataclass(frozen=True, slots=True)
class Source:
    """A schema table.

    Attributes:
        name: what its rows are kept under.
        table: its full name.
        name_column: the column that names a part; empty for keyspaces.
        versions: major versions of servers that have it. ScyllaDB says that it is version 3.
    """

    name: str
    table: str
    name_column: str = ""
    versions: range = range(3, 1000)

    def query(self, keyspace: str | None = None, name: str | None = None) -> str:
        """The query for all rows, those of a keyspace, or those of one part of it."""
        text = f"SELECT * FROM {self.table}"  # noqa: S608  (a constant of this module)
        if keyspace is not None:
            text += f" WHERE keyspace_name = {protect_value(keyspace)}"
        if name is not None:
            text += f" AND {self.name_column} = {protect_value(name)}"
        return text


_SCYLLA: Final = range(3, 4)
_SINCE_4: Final = range(4, 1000)
_SINCE_5: Final = range(5, 1000)

KEYSPACES: Final = (
    Source("keyspaces", "system_schema.keyspaces"),
    Source("scylla_keyspaces", "system_schema.scylla_keyspaces", versions=_SCYLLA),
)
TABLES: Final = (
    Source("tables", "system_schema.tables", "table_name"),
    Source("views", "system_schema.views", "view_name"),
    Source("columns", "system_schema.columns", "table_name"),
    Source("indexes", "system_schema.indexes", "table_name"),
    Source("triggers", "system_schema.triggers", "table_name"),
    Source("column_masks", "system_schema.column_masks", "table_name", _SINCE_5),
    Source("scylla_tables", "system_schema.scylla_tables", "table_name", _SCYLLA),
)
TYPES: Final = (Source("types", "system_schema.types", "type_name"),)
FUNCTIONS: Final = (Source("functions", "system_schema.functions", "function_name"),)
AGGREGATES: Final = (
    Source("aggregates", "system_schema.aggregates", "aggregate_name"),
    Source("scylla_aggregates", "system_schema.scylla_aggregates", "aggregate_name", _SCYLLA),
)
VIRTUAL_TABLES: Final = (
    Source("virtual_tables", "system_virtual_schema.tables", "table_name", _SINCE_4),
    Source("virtual_columns", "system_virtual_schema.columns", "table_name", _SINCE_4),
)
VIRTUAL: Final = (
    Source("virtual_keyspaces", "system_virtual_schema.keyspaces", versions=_SINCE_4),
    *VIRTUAL_TABLES,
)
STORED: Final = KEYSPACES + TABLES + TYPES + FUNCTIONS + AGGREGATES

#: The newest server that the sources know, for one that does not say its version.
_NEWEST: Final = 5


def major_version(release_version: str | None) -> int:
    """The major version in ``5.0.9`` or ``4.0-beta1``; the newest one if there is no text."""
    match = re.match(r"(\d{1,4})(?!\d)", release_version or "")
    return int(match[1]) if match else _NEWEST
