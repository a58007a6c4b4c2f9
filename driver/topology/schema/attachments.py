"""What is attached to a table and created after it: indexes and triggers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .part import SchemaPart
from .quoting import map_literal, protect_name, protect_value, qualified

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .table import TableMetadata


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

    @property
    def label(self) -> str:
        """Keyspace and name."""
        return f"Index {self.keyspace_name}.{self.name}"

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

    @property
    def label(self) -> str:
        """Keyspace, table and name."""
        return f"Trigger {self.table.keyspace_name}.{self.table.name}.{self.name}"

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE TRIGGER``; always on one line."""
        del formatted
        where = qualified(self.table.keyspace_name, self.table.name)
        java_class = protect_value(self.options.get("class", ""))
        return f"CREATE TRIGGER {protect_name(self.name)} ON {where} USING {java_class}"
