"""Replication strategies: which hosts hold a token, worked out as the server does.

Source: ``org.apache.cassandra.locator`` semantics as Cassandra documents them; transient
replication is CEP-style ``"3/1"`` (CASSANDRA-14404): three replicas, one of them transient.
Transient replicas may lack data, so they are never listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..types.literals import cql_quote
from .host import Host
from .token import Token

Owners = Mapping[Token, Host]
ReplicaMap = dict[Token, tuple[Host, ...]]


@dataclass(frozen=True, slots=True)
class ReplicationFactor:
    """How many replicas there are, and how many of them are transient.

    Attributes:
        all_replicas: replicas of both kinds.
        transient_replicas: those that keep only unrepaired data.
    """

    all_replicas: int
    transient_replicas: int = 0

    @property
    def full_replicas(self) -> int:
        """Replicas that hold all data."""
        return self.all_replicas - self.transient_replicas

    @classmethod
    def create(cls, rf: str | int) -> ReplicationFactor:
        """Parse ``3`` or ``"3/1"``.

        Raises:
            ValueError: it is neither, or more replicas are transient than there are.
        """
        try:
            everyone, _, transient = str(rf).partition("/")
            factor = cls(int(everyone), int(transient or 0))
        except ValueError:
            factor = cls(-1)
        if not 0 <= factor.transient_replicas <= factor.all_replicas:
            raise ValueError(f"Unable to determine replication factor from: {rf!r}")
        return factor

    def __str__(self) -> str:
        """As CQL writes it."""
        transient = f"/{self.transient_replicas}" if self.transient_replicas else ""
        return f"{self.all_replicas}{transient}"


def _map_literal(pairs: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{cql_quote(k)}: {cql_quote(v)}" for k, v in pairs.items()) + "}"


class ReplicationStrategy:
    """How a keyspace chooses replicas. Strategies are values: equal if they choose alike.

    Attributes:
        name: short class name, as CQL has it.
        options_map: the options of the keyspace's ``replication`` map, without the class.
    """

    name: ClassVar[str] = "ReplicationStrategy"
    #: Whether its options matter, and are written along with the class.
    _has_options: ClassVar[bool] = True

    def __init__(self, options_map: Mapping[str, Any] | None = None) -> None:
        """Keep the options."""
        self.options_map = dict(options_map or {})

    @staticmethod
    def create(
        strategy_class: str | None, options_map: Mapping[str, Any] | None
    ) -> ReplicationStrategy | None:
        """The strategy for a class name, full or short; None without a name.

        Raises:
            ValueError: a replication factor cannot be read.
        """
        if not strategy_class:
            return None
        short = strategy_class.rpartition(".")[2]
        known = STRATEGIES.get(short)
        return known(options_map) if known else UnknownStrategy(short, options_map)

    def make_token_replica_map(
        self, token_to_host_owner: Owners, ring: Sequence[Token]
    ) -> ReplicaMap:
        """The full replicas of the range that ends at each token of the ring.

        Args:
            token_to_host_owner: the host that owns each token.
            ring: all tokens, ascending.

        Returns:
            For each token its replicas, the primary first; empty where they have no place on the
            ring, or none that is known.
        """
        del token_to_host_owner, ring
        return {}

    def export_for_schema(self) -> str:
        """The ``replication`` map as CQL text."""
        return _map_literal({"class": self.name} | (self.options_map if self._has_options else {}))

    def __eq__(self, other: object) -> bool:
        """Whether class and options agree."""
        if not isinstance(other, ReplicationStrategy):
            return NotImplemented
        return self.export_for_schema() == other.export_for_schema()

    def __hash__(self) -> int:
        """Of class and options."""
        return hash(self.export_for_schema())

    def __repr__(self) -> str:
        """Class and options."""
        return f"<{type(self).__name__}: {self.export_for_schema()}>"


def _walk(token_to_host_owner: Owners, ring: Sequence[Token], start: int) -> Iterator[Host]:
    """Hosts in ring order from a position on, once around, each host once."""
    seen = set()
    for offset in range(len(ring)):
        host = token_to_host_owner[ring[(start + offset) % len(ring)]]
        if host not in seen:
            seen.add(host)
            yield host


class SimpleStrategy(ReplicationStrategy):
    """The next hosts around the ring, whatever their datacenter."""

    name = "SimpleStrategy"

    def __init__(self, options_map: Mapping[str, Any] | None = None) -> None:
        """Read ``replication_factor``."""
        super().__init__(options_map)
        factor = self.options_map.get("replication_factor")
        if factor is None:
            raise ValueError("SimpleStrategy needs a replication_factor")
        self.replication_factor_info = ReplicationFactor.create(factor)

    @property
    def replication_factor(self) -> int:
        """Number of full replicas."""
        return self.replication_factor_info.full_replicas

    def make_token_replica_map(
        self, token_to_host_owner: Owners, ring: Sequence[Token]
    ) -> ReplicaMap:
        """The first ``replication_factor`` hosts from each token on."""
        replicas: ReplicaMap = {}
        for start, token in enumerate(ring):
            walk = _walk(token_to_host_owner, ring, start)
            replicas[token] = tuple(
                h for _, h in zip(range(self.replication_factor), walk, strict=False)
            )
        return replicas


class _DatacenterChoice:
    """Replicas still to be chosen in one datacenter, for one token.

    Racks come first: a host of a rack that has a replica already is taken only while there are
    more replicas to place than racks to place them on.
    """

    __slots__ = ("left", "racks", "repeats")

    def __init__(self, factor: int, hosts: int, racks: int) -> None:
        self.left = min(factor, hosts)
        self.repeats = self.left - racks
        self.racks: set[str | None] = set()

    def takes(self, host: Host) -> bool:
        if not self.left:
            return False
        if host.rack in self.racks:
            if self.repeats <= 0:
                return False
            self.repeats -= 1
        self.racks.add(host.rack)
        self.left -= 1
        return True


class NetworkTopologyStrategy(ReplicationStrategy):
    """A number of replicas for each datacenter, spread over its racks."""

    name = "NetworkTopologyStrategy"

    def __init__(self, dc_replication_factors: Mapping[str, Any] | None = None) -> None:
        """Read a replication factor for each datacenter."""
        super().__init__(dc_replication_factors)
        self.dc_replication_factors_info = {
            dc: ReplicationFactor.create(rf) for dc, rf in self.options_map.items()
        }

    @property
    def dc_replication_factors(self) -> dict[str, int]:
        """Number of full replicas by datacenter."""
        return {dc: rf.full_replicas for dc, rf in self.dc_replication_factors_info.items()}

    def make_token_replica_map(
        self, token_to_host_owner: Owners, ring: Sequence[Token]
    ) -> ReplicaMap:
        """Walk the ring from each token until every datacenter has its replicas."""
        hosts_of: dict[str | None, set[Host]] = {}
        for host in token_to_host_owner.values():
            hosts_of.setdefault(host.datacenter, set()).add(host)
        # Transient replicas take their place on the ring too: choose all, list the full ones.
        placed = {
            dc: (rf, len(hosts_of[dc]), len({h.rack for h in hosts_of[dc]}))
            for dc, rf in self.dc_replication_factors_info.items()
            if dc in hosts_of
        }
        replicas: ReplicaMap = {}
        for start, token in enumerate(ring):
            choices = {
                dc: _DatacenterChoice(rf.all_replicas, hosts, racks)
                for dc, (rf, hosts, racks) in placed.items()
            }
            full = {dc: rf.full_replicas for dc, (rf, _, _) in placed.items()}
            wanted = sum(choice.left for choice in choices.values())
            chosen: list[Host] = []
            for host in _walk(token_to_host_owner, ring, start) if wanted else ():
                dc = host.datacenter
                if dc in choices and choices[dc].takes(host):
                    wanted -= 1
                    if full[dc]:
                        full[dc] -= 1
                        chosen.append(host)
                    if not wanted:
                        break
            replicas[token] = tuple(chosen)
        return replicas


class LocalStrategy(ReplicationStrategy):
    """Data that each node keeps for itself, such as ``system``: it has no place on the ring."""

    name = "LocalStrategy"
    _has_options = False


class EverywhereStrategy(ReplicationStrategy):
    """Every host holds everything (ScyllaDB's and DSE's system keyspaces)."""

    name = "EverywhereStrategy"
    _has_options = False

    def make_token_replica_map(
        self, token_to_host_owner: Owners, ring: Sequence[Token]
    ) -> ReplicaMap:
        """All hosts, in ring order from each token."""
        return {
            token: tuple(_walk(token_to_host_owner, ring, start))
            for start, token in enumerate(ring)
        }


class UnknownStrategy(ReplicationStrategy):
    """A class of the server's own: its replicas cannot be known."""

    def __init__(self, name: str, options_map: Mapping[str, Any] | None = None) -> None:
        """Keep name and options for the schema's text."""
        super().__init__(options_map)
        self._name = name

    def export_for_schema(self) -> str:
        """The class that the server named, and its options."""
        return _map_literal({"class": self._name} | self.options_map)


STRATEGIES: dict[str, type[ReplicationStrategy]] = {
    cls.name: cls
    for cls in (SimpleStrategy, NetworkTopologyStrategy, LocalStrategy, EverywhereStrategy)
}
