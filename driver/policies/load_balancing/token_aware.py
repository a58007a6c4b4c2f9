"""Token awareness: the replicas of a statement's partition first."""

from __future__ import annotations

from random import random
from typing import TYPE_CHECKING, Any

from ...implementation import hand_over
from ...protocol.consistency import ConsistencyLevel
from ..distance import HostDistance
from .base import LoadBalancingPolicy
from .wrapper import WrapperPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...statements.base import Statement
    from ...topology.host import Host
    from ...topology.metadata import Metadata
    from .base import ClusterForPolicies


#: Levels that a replica answers by itself.
_BY_ANY_REPLICA = {ConsistencyLevel.ONE, ConsistencyLevel.LOCAL_ONE}


class TokenAwarePolicy(WrapperPolicy):
    """Asks the local replicas of a statement's partition first, then goes on as its child would.

    A statement has a partition if it has a ``routing_key``, and a keyspace of its own or from the
    session; with a ``table`` too, its tablet can answer before the ring does.

    Where tablets have leaders (ScyllaDB's ``consistency = 'global'``), the leader is asked first,
    wherever it is, unless the child policy ignores it: another replica would hand the request on
    to it. Not so for statements whose own consistency level is ONE or LOCAL_ONE, which any replica
    answers; a level of an execution profile is not seen here.

    Attributes:
        shuffle_replicas: whether replicas are asked in random order, so that they share the load
            of a partition. A lightweight transaction (``is_lwt``) keeps their order: coordinators
            that contend for a partition delay each other, so all clients should start at the same.
    """

    # Where compiled code finds them.
    __slots__ = ("_cluster_metadata", "_leading", "_ranks", "shuffle_replicas")

    def __init__(self, child_policy: LoadBalancingPolicy, shuffle_replicas: bool = True) -> None:
        """Wrap a policy, which decides what is local."""
        super().__init__(child_policy)
        self.shuffle_replicas = shuffle_replicas
        self._cluster_metadata: Metadata | None = None
        self._leading: Metadata | None = None
        self._ranks = True

    def populate(self, cluster: ClusterForPolicies, hosts: Sequence[Host]) -> None:
        """Remember where replicas are found, and start the child."""
        self._cluster_metadata = metadata = cluster.metadata
        # Programs have stand-ins that lack them, or have anything of any name.
        has_them = isinstance(getattr(metadata, "led_keyspaces", None), frozenset)
        self._leading = metadata if has_them else None
        self._ranks = _knows_racks(self)
        super().populate(cluster, hosts)

    def check_supported(self) -> None:
        """See that tokens of the cluster can be computed here.

        Raises:
            RuntimeError: they cannot.
        """
        metadata = self._cluster_metadata
        if metadata is not None and not metadata.can_support_partitioner():
            raise RuntimeError(
                f"{type(self).__name__} cannot be used with the cluster partitioner "
                f"({metadata.partitioner}): its tokens are not known here"
            )
        super().check_supported()

    def make_query_plan(
        self,
        working_keyspace: str | None = None,
        query: Statement | None = None,
    ) -> Iterator[Host]:
        """Local replicas that are up, nearest first, then the rest of the child's plan."""
        keyspace = getattr(query, "keyspace", None) or working_keyspace
        child = self._child_policy
        asked = []
        leader, leading = None, self._leading
        if leading is not None and leading.led_keyspaces:
            leader = self._leader(leading, keyspace, query)
            if leader is not None:
                asked.append(leader)
                yield leader
        for replica in self._replicas(keyspace, query):
            if (
                replica is not leader
                and replica.is_up
                and child.distance(replica) == HostDistance.LOCAL
            ):
                asked.append(replica)
                yield replica
        # Few plans get here: nearly always the first host answers, and nobody asks on.
        seen = set(asked)
        for host in child.make_query_plan(keyspace, query):
            if host not in seen:
                yield host

    def _leader(
        self, metadata: Metadata, keyspace: str | None, query: Statement | None
    ) -> Host | None:
        """The leader of the statement's tablet, if it is to be asked first."""
        key, table = getattr(query, "routing_key", None), getattr(query, "table", None)
        if keyspace is None or key is None or table is None:
            return None
        if getattr(query, "consistency_level", None) in _BY_ANY_REPLICA:
            return None
        leader = metadata.leader_of(keyspace, key, table)
        if leader is None or not leader.is_up:
            return None
        is_ignored = self._child_policy.distance(leader) == HostDistance.IGNORED
        return None if is_ignored else leader

    def _replicas(
        self,
        keyspace: str | None,
        query: Statement | None,
    ) -> Sequence[Host]:
        """The replicas of the statement's partition, in the order in which to ask them."""
        routing_key = getattr(query, "routing_key", None)
        if routing_key is None or keyspace is None or self._cluster_metadata is None:
            return ()
        table = getattr(query, "table", None)
        where = (keyspace, routing_key) if table is None else (keyspace, routing_key, table)
        replicas = self._cluster_metadata.get_replicas(*where)
        # One is in order; so are several that nobody wants in another one.
        if len(replicas) == 1 or not (self.shuffle_replicas or self._ranks):
            return replicas
        is_lwt = getattr(query, "is_lwt", None)
        if is_lwt is not None and is_lwt():
            return replicas
        if self.shuffle_replicas:
            replicas = list(replicas)
            shuffle(replicas)
        return sorted(replicas, key=self._is_in_another_rack) if self._ranks else replicas

    def _is_in_another_rack(self, host: Host) -> bool:
        return not self.in_local_rack(host)


def shuffle(hosts: list[Host]) -> None:
    """Put hosts in random order, as ``random.shuffle`` does with a third of its calls.

    That one draws whole numbers so that of lists of any length each order is as likely; a replica
    set is short.
    """
    for last in range(len(hosts) - 1, 0, -1):
        other = int(random() * (last + 1))
        hosts[last], hosts[other] = hosts[other], hosts[last]


def _knows_racks(policy: Any) -> bool:  # noqa: ANN401  (perhaps a policy of somebody's own)
    """Whether a policy, or the one that it wraps, may say of a host that it is in the local rack.

    To ask for every replica of every plan what nobody knows cost more than the hash of the key.
    """
    while True:
        ask = getattr(policy, "in_local_rack", None)
        answers = getattr(ask, "__func__", ask)
        if answers is not WrapperPolicy.in_local_rack:
            return answers not in (None, LoadBalancingPolicy.in_local_rack)
        policy = policy._child_policy  # noqa: SLF001  (of a wrapper)


hand_over(globals())
