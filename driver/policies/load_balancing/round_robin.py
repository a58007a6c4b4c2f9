"""Round robin: all hosts alike, each request starts one further."""

from __future__ import annotations

from itertools import cycle, islice
from random import randint
from typing import TYPE_CHECKING

from ..distance import HostDistance
from .base import LoadBalancingPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...statements.base import Statement
    from ...topology.host import Host
    from .base import ClusterForPolicies


class RoundRobinPolicy(LoadBalancingPolicy):
    """Takes all hosts as local ones, in turn, whatever their datacenter."""

    def __init__(self) -> None:
        """Know no host yet."""
        super().__init__()
        self._live_hosts: frozenset[Host] = frozenset()
        self._position = 0

    def populate(self, cluster: ClusterForPolicies, hosts: Sequence[Host]) -> None:
        """Start at a random host, so that many clients do not all start at the same one."""
        self._live_hosts = frozenset(hosts)
        if len(hosts) > 1:
            self._position = randint(0, len(hosts) - 1)

    def distance(self, host: Host) -> int:
        """LOCAL."""
        return HostDistance.LOCAL

    def make_query_plan(
        self,
        working_keyspace: str | None = None,
        query: Statement | None = None,
    ) -> Iterator[Host]:
        """Every live host once."""
        # Two threads may read the same position: they start at the same host, which is no harm.
        position = self._position
        self._position = position + 1
        return rotated(self._live_hosts, position)

    def on_up(self, host: Host) -> None:
        """Ask it from now on."""
        with self._hosts_lock:
            self._live_hosts |= {host}

    def on_down(self, host: Host) -> None:
        """Ask it no more."""
        with self._hosts_lock:
            self._live_hosts -= {host}

    def on_add(self, host: Host) -> None:
        """Ask it from now on."""
        self.on_up(host)

    def on_remove(self, host: Host) -> None:
        """Ask it no more."""
        self.on_down(host)


def rotated(hosts: Sequence[Host] | frozenset[Host], position: int) -> Iterator[Host]:
    """Every host once, from a position that is taken modulo their number."""
    count = len(hosts)
    if not count:
        return iter(())
    start = position % count
    return islice(cycle(hosts), start, start + count)
