"""Reads the schema, whole or in part, from a server of which it knows only how to ask it.

``ask`` runs CQL texts side by side and gives the rows of each as dicts; no rows for a table
that the server does not have. Connections and messages live in higher layers.

Source: the ``system_schema`` keyspace of Cassandra 3.0 and later (CASSANDRA-6717), virtual
keyspaces of 4.0 (CASSANDRA-7622), column masks of 5.0 (CEP-20), ScyllaDB's ``scylla_*`` tables.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from .function import same_types
from .quoting import protect_value
from .rows import (
    SchemaRows,
    aggregate_from_row,
    function_from_row,
    keyspace_from_row,
    table_from_row,
    user_type_from_row,
    view_from_row,
    virtual_keyspace_from_row,
    virtual_table_from_row,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .function import Aggregate, Function
    from .keyspace import KeyspaceMetadata
    from .part import SchemaPart
    from .table import MaterializedViewMetadata, TableMetadata
    from .user_type import UserType

Ask: TypeAlias = Callable[[Sequence[str]], Awaitable[list[list[dict[str, Any]]]]]

_Part = TypeVar("_Part", bound="SchemaPart")


class Source(NamedTuple):
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

_KEYSPACES: Final = (
    Source("keyspaces", "system_schema.keyspaces"),
    Source("scylla_keyspaces", "system_schema.scylla_keyspaces", versions=_SCYLLA),
)
_TABLES: Final = (
    Source("tables", "system_schema.tables", "table_name"),
    Source("views", "system_schema.views", "view_name"),
    Source("columns", "system_schema.columns", "table_name"),
    Source("indexes", "system_schema.indexes", "table_name"),
    Source("triggers", "system_schema.triggers", "table_name"),
    Source("column_masks", "system_schema.column_masks", "table_name", _SINCE_5),
    Source("scylla_tables", "system_schema.scylla_tables", "table_name", _SCYLLA),
)
_TYPES: Final = (Source("types", "system_schema.types", "type_name"),)
_FUNCTIONS: Final = (Source("functions", "system_schema.functions", "function_name"),)
_AGGREGATES: Final = (
    Source("aggregates", "system_schema.aggregates", "aggregate_name"),
    Source("scylla_aggregates", "system_schema.scylla_aggregates", "aggregate_name", _SCYLLA),
)
_VIRTUAL_TABLES: Final = (
    Source("virtual_tables", "system_virtual_schema.tables", "table_name", _SINCE_4),
    Source("virtual_columns", "system_virtual_schema.columns", "table_name", _SINCE_4),
)
_VIRTUAL: Final = (
    Source("virtual_keyspaces", "system_virtual_schema.keyspaces", versions=_SINCE_4),
    *_VIRTUAL_TABLES,
)
_STORED: Final = _KEYSPACES + _TABLES + _TYPES + _FUNCTIONS + _AGGREGATES

#: The newest server that the sources know, for one that does not say its version.
_NEWEST: Final = 5


def _major_version(release_version: str | None) -> int:
    """The major version in ``5.0.9`` or ``4.0-beta1``; the newest one if there is no text."""
    match = re.match(r"(\d{1,4})(?!\d)", release_version or "")
    return int(match[1]) if match else _NEWEST


async def _collect(
    ask: Ask, release_version: str | None, sources: Sequence[Source], *where: str
) -> SchemaRows:
    """The rows of schema tables, of those that the server can have.

    Args:
        ask: runs queries (see above).
        release_version: of the server that answers.
        sources: the schema tables.
        where: the keyspace, and the part of it, whose rows are wanted; all rows without.
    """
    rows = SchemaRows(_major_version(release_version))
    present = [source for source in sources if rows.major_version in source.versions]
    answers = await ask([source.query(*where) for source in present])
    for source, answer in zip(present, answers, strict=True):
        rows.add(source.name, answer)
    return rows


async def _read(
    ask: Ask,
    release_version: str | None,
    sources: Sequence[Source],
    readers: Mapping[str, Callable[..., _Part]],
    *where: str,
    argument_types: Sequence[str] | None = None,
) -> _Part | None:
    """What the first row of a source with a reader describes; None if there is no row.

    Args:
        ask: runs queries (see above).
        release_version: of the server that answers.
        sources: the schema tables that describe such a part.
        readers: what reads the rows of a source.
        where: as for ``_collect``.
        argument_types: of the function or aggregate that is wanted.
    """
    rows = await _collect(ask, release_version, sources, *where)
    for source, read in readers.items():
        for row in rows.of(source, where[0]):
            if argument_types is None or same_types(
                row["argument_types"], argument_types, where[0]
            ):
                return read(row, rows)
    return None


async def read_keyspaces(ask: Ask, release_version: str | None) -> dict[str, KeyspaceMetadata]:
    """Every keyspace with everything in it, virtual ones included, by name.

    Args:
        ask: runs queries (see above).
        release_version: of the server that answers; decides which tables are asked for.
    """
    rows = await _collect(ask, release_version, _STORED + _VIRTUAL)
    stored = rows.parts(keyspace_from_row, "keyspaces")
    return stored | rows.parts(virtual_keyspace_from_row, "virtual_keyspaces")


async def read_keyspace(
    ask: Ask, release_version: str | None, name: str
) -> KeyspaceMetadata | None:
    """A keyspace with everything in it; None if there is none of that name."""
    stored = {"keyspaces": keyspace_from_row}
    virtual = {"virtual_keyspaces": virtual_keyspace_from_row}
    # Virtual ones never change: they are not asked for along with every change of another.
    return await _read(ask, release_version, _STORED, stored, name) or await _read(
        ask, release_version, _VIRTUAL, virtual, name
    )


async def read_table(
    ask: Ask, release_version: str | None, keyspace: str, name: str
) -> TableMetadata | MaterializedViewMetadata | None:
    """A table or materialized view; None if there is neither. The views of a table are not read."""
    stored: Mapping[str, Callable[..., TableMetadata | MaterializedViewMetadata]] = {
        "tables": table_from_row,
        "views": view_from_row,
    }
    virtual = {"virtual_tables": virtual_table_from_row}
    return await _read(ask, release_version, _TABLES, stored, keyspace, name) or await _read(
        ask, release_version, _VIRTUAL_TABLES, virtual, keyspace, name
    )


async def read_type(
    ask: Ask, release_version: str | None, keyspace: str, name: str
) -> UserType | None:
    """A user-defined type; None if there is none of that name."""
    readers = {"types": user_type_from_row}
    return await _read(ask, release_version, _TYPES, readers, keyspace, name)


async def read_function(
    ask: Ask, release_version: str | None, keyspace: str, name: str, argument_types: Sequence[str]
) -> Function | None:
    """A user-defined function; None if there is none of that name with these arguments."""
    readers = {"functions": function_from_row}
    where = (keyspace, name)
    return await _read(
        ask, release_version, _FUNCTIONS, readers, *where, argument_types=argument_types
    )


async def read_aggregate(
    ask: Ask, release_version: str | None, keyspace: str, name: str, argument_types: Sequence[str]
) -> Aggregate | None:
    """A user-defined aggregate; None if there is none of that name with these arguments."""
    readers = {"aggregates": aggregate_from_row}
    where = (keyspace, name)
    return await _read(
        ask, release_version, _AGGREGATES, readers, *where, argument_types=argument_types
    )
