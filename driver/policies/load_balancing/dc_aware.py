"""Round robin in the local datacenter; some hosts of others as the last resort."""

from __future__ import annotations

import logging
from random import randint
from typing import TYPE_CHECKING

from ..distance import HostDistance
from .base import LoadBalancingPolicy
from .round_robin import rotated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...statements.base import Statement
    from ...topology.endpoint import EndPoint
    from ...topology.host import Host
    from .base import ClusterForPolicies

log = logging.getLogger(__name__)


class DCAwareRoundRobinPolicy(LoadBalancingPolicy):
    """Asks the hosts of one datacenter in turn, then a few of each other datacenter.

    A host whose datacenter is unknown is taken as local.

    Attributes:
        local_dc: name of the local datacenter. Empty, it becomes that of the first contact point
            whose datacenter gets known; an application that knows it better says it.
        used_hosts_per_remote_dc: how many hosts of each other datacenter may be used.
    """

    __slots__ = ("local_dc",)

    def __init__(self, local_dc: str = "", used_hosts_per_remote_dc: int = 0) -> None:
        """Choose the local datacenter."""
        super().__init__()
        self.local_dc = local_dc
        self.used_hosts_per_remote_dc = used_hosts_per_remote_dc
        self._dc_live_hosts: Mapping[str, tuple[Host, ...]] = {}
        self._position = 0
        self._endpoints: Sequence[EndPoint] = ()

    def populate(self, cluster: ClusterForPolicies, hosts: Sequence[Host]) -> None:
        """Start at a random host."""
        if not self.local_dc:
            self._endpoints = tuple(cluster.endpoints_resolved)
        for host in hosts:
            # A cluster that has found its nodes knows where they are; otherwise ``on_up`` tells.
            self._find_local_dc(host)
        by_dc: dict[str, list[Host]] = {}
        for host in dict.fromkeys(hosts):
            by_dc.setdefault(self._dc(host), []).append(host)
        with self._hosts_lock:
            self._dc_live_hosts = {dc: tuple(there) for dc, there in by_dc.items()}
        self._position = randint(0, len(hosts) - 1) if hosts else 0

    def distance(self, host: Host) -> int:
        """LOCAL in the local datacenter, REMOTE for those of others that may be used."""
        dc = host.datacenter or self.local_dc
        if dc == self.local_dc:
            return HostDistance.LOCAL
        usable = self._dc_live_hosts.get(dc, ())[: self.used_hosts_per_remote_dc]
        return HostDistance.REMOTE if host in usable else HostDistance.IGNORED

    def make_query_plan(
        self,
        working_keyspace: str | None = None,
        query: Statement | None = None,
    ) -> Iterator[Host]:
        """Local hosts in turn, then those of other datacenters that may be used.

        Each datacenter is looked at when the plan gets there: a long plan sees what changed.
        """
        position = self._position
        self._position = position + 1
        yield from self._local_plan(self._dc_live_hosts.get(self.local_dc, ()), position)
        for dc in self._dc_live_hosts:
            if dc != self.local_dc:
                yield from self._dc_live_hosts.get(dc, ())[: self.used_hosts_per_remote_dc]

    def _local_plan(self, hosts: tuple[Host, ...], position: int) -> Iterator[Host]:
        """The order of the local hosts."""
        return rotated(hosts, position)

    def on_up(self, host: Host) -> None:
        """Ask it from now on; its datacenter may have become known, or another."""
        self._find_local_dc(host)
        dc = self._dc(host)
        with self._hosts_lock:
            if host not in self._dc_live_hosts.get(dc, ()):
                by_dc = self._without(host)
                self._dc_live_hosts = {**by_dc, dc: (*by_dc.get(dc, ()), host)}

    def on_down(self, host: Host) -> None:
        """Ask it no more."""
        with self._hosts_lock:
            self._dc_live_hosts = self._without(host)

    def on_add(self, host: Host) -> None:
        """Ask it from now on."""
        self.on_up(host)

    def on_remove(self, host: Host) -> None:
        """Ask it no more."""
        self.on_down(host)

    def _dc(self, host: Host) -> str:
        return host.datacenter or self.local_dc

    def _without(self, host: Host) -> Mapping[str, tuple[Host, ...]]:
        """Live hosts but this one, wherever it was: its datacenter may have changed since."""
        others = {dc: tuple(h for h in hs if h != host) for dc, hs in self._dc_live_hosts.items()}
        return {dc: hosts for dc, hosts in others.items() if hosts}

    def _find_local_dc(self, host: Host) -> None:
        """Take the datacenter of the first contact point that says it, if none was given."""
        if not self.local_dc and host.datacenter and host.endpoint in self._endpoints:
            self.local_dc = host.datacenter
            log.info(
                "%s takes %s for the local datacenter, since contact point %s is there; if it is "
                "another one, say so by local_dc, or give contact points of that one alone",
                type(self).__name__,
                self.local_dc,
                host.endpoint,
            )
            self._endpoints = ()
