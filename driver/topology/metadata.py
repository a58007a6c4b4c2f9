"""What is known about the cluster: hosts, keyspaces, ring and tablets, and replicas from all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from ..implementation import hand_over
from .endpoint import EndPoint
from .replica_groups import NO_VALID_REPLICA, group_keys_by_replica
from .ring import TokenMap
from .schema.column import PartitionKeyColumn
from .schema.function import same_types
from .schema.keyspace import KeyspaceMetadata
from .schema.table import MaterializedViewMetadata, TableMetadata
from .tablets import Tablets
from .token import Token, token_class_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from ..protocol.typing import TokenValue
    from .host import Host
    from .schema.function import Aggregate, Function
    from .schema.user_type import UserType

    #: What has a signature.
    _Signed = TypeVar("_Signed", Function, Aggregate)

__all__ = [
    "NO_VALID_REPLICA",
    "KeyspaceMetadata",
    "Metadata",
    "PartitionKeyColumn",
    "TableMetadata",
    "group_keys_by_replica",
]


class Metadata:
    """The cluster as it is known now.

    One thread changes it, any thread reads it: what changes is replaced, so that a reader sees the
    state before or after, and may go through a mapping while the next one is made. The functions
    and aggregates of a keyspace are changed in place: programs hold on to those mappings.

    Attributes:
        cluster_name: what the cluster calls itself; None while unknown.
        partitioner: class name of its partitioner; None while unknown.
        keyspaces: by name.
        token_map: the ring; None while unknown.
        tablets: tablets learnt so far.
        led_keyspaces: names of those whose tablets have leaders (ScyllaDB).
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_host_id_by_endpoint",
        "_hosts",
        "_hosts_lock",
        "cluster_name",
        "keyspaces",
        "led_keyspaces",
        "partitioner",
        "tablets",
        "token_map",
    )

    def __init__(self) -> None:
        """Know nothing yet."""
        self.cluster_name: str | None = None
        self.partitioner: str | None = None
        self.keyspaces: dict[str, KeyspaceMetadata] = {}
        self.led_keyspaces: frozenset[str] = frozenset()
        self.token_map: TokenMap | None = None
        self.tablets = Tablets()
        self._hosts: dict[UUID, Host] = {}
        self._host_id_by_endpoint: dict[EndPoint, UUID] = {}
        self._hosts_lock = threading.RLock()

    def add_or_return_host(self, host: Host) -> tuple[Host, bool]:
        """Remember a host by its id; returns the one that is kept, and whether it is new.

        Raises:
            ValueError: the host has no id.
        """
        if host.host_id is None:
            raise ValueError(f"{host!r} has no host_id")
        with self._hosts_lock:
            is_new = host.host_id not in self._hosts
            kept = self._hosts.setdefault(host.host_id, host)
            self._host_id_by_endpoint[kept.endpoint] = host.host_id
        return kept, is_new

    def update_host(self, host: Host, old_endpoint: EndPoint) -> None:
        """Find a known host, whose endpoint changed, by the new one and no longer by the old.

        Raises:
            ValueError: the host has no id.
        """
        with self._hosts_lock:
            self.add_or_return_host(host)
            if old_endpoint != host.endpoint:
                self._host_id_by_endpoint.pop(old_endpoint, None)

    def remove_host(self, host: Host) -> bool:
        """Forget a host and the tablets that it holds; whether it was known."""
        if host.host_id is None:
            return False
        return self.remove_host_by_host_id(host.host_id, host.endpoint)

    def remove_host_by_host_id(self, host_id: UUID, endpoint: EndPoint | None = None) -> bool:
        """Forget the host of an id and the tablets that it holds; whether it was known.

        Args:
            host_id: the host's id.
            endpoint: no longer lead to this host from here; another host's endpoint stays.
        """
        self.tablets.drop_tablets_by_host_id(host_id)
        with self._hosts_lock:
            host = self._hosts.pop(host_id, None)
            for known in (endpoint, host.endpoint if host else None):
                if known is not None and self._host_id_by_endpoint.get(known) == host_id:
                    del self._host_id_by_endpoint[known]
        return host is not None

    def get_host(self, endpoint_or_address: EndPoint | str, port: int | None = None) -> Host | None:
        """The host at an endpoint or address; None if there is none.

        Args:
            endpoint_or_address: an address as text is compared with the one that the host tells
                clients to use.
            port: tells hosts with the same address apart; not used with an endpoint.
        """
        if isinstance(endpoint_or_address, EndPoint):
            host_id = self._host_id_by_endpoint.get(endpoint_or_address)
            return None if host_id is None else self._hosts.get(host_id)
        for host in self.all_hosts():
            address = host.broadcast_rpc_address or host.address
            known_port = host.broadcast_rpc_port or host.endpoint.port
            if address == endpoint_or_address and (port is None or known_port in (None, port)):
                return host
        return None

    def get_host_by_host_id(self, host_id: UUID) -> Host | None:
        """The host of an id; None if there is none."""
        return self._hosts.get(host_id)

    def all_hosts(self) -> list[Host]:
        """Every host, in the order of their arrival."""
        return list(self._hosts.values())

    def all_hosts_items(self) -> list[tuple[UUID, Host]]:
        """Every host with its id."""
        return list(self._hosts.items())

    def can_support_partitioner(self) -> bool:
        """Whether tokens of the cluster can be computed here: True, Murmur3 comes with us."""
        return True

    def rebuild_token_map(self, partitioner: str, token_map: Mapping[Host, Iterable[str]]) -> None:
        """Build the ring from the tokens that each host says it owns.

        Args:
            partitioner: class name of the partitioner, full or short.
            token_map: tokens as text, by host.
        """
        self.partitioner = partitioner
        self.token_map = self.new_token_map(partitioner, token_map)

    def new_token_map(
        self, partitioner: str, token_map: Mapping[Host, Iterable[str]]
    ) -> TokenMap | None:
        """The ring that ``rebuild_token_map`` would build; None of an unknown partitioner."""
        token_class = token_class_for(partitioner)
        if token_class is None:
            return None
        owners = {
            token_class.from_string(text): host
            for host, texts in token_map.items()
            for text in texts
        }
        return TokenMap(token_class, owners, list(owners), self)

    def get_replicas(self, keyspace: str, key: bytes, table: str | None = None) -> list[Host]:
        """Hosts that hold a partition key, best known first.

        Args:
            keyspace: its name.
            key: serialised partition key (a ``routing_key``).
            table: its name, so that a tablet can answer before the ring does.

        Returns:
            Replicas; empty while the ring or the keyspace is unknown.
        """
        token_map = self.token_map
        if token_map is None:
            return []
        value = token_map.token_class.hash_fn(key)
        if table is not None and self.tablets.by_table:
            tablet = self.tablets.tablet_at(keyspace, table, value)
            if tablet is not None:
                hosts = (self._hosts.get(host_id) for host_id, _ in tablet.replicas)
                return [host for host in hosts if host is not None]
        return list(token_map.replicas_at(keyspace, value))

    def leader_of(self, keyspace: str, key: bytes, table: str) -> Host | None:
        """The replica that leads the tablet of a partition key; None where none is known.

        A node that tells versions of tablets names the leader first, if the keyspace has leaders.
        Source: ScyllaDB's ``docs/dev/protocol-extensions.md``; scylladb/python-driver#913.
        """
        token_map = self.token_map
        if token_map is None or keyspace not in self.led_keyspaces:
            return None
        tablet = self.tablets.tablet_at(keyspace, table, token_map.token_class.hash_fn(key))
        if tablet is None or tablet.version is None:
            return None
        return self._hosts.get(tablet.replicas[0][0])

    def get_primary(self, key: bytes) -> Host | None:
        """The host that owns a partition key's token; None while the ring is unknown."""
        if self.token_map is None:
            return None
        return self.token_map.primary(self.token_map.token_class.from_key(key))

    def token_of(self, key: bytes) -> Token | None:
        """The token of a partition key; None while the partitioner is unknown."""
        return None if self.token_map is None else self.token_map.token_class.from_key(key)

    def hash_of(self, key: bytes) -> TokenValue | None:
        """The value of the token of a partition key; None while the partitioner is unknown."""
        return None if self.token_map is None else self.token_map.token_class.hash_fn(key)

    def set_keyspaces(self, keyspaces: Mapping[str, KeyspaceMetadata]) -> None:
        """Know these keyspaces and no others."""
        old, self.keyspaces = self.keyspaces, dict(keyspaces)
        for name in old.keys() | self.keyspaces.keys():
            self._keyspace_changed(name, old.get(name))

    def set_keyspace(self, name: str, keyspace: KeyspaceMetadata | None) -> None:
        """Know a keyspace as it is now; None if it was dropped."""
        old = self.keyspaces.get(name)
        if old is not None and keyspace is not None:
            keyspace.functions = _become(old.functions, keyspace.functions)
            keyspace.aggregates = _become(old.aggregates, keyspace.aggregates)
        others = {n: ks for n, ks in self.keyspaces.items() if n != name}
        self.keyspaces = others if keyspace is None else {**self.keyspaces, name: keyspace}
        self._keyspace_changed(name, old)

    def set_table(
        self, keyspace: str, name: str, table: TableMetadata | MaterializedViewMetadata | None
    ) -> None:
        """Know a table or materialized view as it is now; None if it was dropped.

        Nothing happens in a keyspace that is unknown: it comes with its tables when it comes.
        """
        description = self.keyspaces.get(keyspace)
        if table is None:
            self.tablets.drop_tablets(keyspace, name)
        if description is None:
            return
        if table is None:
            description.drop_table(name)
        elif isinstance(table, MaterializedViewMetadata):
            description.add_view(table)
        else:
            description.add_table(table)

    def set_user_type(self, keyspace: str, name: str, user_type: UserType | None) -> None:
        """Know a user-defined type as it is now; None if it was dropped."""
        description = self.keyspaces.get(keyspace)
        if description is not None:
            others = {n: t for n, t in description.user_types.items() if n != name}
            description.user_types = others if user_type is None else {**others, name: user_type}

    def set_function(
        self, keyspace: str, name: str, argument_types: Sequence[str], function: Function | None
    ) -> None:
        """Know a user-defined function as it is now; None if it was dropped."""
        description = self.keyspaces.get(keyspace)
        if description is not None:
            _set_signed(description.functions, keyspace, name, argument_types, function)

    def set_aggregate(
        self, keyspace: str, name: str, argument_types: Sequence[str], aggregate: Aggregate | None
    ) -> None:
        """Know a user-defined aggregate as it is now; None if it was dropped."""
        description = self.keyspaces.get(keyspace)
        if description is not None:
            _set_signed(description.aggregates, keyspace, name, argument_types, aggregate)

    def table(self, keyspace: str, table: str) -> TableMetadata | None:
        """A table by name; None if it or its keyspace is unknown."""
        description = self.keyspaces.get(keyspace)
        return description.tables.get(table) if description else None

    def export_schema_as_string(self) -> str:
        """Statements that create every keyspace with everything in it, by name."""
        return "\n\n".join(ks.export_as_string() for _, ks in sorted(self.keyspaces.items()))

    def _keyspace_changed(self, name: str, old: KeyspaceMetadata | None) -> None:
        """Forget where a keyspace's data was, and who leads it, unless that is as it has been."""
        new = self.keyspaces.get(name)
        placed = {
            (ks.replication_strategy, ks.has_leaders) if ks else (None, False) for ks in (old, new)
        }
        if len(placed) > 1:
            self._placement_changed(name)
        if new is not None and new.has_leaders:
            self.led_keyspaces |= {name}
        else:
            self.led_keyspaces -= {name}

    def _placement_changed(self, keyspace: str) -> None:
        """Forget the tablets of a keyspace, and its replicas if others were chosen."""
        self.tablets.drop_tablets(keyspace)
        if self.token_map is not None:
            self.token_map.keyspace_changed(keyspace)


def _set_signed(
    known: dict[str, _Signed],
    keyspace: str,
    name: str,
    argument_types: Sequence[str],
    new: _Signed | None,
) -> None:
    """Replace one of the parts by signature or, for None, remove it."""
    rest = {
        signature: part
        for signature, part in known.items()
        if part.name != name or not same_types(part.argument_types, argument_types, keyspace)
    }
    _become(known, rest if new is None else {**rest, new.signature: new})


def _become(known: dict[str, _Signed], new: Mapping[str, _Signed]) -> dict[str, _Signed]:
    """Give a mapping that programs hold on to the parts of another one; never empty meanwhile."""
    known.update(new)
    for signature in known.keys() - new.keys():
        del known[signature]
    return known


hand_over(globals())
