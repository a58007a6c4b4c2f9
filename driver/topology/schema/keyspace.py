"""Keyspaces: how they are replicated, and everything that lives in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..replication import ReplicationStrategy
from .part import SchemaPart, commented
from .quoting import protect_name, protect_value
from .user_type import in_order_of_creation, names_in_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .function import Aggregate, Function
    from .table import IndexMetadata, MaterializedViewMetadata, TableMetadata
    from .user_type import UserType

_CDC_LOG = "_scylla_cdc_log"
#: The only value of the ``consistency`` option under which ScyllaDB has leaders.
_WITH_LEADERS = "global"


class KeyspaceMetadata(SchemaPart):
    """A keyspace.

    Attributes:
        name: its name.
        durable_writes: whether writes go through the commit log.
        replication_strategy: how replicas are chosen; None without a class.
        tables: by name.
        indexes: secondary indexes of all tables, by name.
        views: materialized views by name.
        user_types: by name.
        functions: by signature, ``name(type,type)``.
        aggregates: by signature.
        virtual: the server makes its rows up.
        graph_engine: always None; DataStax Enterprise has such keyspaces.
        tablets: ScyllaDB's ``tablets`` option; None if the server does not say.
        consistency: ScyllaDB's ``consistency`` option: "global" where a tablet has a leader, which
            orders its requests by Raft; None if the server does not say.
    """

    _LABEL = "Keyspace {0.name}"

    def __init__(
        self,
        name: str,
        durable_writes: bool,
        strategy_class: str | None,
        strategy_options: Mapping[str, Any] | None,
        graph_engine: str | None = None,
    ) -> None:
        """Describe a keyspace as ``system_schema.keyspaces`` does.

        Raises:
            ValueError: a replication factor cannot be read.
        """
        self.name = name
        self.durable_writes = durable_writes
        self.replication_strategy = ReplicationStrategy.create(strategy_class, strategy_options)
        self.graph_engine = graph_engine
        self.tables: dict[str, TableMetadata] = {}
        self.indexes: dict[str, IndexMetadata] = {}
        self.views: dict[str, MaterializedViewMetadata] = {}
        self.user_types: dict[str, UserType] = {}
        self.functions: dict[str, Function] = {}
        self.aggregates: dict[str, Aggregate] = {}
        self.virtual = False
        self.tablets: Mapping[str, Any] | None = None
        self.consistency: str | None = None

    @property
    def has_leaders(self) -> bool:
        """Whether one replica of each tablet coordinates what is written and read at a quorum."""
        return self.consistency == _WITH_LEADERS

    @property
    def is_graph_enabled(self) -> bool:
        """Whether it is a graph of DataStax Enterprise."""
        return self.graph_engine is not None

    def add_table(self, table: TableMetadata) -> None:
        """Add or replace a table with its indexes; the views of it that are known stay."""
        shown = {n: v for n, v in self.views.items() if v.base_table_name == table.name}
        table.views = {**table.views, **shown}
        # Replaced, never changed: whoever reads from another thread sees one state or the other.
        others = {n: i for n, i in self.indexes.items() if i.table_name != table.name}
        self.indexes = {**others, **table.indexes}
        self.tables = {**self.tables, table.name: table}

    def add_view(self, view: MaterializedViewMetadata) -> None:
        """Add or replace a view, also at its table."""
        self.views = {**self.views, view.name: view}
        table = self.tables.get(view.base_table_name)
        if table is not None:
            table.views = {**table.views, view.name: view}

    def drop_table(self, name: str) -> None:
        """Forget a table with its indexes and views, or a view."""
        table = self.tables.get(name)
        views = {name} if table is None else {name, *table.views}
        for view in (self.views[n] for n in views & self.views.keys()):
            base = self.tables.get(view.base_table_name)
            if base is not None:
                base.views = {n: v for n, v in base.views.items() if n != view.name}
        self.views = {n: v for n, v in self.views.items() if n not in views}
        self.indexes = {n: i for n, i in self.indexes.items() if i.table_name != name}
        self.tables = {n: t for n, t in self.tables.items() if n != name}

    def user_type_strings(self) -> list[str]:
        """The text of each user-defined type, behind those that it is made of."""
        return [part.export_as_string() for part in in_order_of_creation(self.user_types)]

    def user_types_of(self, cql_type: str) -> list[UserType]:
        """The user-defined types that a type is made of, directly or not, in order of creation.

        Raises:
            ValueError: the text is no CQL type.
        """
        found: dict[str, UserType] = {}
        wanted = set(names_in_type(cql_type))
        while wanted:
            name = wanted.pop()
            if name in self.user_types and name not in found:
                found[name] = self.user_types[name]
                for field_type in found[name].field_types:
                    wanted.update(names_in_type(field_type))
        return in_order_of_creation(found)

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE KEYSPACE``; a line comment for a virtual one."""
        del formatted
        if self.virtual:
            return f"// VIRTUAL KEYSPACE {protect_name(self.name)}"
        strategy = self.replication_strategy
        replication = strategy.export_for_schema() if strategy else "{}"
        # Two spaces, as servers and drivers print it.
        text = (
            f"CREATE KEYSPACE {protect_name(self.name)} WITH replication = {replication} "
            f" AND durable_writes = {'true' if self.durable_writes else 'false'}"
        )
        if self.tablets:
            text += f" AND tablets = {_tablets_literal(self.tablets)}"
        if self.consistency:
            text += f" AND consistency = {protect_value(self.consistency)}"
        return text

    def _export(self) -> str:
        """The keyspace and everything in it, in an order that the server can execute."""
        parts: list[SchemaPart] = [*self.functions.values(), *self.aggregates.values()]
        # Tables come behind functions: a column may be masked with one.
        parts += [table for table in self.tables.values() if not self._made_by_server(table.name)]
        parts += [view for view in self.views.values() if view.base_table_name not in self.tables]
        create = f"{self.as_cql_query()};"
        if self.virtual:
            reason = (
                f"Warning: {self.label} is a virtual keyspace and cannot be recreated with CQL."
            )
            create = commented(f"{reason}\nStructure, for reference:", self.as_cql_query())
        texts = [part.export_as_string() for part in parts]
        return "\n\n".join([create, *self.user_type_strings(), *texts])

    def _made_by_server(self, table_name: str) -> bool:
        """Whether ScyllaDB creates a table along with another one: a CDC log, a Paxos state."""
        base, _, end = table_name.rpartition("$")
        if end == "paxos" and base in self.tables:
            return True
        base = table_name.removesuffix(_CDC_LOG)
        return base != table_name and base in self.tables


def _tablets_literal(tablets: Mapping[str, Any]) -> str:
    """``{'enabled': true, 'initial': 4}``: numbers and booleans are bare in this map."""
    return "{" + ", ".join(f"'{k}': {protect_value(v)}" for k, v in tablets.items()) + "}"
