"""From rows of the schema tables to metadata. A part that fails says so and hides nothing else."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

from ...protocol.limits import shortened
from ..replication import UnknownStrategy
from .column import ColumnMask, ColumnMetadata
from .function import Aggregate, Function, same_types
from .keyspace import KeyspaceMetadata
from .options import (
    consistency_of_row,
    options_of_extensions,
    options_of_row,
    options_of_scylla_row,
    tablets_of_row,
)
from .table import IndexMetadata, MaterializedViewMetadata, TableMetadata, TriggerMetadata
from .user_type import UserType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .part import SchemaPart

    Row = Mapping[str, Any]

log = logging.getLogger(__name__)

_Part = TypeVar("_Part", bound="SchemaPart")


class SchemaRows:
    """Rows by schema table and keyspace, and by table where they belong to one.

    Attributes:
        major_version: of the server.
    """

    def __init__(self, major_version: int) -> None:
        """Hold nothing yet."""
        self.major_version = major_version
        self._rows: dict[tuple[str | None, ...], list[Row]] = {}

    def add(self, source: str, rows: Iterable[Row]) -> None:
        """Keep rows of a schema table."""

        def keep(row: Row) -> None:
            keyspace = row.get("keyspace_name")
            table = row.get("table_name") or row.get("view_name")
            keys: list[tuple[str | None, ...]] = [(source,), (source, keyspace)]
            keys += [] if table is None else [(source, keyspace, table)]
            # Names that are no names cannot be looked up: all keys before the first is kept.
            for kept in [self._rows.setdefault(key, []) for key in keys]:
                kept.append(row)

        each_apart(keep, rows)

    def of(self, source: str, *where: str) -> list[Row]:
        """Rows of a schema table: all, those of a keyspace, or those of one table of it."""
        return self._rows.get((source, *where), [])

    def parts(
        self, read: Callable[[Row, SchemaRows], _Part], source: str, *where: str
    ) -> dict[str, _Part]:
        """What is read of each of these rows, by its name or signature."""
        found: dict[str, _Part] = {}

        def add(row: Row) -> None:
            part = read(row, self)
            found[part.key] = part

        each_apart(add, self.of(source, *where))
        return found


def _filled(part: _Part, fill: Callable[[_Part], None]) -> _Part:
    """A part after ``fill``; one that fails keeps what it has, and the reason."""
    try:
        fill(part)
    except Exception as error:
        log.exception("Cannot read the schema of %s", part.label)
        # Without the traceback, whose frames would keep every row alive.
        part._exc_info = (type(error), error.with_traceback(None), None)  # noqa: SLF001  (same folder)
    return part


def _place(relation: TableMetadata | MaterializedViewMetadata, rows: Sequence[Row]) -> None:
    """Put columns into a table or view: keys by position, then the others in the rows' order."""
    by_name = {column.name: column for column in (_column(relation, row) for row in rows)}
    keyed = sorted((row["position"], row["kind"], row["column_name"]) for row in rows)
    relation.partition_key = [by_name[n] for _, kind, n in keyed if kind == "partition_key"]
    relation.clustering_key = [by_name[n] for _, kind, n in keyed if kind == "clustering"]
    key = (*relation.partition_key, *relation.clustering_key)
    relation.columns = {column.name: column for column in key} | by_name


def _column(relation: TableMetadata | MaterializedViewMetadata, row: Row) -> ColumnMetadata:
    is_reversed = str(row.get("clustering_order")).lower() == "desc"
    is_static = row["kind"] == "static"
    return ColumnMetadata(relation, row["column_name"], row["type"], is_static, is_reversed)


def _mask(row: Row) -> ColumnMask:
    return ColumnMask.from_texts(
        row["function_keyspace"],
        row["function_name"],
        row["function_argument_types"] or (),
        row["function_argument_values"] or (),
        row["function_argument_nulls"] or (),
    )


def _shown_columns(rows: Sequence[Row], flags: Iterable[str]) -> list[Row]:
    """The columns that CQL shows of a table.

    A compact table without clustering columns in CQL ("static") is stored with two that have no
    meaning, and with its columns as static ones; one with nothing but a key has a column of the
    type ``empty``. Source: CASSANDRA-8099, ``CompactTables``.
    """
    present = set(flags)
    if present & {"compound", "dense", "super"}:
        return [row for row in rows if row["type"] != "empty"]
    return [
        {**row, "kind": "regular"} if row["kind"] == "static" else row
        for row in rows
        if row["kind"] in ("partition_key", "static")
    ]


def table_from_row(row: Row, rows: SchemaRows) -> TableMetadata:
    """The table of a row of ``system_schema.tables``."""

    def fill(table: TableMetadata) -> None:
        where = (table.keyspace_name, table.name)
        flags = set(row["flags"] or ())
        table.is_super = "super" in flags
        table.is_compact_storage = bool(flags & {"dense", "super"}) or "compound" not in flags
        _fill_relation(table, row, rows, _shown_columns(rows.of("columns", *where), flags))
        for index in rows.of("indexes", *where):
            name, kind, options = index["index_name"], index["kind"], index["options"]
            table.indexes[name] = IndexMetadata(*where, name, kind, options)
        for trigger in rows.of("triggers", *where):
            name = trigger["trigger_name"]
            table.triggers[name] = TriggerMetadata(table, name, trigger["options"])

    return _filled(TableMetadata(row["keyspace_name"], row["table_name"]), fill)


def _fill_relation(
    relation: TableMetadata | MaterializedViewMetadata,
    row: Row,
    rows: SchemaRows,
    columns: Sequence[Row],
) -> None:
    """Options, extensions and columns, which tables and views have alike."""
    where = (relation.keyspace_name, relation.name)
    relation.options = options_of_row(row, rows.major_version)
    relation.extensions = dict(row.get("extensions") or {})
    relation.options |= options_of_extensions(relation.extensions)
    for scylla_row in rows.of("scylla_tables", *where):
        relation.options |= options_of_scylla_row(scylla_row)
    _place(relation, columns)
    for mask in rows.of("column_masks", *where):
        relation.columns[mask["column_name"]].mask = _mask(mask)


def view_from_row(row: Row, rows: SchemaRows) -> MaterializedViewMetadata:
    """The materialized view of a row of ``system_schema.views``."""

    def fill(view: MaterializedViewMetadata) -> None:
        view.base_table_name = row["base_table_name"]
        view.include_all_columns = bool(row["include_all_columns"])
        view.where_clause = row["where_clause"]
        _fill_relation(view, row, rows, rows.of("columns", view.keyspace_name, view.name))

    view = MaterializedViewMetadata(row["keyspace_name"], row["view_name"], "", False, "", None)
    return _filled(view, fill)


def virtual_table_from_row(row: Row, rows: SchemaRows) -> TableMetadata:
    """The table of a row of ``system_virtual_schema.tables``."""

    def fill(table: TableMetadata) -> None:
        table.options = {"comment": row["comment"]} if row.get("comment") else {}
        _place(table, rows.of("virtual_columns", table.keyspace_name, table.name))

    return _filled(TableMetadata(row["keyspace_name"], row["table_name"], virtual=True), fill)


def user_type_from_row(row: Row, _: SchemaRows) -> UserType:
    """The type of a row of ``system_schema.types``."""

    def fill(user_type: UserType) -> None:
        names, types = list(row["field_names"]), list(row["field_types"])
        if len(names) != len(types):
            raise ValueError(f"{len(names)} field names and {len(types)} field types")
        user_type.field_names, user_type.field_types = names, types

    return _filled(UserType(row["keyspace_name"], row["type_name"], (), ()), fill)


def function_from_row(row: Row, _: SchemaRows) -> Function:
    """The function of a row of ``system_schema.functions``."""

    def fill(function: Function) -> None:
        function.argument_names = list(row["argument_names"] or ())
        function.return_type = row["return_type"]
        function.language = row["language"]
        function.body = row["body"]
        function.called_on_null_input = bool(row["called_on_null_input"])
        function.deterministic = bool(row.get("deterministic"))
        function.monotonic = bool(row.get("monotonic"))
        function.monotonic_on = list(row.get("monotonic_on") or ())

    types = list(row["argument_types"] or ())
    keyspace, name = row["keyspace_name"], row["function_name"]
    return _filled(Function(keyspace, name, types, (), "", "", "", False), fill)


def aggregate_from_row(row: Row, rows: SchemaRows) -> Aggregate:
    """The aggregate of a row of ``system_schema.aggregates``."""

    def fill(aggregate: Aggregate) -> None:
        aggregate.state_func = row["state_func"]
        aggregate.state_type = row["state_type"]
        aggregate.final_func = row["final_func"]
        aggregate.initial_condition = row["initcond"]
        aggregate.return_type = row["return_type"]
        aggregate.deterministic = bool(row.get("deterministic"))
        for scylla_row in rows.of("scylla_aggregates", aggregate.keyspace):
            if scylla_row["aggregate_name"] == name and same_types(
                scylla_row["argument_types"], types, keyspace
            ):
                aggregate.reduce_func = scylla_row["reduce_func"]

    types = list(row["argument_types"] or ())
    keyspace, name = row["keyspace_name"], row["aggregate_name"]
    return _filled(Aggregate(keyspace, name, types, "", "", None, None, ""), fill)


def keyspace_from_row(row: Row, rows: SchemaRows) -> KeyspaceMetadata:
    """The keyspace of a row of ``system_schema.keyspaces``, with everything in it."""
    name = row["keyspace_name"]
    keyspace = _filled(KeyspaceMetadata(name, True, None, None), lambda ks: _replicate(ks, row))
    for scylla_row in rows.of("scylla_keyspaces", name):
        keyspace.tablets = tablets_of_row(scylla_row)
        keyspace.consistency = consistency_of_row(scylla_row)
    keyspace.user_types = rows.parts(user_type_from_row, "types", name)
    keyspace.functions = rows.parts(function_from_row, "functions", name)
    keyspace.aggregates = rows.parts(aggregate_from_row, "aggregates", name)
    keyspace.tables = rows.parts(table_from_row, "tables", name)
    for table in keyspace.tables.values():
        keyspace.indexes |= table.indexes
    each_apart(lambda row: keyspace.add_view(view_from_row(row, rows)), rows.of("views", name))
    return keyspace


def each_apart(take: Callable[[Row], None], rows: Iterable[Row]) -> None:
    """Take each row; one that cannot be read is logged, and hides none of the others."""
    for row in rows:
        try:
            take(row)
        except Exception:
            log.exception("Cannot read a row of the schema: %s", shortened(repr(row)))


def _replicate(keyspace: KeyspaceMetadata, row: Row) -> None:
    """Read how a keyspace is replicated."""
    keyspace.durable_writes = bool(row["durable_writes"])
    options = dict(row["replication"])
    strategy_class = options.pop("class", None)
    try:
        described = KeyspaceMetadata(keyspace.name, True, strategy_class, options)
    except ValueError:
        keyspace.replication_strategy = UnknownStrategy(strategy_class.rpartition(".")[2], options)
        raise
    keyspace.replication_strategy = described.replication_strategy


def virtual_keyspace_from_row(row: Row, rows: SchemaRows) -> KeyspaceMetadata:
    """The keyspace of a row of ``system_virtual_schema.keyspaces``, with its tables."""
    name = row["keyspace_name"]
    keyspace = KeyspaceMetadata(name, False, None, None)
    keyspace.virtual = True
    keyspace.tables = rows.parts(virtual_table_from_row, "virtual_tables", name)
    return keyspace
