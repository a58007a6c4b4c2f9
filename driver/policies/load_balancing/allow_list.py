"""An allow list: round robin over the hosts of a list, and no others."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from ...topology.endpoint import EndPoint
from ..distance import HostDistance
from .round_robin import RoundRobinPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...topology.host import Host
    from .base import ClusterForPolicies


class WhiteListRoundRobinPolicy(RoundRobinPolicy):
    """Asks the hosts of a list in turn and connects to no others; for a few nodes under test.

    To pick hosts by datacenter there is ``DCAwareRoundRobinPolicy``: a list of addresses ages.
    """

    def __init__(self, hosts: Sequence[str | EndPoint]) -> None:
        """Allow hosts by address, name or endpoint; names are resolved now.

        Raises:
            OSError: a name has no address.
        """
        super().__init__()
        self._allowed_hosts = tuple(hosts)
        self._allowed_hosts_resolved = [a for host in hosts for a in _addresses(host)]

    def populate(self, cluster: ClusterForPolicies, hosts: Sequence[Host]) -> None:
        """Start with those that are allowed."""
        super().populate(cluster, [host for host in hosts if self._allows(host)])

    def distance(self, host: Host) -> int:
        """LOCAL for those that are allowed, IGNORED for all others."""
        return HostDistance.LOCAL if self._allows(host) else HostDistance.IGNORED

    def on_up(self, host: Host) -> None:
        """Ask it from now on, if it is allowed."""
        if self._allows(host):
            super().on_up(host)

    def _allows(self, host: Host) -> bool:
        return host.address in self._allowed_hosts_resolved


#: The same under the name that other drivers give it now.
AllowListRoundRobinPolicy = WhiteListRoundRobinPolicy


def _addresses(host: str | EndPoint) -> Iterator[str]:
    """The addresses under which hosts of the cluster can be known."""
    if isinstance(host, EndPoint):
        yield host.address
        return
    for *_, address in socket.getaddrinfo(host, None, socket.AF_UNSPEC, socket.SOCK_STREAM):
        yield str(address[0])
