"""Tables, materialized views, and what is attached to them: options, indexes, triggers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from .part import APPROXIMATE, SchemaPart, commented
from .quoting import map_literal, protect_name, protect_value, qualified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .column import ColumnMetadata, PartitionKeyColumn

#: Data in a view expires with the data of its table; the server takes no other time.
_NOT_OF_VIEWS: Final = frozenset({"default_time_to_live"})


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


class IndexMetadata(SchemaPart):
    """A secondary index.

    Attributes:
        keyspace_name: the keyspace of its table.
        table_name: its table.
        name: its own name.
        kind: ``COMPOSITES``, ``KEYS`` or ``CUSTOM``.
        index_options: ``target`` (CQL text: a column or a part of a collection), for a custom
            index ``class_name``, and options of its own.
    """

    _LABEL = "Index {0.keyspace_name}.{0.name}"

    def __init__(
        self,
        keyspace_name: str,
        table_name: str,
        index_name: str,
        kind: str,
        index_options: Mapping[str, Any] | None,
    ) -> None:
        """Describe an index as ``system_schema.indexes`` does."""
        self.keyspace_name = keyspace_name
        self.table_name = table_name
        self.name = index_name
        self.kind = kind
        self.index_options = dict(index_options or {})

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE INDEX`` or ``CREATE CUSTOM INDEX``; always on one line."""
        del formatted
        options = dict(self.index_options)
        target = options.pop("target", "")
        where = f"{protect_name(self.name)} ON {qualified(self.keyspace_name, self.table_name)}"
        if self.kind != "CUSTOM":
            return f"CREATE INDEX {where} ({target})"
        using = f" USING {protect_value(options.pop('class_name', ''))}"
        if options:
            using += f" WITH OPTIONS = {map_literal(options)}"
        return f"CREATE CUSTOM INDEX {where} ({target}){using}"


class TriggerMetadata(SchemaPart):
    """A trigger.

    Attributes:
        table: its table.
        name: its own name.
        options: ``class``, the Java class that is called.
    """

    _LABEL = "Trigger {0.table.keyspace_name}.{0.table.name}.{0.name}"

    def __init__(
        self,
        table_metadata: TableMetadata,
        trigger_name: str,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe a trigger as ``system_schema.triggers`` does."""
        self.table = table_metadata
        self.name = trigger_name
        self.options = dict(options or {})

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE TRIGGER``; always on one line."""
        del formatted
        where = qualified(self.table.keyspace_name, self.table.name)
        java_class = protect_value(self.options.get("class", ""))
        return f"CREATE TRIGGER {protect_name(self.name)} ON {where} USING {java_class}"


class _Relation(SchemaPart):
    """What tables and views share."""

    def __init__(self, keyspace_name: str, name: str, options: Mapping[str, Any] | None) -> None:
        """Have no columns yet."""
        self.keyspace_name = keyspace_name
        self.name = name
        self.partition_key: list[ColumnMetadata] = []
        self.clustering_key: list[ColumnMetadata] = []
        self.columns: dict[str, ColumnMetadata] = {}
        self.options: dict[str, Any] = dict(options or {})
        self.extensions: Mapping[str, bytes] = {}

    @property
    def primary_key(self) -> list[ColumnMetadata]:
        """Columns of the partition key and of the clustering key."""
        return self.partition_key + self.clustering_key


class TableMetadata(_Relation):
    """A table.

    Attributes:
        keyspace_name: the keyspace it lives in.
        name: its name.
        partition_key: columns of its partition key, in order.
        clustering_key: columns of its clustering key, in order.
        columns: all columns by name, those of the key first.
        indexes: its secondary indexes by name.
        triggers: its triggers by name.
        views: the materialized views of it by name.
        options: options by name; values are texts, numbers, booleans or maps of texts.
        extensions: opaque options of the server's extensions.
        is_compact_storage: it has the storage of Cassandra's Thrift days.
        is_super: it is a super column family, which CQL cannot create.
        virtual: the server makes its rows up.
    """

    _LABEL = "Table {0.keyspace_name}.{0.name}"

    def __init__(
        self,
        keyspace_name: str,
        name: str,
        partition_key: Sequence[ColumnMetadata | PartitionKeyColumn] | None = None,
        clustering_key: Sequence[ColumnMetadata] | None = None,
        columns: Mapping[str, ColumnMetadata] | None = None,
        triggers: Mapping[str, TriggerMetadata] | None = None,
        options: Mapping[str, Any] | None = None,
        virtual: bool = False,
    ) -> None:
        """Describe a table; routing needs no more than its partition key."""
        super().__init__(keyspace_name, name, options)
        # A bare name serves routing only: whatever writes a table as CQL has whole columns.
        self.partition_key = cast("list[ColumnMetadata]", list(partition_key or ()))
        self.clustering_key = list(clustering_key or ())
        self.columns = dict(columns or {})
        self.indexes: dict[str, IndexMetadata] = {}
        self.triggers: dict[str, TriggerMetadata] = dict(triggers or {})
        self.views: dict[str, MaterializedViewMetadata] = {}
        self.is_compact_storage = False
        self.is_super = False
        self.virtual = virtual

    @property
    def is_cql_compatible(self) -> bool:
        """Whether a statement can create it."""
        return not self.is_super and not self.virtual

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE TABLE``; what belongs to the table is not part of it."""
        opening, comma, closing, and_ = (
            ("\n    ", ",\n    ", "\n", "\n    AND ") if formatted else ("", ", ", "", " AND ")
        )
        verb = "VIRTUAL" if self.virtual else "CREATE"
        definition = f"{verb} TABLE {qualified(self.keyspace_name, self.name)} ("
        definition += f"{opening}{comma.join(self._column_strings())}{closing})"
        properties = self._property_strings()
        return f"{definition} WITH {and_.join(properties)}" if properties else definition

    def _column_strings(self) -> list[str]:
        """Each column, and the primary key."""
        key = self.primary_key
        if len(key) != 1:
            columns = [column.as_cql() for column in self.columns.values()]
            return [*columns, primary_key(self.partition_key, self.clustering_key)]
        return [
            column.as_cql() + (" PRIMARY KEY" if name == key[0].name else "")
            for name, column in self.columns.items()
        ]

    #: The name that the object mapper of other CQL drivers calls it by.
    _make_option_strings = staticmethod(option_strings)

    def _property_strings(self) -> list[str]:
        """What stands behind ``WITH``."""
        if self.virtual:
            return option_strings({"comment": self.options.get("comment")})
        properties = ["COMPACT STORAGE"] if self.is_compact_storage else []
        if self.clustering_key:
            properties.append(clustering_order(self.clustering_key))
        return properties + option_strings(self.options)

    def _export(self) -> str:
        """The table, its indexes, its triggers and its views."""
        table = f"{self.as_cql_query(formatted=True)};"
        lines = [part.export_as_string() for part in self.indexes.values()]
        lines += [part.export_as_string() for part in self.triggers.values()]
        text = "\n".join([table, *lines])
        text = "\n\n".join([text, *(view.export_as_string() for view in self.shown_views())])
        if self.virtual:
            reason = f"Warning: {self.label} is a virtual table and cannot be recreated with CQL."
            return commented(f"{reason}\nStructure, for reference:", text)
        if self.is_super:
            reason = f"Warning: {self.label} omitted because it has constructs not compatible with "
            return commented(f"{reason}CQL (was created via legacy API).\n{APPROXIMATE}", text)
        return text

    def shown_views(self) -> list[MaterializedViewMetadata]:
        """Views that were created as such.

        ScyllaDB keeps a secondary index in a view called ``<index>_index``, which comes and goes
        with the index.
        """
        of_indexes = {f"{name}_index" for name in self.indexes}
        return [view for name, view in self.views.items() if name not in of_indexes]


class MaterializedViewMetadata(_Relation):
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

    _LABEL = "Materialized view {0.keyspace_name}.{0.name}"

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
        super().__init__(keyspace_name, view_name, options)
        self.base_table_name = base_table_name
        self.include_all_columns = include_all_columns
        self.where_clause = where_clause

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
