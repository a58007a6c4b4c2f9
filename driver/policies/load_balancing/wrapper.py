"""Policies that wrap another one: everything is the child's answer, unless they know better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import LoadBalancingPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...statements.base import Statement
    from ...topology.host import Host
    from ...topology.metadata import Metadata
    from .base import ClusterForPolicies


class WrapperPolicy(LoadBalancingPolicy):
    """Leaves everything to a child policy; a base for those that change one thing."""

    # Where compiled code finds it.
    __slots__ = ("_child_policy",)

    def __init__(self, child_policy: LoadBalancingPolicy) -> None:
        """Wrap a policy, which must not be used elsewhere."""
        super().__init__()
        self._child_policy = child_policy

    def populate(self, cluster: ClusterForPolicies, hosts: Sequence[Host]) -> None:
        """Start the child with these hosts."""
        self._child_policy.populate(cluster, hosts)

    def distance(self, host: Host) -> int:
        """The child's answer."""
        return self._child_policy.distance(host)

    def in_local_rack(self, host: Host) -> bool:
        """The child's answer; no, if the child is of somebody's own and was never asked that."""
        ask = getattr(self._child_policy, "in_local_rack", None)
        return ask is not None and bool(ask(host))

    def make_query_plan(
        self,
        working_keyspace: str | None = None,
        query: Statement | None = None,
    ) -> Iterator[Host]:
        """The child's plan."""
        return self._child_policy.make_query_plan(working_keyspace, query)

    def check_supported(self) -> None:
        """Have the child say whether it can work with the cluster."""
        self._child_policy.check_supported()

    def on_up(self, host: Host, *args: object, **kwargs: object) -> None:
        """Tell the child."""
        self._child_policy.on_up(host, *args, **kwargs)

    def on_down(self, host: Host, *args: object, **kwargs: object) -> None:
        """Tell the child."""
        self._child_policy.on_down(host, *args, **kwargs)

    def on_add(self, host: Host, *args: object, **kwargs: object) -> None:
        """Tell the child."""
        self._child_policy.on_add(host, *args, **kwargs)

    def on_remove(self, host: Host, *args: object, **kwargs: object) -> None:
        """Tell the child."""
        self._child_policy.on_remove(host, *args, **kwargs)


class DefaultLoadBalancingPolicy(WrapperPolicy):
    """Asks the host that a statement names in its attribute ``target_host`` first."""

    def __init__(self, child_policy: LoadBalancingPolicy) -> None:
        """Wrap a policy."""
        super().__init__(child_policy)
        self._cluster_metadata: Metadata | None = None

    def populate(self, cluster: ClusterForPolicies, hosts: Sequence[Host]) -> None:
        """Remember where hosts are found by address, and start the child."""
        self._cluster_metadata = cluster.metadata
        super().populate(cluster, hosts)

    def make_query_plan(
        self,
        working_keyspace: str | None = None,
        query: Statement | None = None,
    ) -> Iterator[Host]:
        """The wanted host if it is up, then the child's plan."""
        keyspace = getattr(query, "keyspace", None) or working_keyspace
        wanted = getattr(query, "target_host", None)
        target = None
        if wanted and self._cluster_metadata is not None:
            target = self._cluster_metadata.get_host(wanted)
        plan = self._child_policy.make_query_plan(keyspace, query)
        if target is None or not target.is_up:
            yield from plan
            return
        yield target
        for host in plan:
            if host != target:
                yield host
