"""What is known about the cluster: keyspaces, ring and tablets, and replicas from all three."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..vocabulary.kinds import SchemaChangeType, SchemaTargetType
from .replication import ReplicationStrategy
from .ring import TokenMap
from .tablets import Tablets
from .token import Token, token_class_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from .host import Host


@dataclass(frozen=True, slots=True)
class PartitionKeyColumn:
    """One column of a partition key.

    Attributes:
        name: its name, unquoted.
    """

    name: str


@dataclass(slots=True)
class TableMetadata:
    """What routing needs to know of a table.

    Attributes:
        keyspace_name: the keyspace it lives in.
        name: its name.
        partition_key: columns of the partition key in their order.
    """

    keyspace_name: str
    name: str
    partition_key: list[PartitionKeyColumn] = field(default_factory=list)


class KeyspaceMetadata:
    """A keyspace: how it is replicated, and its tables.

    Attributes:
        name: its name.
        durable_writes: whether writes go through the commit log.
        replication_strategy: how replicas are chosen; None without a class.
        tables: by name.
    """

    def __init__(
        self,
        name: str,
        durable_writes: bool,
        strategy_class: str | None,
        strategy_options: Mapping[str, Any] | None,
    ) -> None:
        """Describe a keyspace as ``system_schema.keyspaces`` does."""
        self.name = name
        self.durable_writes = durable_writes
        self.replication_strategy = ReplicationStrategy.create(strategy_class, strategy_options)
        self.tables: dict[str, TableMetadata] = {}


class Metadata:
    """The cluster as it is known now.

    Attributes:
        cluster_name: what the cluster calls itself; None while unknown.
        partitioner: class name of its partitioner; None while unknown.
        keyspaces: by name.
        token_map: the ring; None while unknown.
        tablets: tablets learnt so far.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.cluster_name: str | None = None
        self.partitioner: str | None = None
        self.keyspaces: dict[str, KeyspaceMetadata] = {}
        self.token_map: TokenMap | None = None
        self.tablets = Tablets()
        self._hosts: dict[UUID, Host] = {}

    def add_or_return_host(self, host: Host) -> tuple[Host, bool]:
        """Remember a host by its id; returns the one that is kept, and whether it is new.

        Raises:
            ValueError: the host has no id.
        """
        if host.host_id is None:
            raise ValueError(f"{host!r} has no host_id")
        kept = self._hosts.setdefault(host.host_id, host)
        return kept, kept is host

    def remove_host(self, host: Host) -> bool:
        """Forget a host and the tablets that it holds; whether it was known."""
        self.tablets.drop_tablets_by_host_id(host.host_id)
        return host.host_id is not None and self._hosts.pop(host.host_id, None) is not None

    def all_hosts(self) -> list[Host]:
        """Every host, in the order of their arrival."""
        return list(self._hosts.values())

    def rebuild_token_map(self, partitioner: str, token_map: Mapping[Host, Iterable[str]]) -> None:
        """Build the ring from the tokens that each host says it owns.

        Args:
            partitioner: class name of the partitioner, full or short.
            token_map: tokens as text, by host.
        """
        self.partitioner = partitioner
        token_class = token_class_for(partitioner)
        if token_class is None:
            self.token_map = None
            return
        owners = {
            token_class.from_string(text): host
            for host, texts in token_map.items()
            for text in texts
        }
        self.token_map = TokenMap(token_class, owners, list(owners), self)

    def get_replicas(self, keyspace: str, key: bytes, table: str | None = None) -> list[Host]:
        """Hosts that hold a partition key, best known first.

        Args:
            keyspace: its name.
            key: serialised partition key (a ``routing_key``).
            table: its name, so that a tablet can answer before the ring does.

        Returns:
            Replicas; empty while the ring or the keyspace is unknown.
        """
        if self.token_map is None:
            return []
        token = self.token_map.token_class.from_key(key)
        if table is not None:
            tablet = self.tablets.get_tablet_for_key(keyspace, table, token)
            if tablet is not None:
                return [self._hosts[i] for i, _ in tablet.replicas if i in self._hosts]
        return list(self.token_map.get_replicas(keyspace, token))

    def get_primary(self, key: bytes) -> Host | None:
        """The host that owns a partition key's token; None while the ring is unknown."""
        if self.token_map is None:
            return None
        return self.token_map.primary(self.token_map.token_class.from_key(key))

    def token_of(self, key: bytes) -> Token | None:
        """The token of a partition key; None while the partitioner is unknown."""
        return None if self.token_map is None else self.token_map.token_class.from_key(key)

    def schema_changed(
        self,
        change_type: str,
        target_type: str,
        keyspace: str,
        table: str | None = None,
        **_others: object,
    ) -> None:
        """Forget what a schema change made stale; arguments as in a SCHEMA_CHANGE result."""
        if change_type == SchemaChangeType.CREATED:
            return
        if target_type == SchemaTargetType.KEYSPACE:
            self.tablets.drop_tablets(keyspace)
            if self.token_map is not None:
                self.token_map.remove_keyspace(keyspace)
            if change_type == SchemaChangeType.DROPPED:
                self.keyspaces.pop(keyspace, None)
        elif target_type == SchemaTargetType.TABLE and change_type == SchemaChangeType.DROPPED:
            self.tablets.drop_tablets(keyspace, table)
            if table is not None and keyspace in self.keyspaces:
                self.keyspaces[keyspace].tables.pop(table, None)

    def table(self, keyspace: str, table: str) -> TableMetadata | None:
        """A table by name; None if it or its keyspace is unknown."""
        description = self.keyspaces.get(keyspace)
        return description.tables.get(table) if description else None
