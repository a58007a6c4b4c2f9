"""What every load balancing policy answers, and what it may ask of the cluster."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...statements.base import Statement
    from ...topology.endpoint import EndPoint
    from ...topology.host import Host
    from ...topology.metadata import Metadata


class ClusterForPolicies(Protocol):
    """What ``populate`` may keep of the cluster."""

    @property
    def metadata(self) -> Metadata:
        """Hosts and replicas."""

    @property
    def endpoints_resolved(self) -> Sequence[EndPoint]:
        """The contact points."""


class HostStateListener:
    """Hears of hosts that come and go. The calls do not overlap for one host."""

    def on_up(self, host: Host) -> None:
        """A known host answers again."""
        raise NotImplementedError

    def on_down(self, host: Host) -> None:
        """A known host does not answer."""
        raise NotImplementedError

    def on_add(self, host: Host) -> None:
        """A host joined the cluster."""
        raise NotImplementedError

    def on_remove(self, host: Host) -> None:
        """A host left the cluster."""
        raise NotImplementedError


class LoadBalancingPolicy(HostStateListener):
    """Decides which hosts get connections, and in which order they are asked.

    A policy hears of hosts from the event loop while plans are made on every thread that sends
    requests. The policies here keep hosts in tuples, frozen sets and dicts that are replaced and
    never changed, so that a plan needs no lock and cannot break under a change.
    """

    def __init__(self) -> None:
        """Make the lock under which hosts are replaced."""
        self._hosts_lock = Lock()

    def populate(self, cluster: ClusterForPolicies, hosts: Sequence[Host]) -> None:
        """Start with these hosts; called once, before any other method."""
        raise NotImplementedError

    def distance(self, host: Host) -> int:
        """The ``HostDistance`` of a host."""
        raise NotImplementedError

    def in_local_rack(self, host: Host) -> bool:
        """Whether a host is closer than other local ones; never, unless a policy knows racks."""
        return False

    def make_query_plan(
        self,
        working_keyspace: str | None = None,
        query: Statement | None = None,
    ) -> Iterator[Host]:
        """Hosts in the order in which to ask them; the plan is consumed as far as is needed.

        Args:
            working_keyspace: the session's keyspace.
            query: the statement; None for a message of the driver's own.
        """
        raise NotImplementedError

    def check_supported(self) -> None:
        """Called when the cluster's partitioner is known.

        Raises:
            Exception: this policy cannot work with the cluster.
        """
