"""Round robin in the local rack, then in the rest of the local datacenter, then elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dc_aware import DCAwareRoundRobinPolicy
from .round_robin import rotated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...topology.host import Host


class RackAwareRoundRobinPolicy(DCAwareRoundRobinPolicy):
    """Asks the hosts of one rack in turn, then the others of its datacenter, then a few remote.

    Where racks are availability zones, this keeps traffic inside one. All hosts of the local
    datacenter are LOCAL: the rack orders them, and ``TokenAwarePolicy`` orders replicas by it.

    Attributes:
        local_rack: name of the local rack.
    """

    def __init__(self, local_dc: str, local_rack: str, used_hosts_per_remote_dc: int = 0) -> None:
        """Choose the local datacenter and rack.

        Raises:
            ValueError: one of them is empty; neither can be guessed.
        """
        if not local_dc or not local_rack:
            raise ValueError("local_dc and local_rack must be specified")
        super().__init__(local_dc, used_hosts_per_remote_dc)
        self.local_rack = local_rack

    def in_local_rack(self, host: Host) -> bool:
        """Whether it is in the local rack of the local datacenter, or not known to be elsewhere."""
        return self._dc(host) == self.local_dc and (host.rack or self.local_rack) == self.local_rack

    def _local_plan(self, hosts: tuple[Host, ...], position: int) -> Iterator[Host]:
        """The rack in turn, then the rest of the datacenter in turn."""
        near: list[Host] = []
        far: list[Host] = []
        for host in hosts:
            (near if self.in_local_rack(host) else far).append(host)
        yield from rotated(near, position)
        yield from rotated(far, position)
