"""Tables: columns, keys, options, and the indexes, triggers and views that belong to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .options import clustering_order, option_strings, primary_key
from .part import APPROXIMATE, SchemaPart, commented
from .quoting import qualified

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .attachments import IndexMetadata, TriggerMetadata
    from .column import ColumnMetadata, PartitionKeyColumn
    from .view import MaterializedViewMetadata


class TableMetadata(SchemaPart):
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
        self.keyspace_name = keyspace_name
        self.name = name
        # A bare name serves routing only: whatever writes a table as CQL has whole columns.
        self.partition_key = cast("list[ColumnMetadata]", list(partition_key or ()))
        self.clustering_key: list[ColumnMetadata] = list(clustering_key or ())
        self.columns: dict[str, ColumnMetadata] = dict(columns or {})
        self.indexes: dict[str, IndexMetadata] = {}
        self.triggers: dict[str, TriggerMetadata] = dict(triggers or {})
        self.views: dict[str, MaterializedViewMetadata] = {}
        self.options: dict[str, Any] = dict(options or {})
        self.extensions: Mapping[str, bytes] = {}
        self.is_compact_storage = False
        self.is_super = False
        self.virtual = virtual

    @property
    def primary_key(self) -> list[ColumnMetadata]:
        """Columns of the partition key and of the clustering key."""
        return self.partition_key + self.clustering_key

    @property
    def is_cql_compatible(self) -> bool:
        """Whether a statement can create it."""
        return not self.is_super and not self.virtual

    @property
    def label(self) -> str:
        """Keyspace and name."""
        return f"Table {self.keyspace_name}.{self.name}"

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
