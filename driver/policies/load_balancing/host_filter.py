"""A filter: hosts that a function refuses are neither connected to nor asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..distance import HostDistance
from .wrapper import WrapperPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...statements.base import Statement
    from ...topology.host import Host
    from .base import ClusterForPolicies, LoadBalancingPolicy


class HostFilterPolicy(WrapperPolicy):
    """Lets a child policy see all hosts, and hides those that a predicate refuses.

    The predicate is asked for every host of every plan: it should be quick, and say the same of a
    host each time, because connections are opened by what it said once.
    """

    def __init__(
        self, child_policy: LoadBalancingPolicy, predicate: Callable[[Host], bool]
    ) -> None:
        """Wrap a policy with a function that says whether a host may be used."""
        super().__init__(child_policy)
        self._predicate = predicate

    @property
    def predicate(self) -> Callable[[Host], bool]:
        """The function; it cannot be replaced, since connections were opened by what it said."""
        return self._predicate

    def populate(self, cluster: ClusterForPolicies, hosts: Sequence[Host]) -> None:
        """Start the child with all hosts: which ones pass may depend on what is known later."""
        self._child_policy.populate(cluster=cluster, hosts=hosts)

    def distance(self, host: Host) -> int:
        """IGNORED for a host that is refused, otherwise the child's answer."""
        return self._child_policy.distance(host) if self.predicate(host) else HostDistance.IGNORED

    def make_query_plan(
        self,
        working_keyspace: str | None = None,
        query: Statement | None = None,
    ) -> Iterator[Host]:
        """The child's plan without the hosts that are refused."""
        plan = self._child_policy.make_query_plan(working_keyspace=working_keyspace, query=query)
        for host in plan:
            if self.predicate(host):
                yield host
