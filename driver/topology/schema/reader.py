"""Reads the schema, whole or in part, from a server of which it knows only how to ask it.

``ask`` runs CQL texts side by side and gives the rows of each as dicts; no rows for a table
that the server does not have. Connections and messages live in higher layers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from . import queries
from .function import same_types
from .rows import (
    SchemaRows,
    aggregate_from_row,
    each_apart,
    function_from_row,
    keyspace_from_row,
    table_from_row,
    user_type_from_row,
    view_from_row,
    virtual_keyspace_from_row,
    virtual_table_from_row,
)

if TYPE_CHECKING:
    from .function import Aggregate, Function
    from .keyspace import KeyspaceMetadata
    from .table import TableMetadata
    from .user_type import UserType
    from .view import MaterializedViewMetadata

Ask: TypeAlias = Callable[[Sequence[str]], Awaitable[list[list[dict[str, Any]]]]]


async def _collect(
    ask: Ask,
    release_version: str | None,
    sources: Sequence[queries.Source],
    keyspace: str | None = None,
    name: str | None = None,
) -> SchemaRows:
    """The rows of schema tables, of those that the server can have."""
    rows = SchemaRows(queries.major_version(release_version))
    present = [source for source in sources if rows.major_version in source.versions]
    answers = await ask([source.query(keyspace, name) for source in present])
    for source, answer in zip(present, answers, strict=True):
        rows.add(source.name, answer)
    return rows


async def read_keyspaces(ask: Ask, release_version: str | None) -> dict[str, KeyspaceMetadata]:
    """Every keyspace with everything in it, virtual ones included, by name.

    Args:
        ask: runs queries (see above).
        release_version: of the server that answers; decides which tables are asked for.
    """
    rows = await _collect(ask, release_version, queries.STORED + queries.VIRTUAL)
    found: dict[str, KeyspaceMetadata] = {}

    def add(keyspace: KeyspaceMetadata) -> None:
        found[keyspace.name] = keyspace

    each_apart(lambda row: add(keyspace_from_row(row, rows)), rows.all("keyspaces"))
    each_apart(lambda row: add(virtual_keyspace_from_row(row, rows)), rows.all("virtual_keyspaces"))
    return found


async def read_keyspace(
    ask: Ask, release_version: str | None, name: str
) -> KeyspaceMetadata | None:
    """A keyspace with everything in it; None if there is none of that name."""
    rows = await _collect(ask, release_version, queries.STORED, name)
    for row in rows.of("keyspaces", name):
        return keyspace_from_row(row, rows)
    # Virtual ones never change: they are not asked for along with every change of another.
    rows = await _collect(ask, release_version, queries.VIRTUAL, name)
    for row in rows.of("virtual_keyspaces", name):
        return virtual_keyspace_from_row(row, rows)
    return None


async def read_table(
    ask: Ask, release_version: str | None, keyspace: str, name: str
) -> TableMetadata | MaterializedViewMetadata | None:
    """A table or materialized view; None if there is neither. The views of a table are not read."""
    rows = await _collect(ask, release_version, queries.TABLES, keyspace, name)
    for row in rows.of("tables", keyspace, name):
        return table_from_row(row, rows)
    for row in rows.of("views", keyspace, name):
        return view_from_row(row, rows)
    rows = await _collect(ask, release_version, queries.VIRTUAL_TABLES, keyspace, name)
    for row in rows.of("virtual_tables", keyspace, name):
        return virtual_table_from_row(row, rows)
    return None


async def read_type(
    ask: Ask, release_version: str | None, keyspace: str, name: str
) -> UserType | None:
    """A user-defined type; None if there is none of that name."""
    rows = await _collect(ask, release_version, queries.TYPES, keyspace, name)
    for row in rows.of("types", keyspace):
        return user_type_from_row(row)
    return None


async def read_function(
    ask: Ask, release_version: str | None, keyspace: str, name: str, argument_types: Sequence[str]
) -> Function | None:
    """A user-defined function; None if there is none of that name with these arguments."""
    rows = await _collect(ask, release_version, queries.FUNCTIONS, keyspace, name)
    for row in rows.of("functions", keyspace):
        if same_types(row["argument_types"], argument_types, keyspace):
            return function_from_row(row)
    return None


async def read_aggregate(
    ask: Ask, release_version: str | None, keyspace: str, name: str, argument_types: Sequence[str]
) -> Aggregate | None:
    """A user-defined aggregate; None if there is none of that name with these arguments."""
    rows = await _collect(ask, release_version, queries.AGGREGATES, keyspace, name)
    for row in rows.of("aggregates", keyspace):
        if same_types(row["argument_types"], argument_types, keyspace):
            return aggregate_from_row(row, rows)
    return None
