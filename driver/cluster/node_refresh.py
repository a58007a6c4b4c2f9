"""Node refresh: brings the hosts of the metadata, and the ring, in line with a node list."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ..topology.host import Host

if TYPE_CHECKING:
    from uuid import UUID

    from ..topology.endpoint import EndPoint
    from .core import ClusterCore
    from .node_list import Node, NodeList

log = logging.getLogger(__name__)


class NodeRefresh:
    """Remembers what the last list said, to see what the next one changes.

    All changes of hosts happen in one go, without an await; the ring follows. What they mean for
    policies, pools and listeners is up to the host registry, in the background.
    """

    def __init__(self, core: ClusterCore) -> None:
        """Change the metadata of a core, and tell its registry."""
        self._core = core
        self._row_endpoints: dict[UUID, EndPoint | None] = {}
        self._ring: dict[UUID, tuple[str, ...]] = {}
        self._partitioner: str | None = None
        #: Whether the ring in use is an older one, because building one was cancelled or failed.
        self._is_outdated = False

    async def apply(self, nodes: NodeList, force_token_rebuild: bool = False) -> None:
        """Take a list over: afterwards the metadata has its hosts and its ring, and no others."""
        metadata = self._core.metadata
        if nodes.cluster_name is not None:
            metadata.cluster_name = nodes.cluster_name
        known = {host.host_id: host for host in metadata.all_hosts() if host.host_id is not None}
        rebuild = force_token_rebuild
        # Addresses may lead to other nodes for a while: whoever was found there has to leave.
        owners = {node.endpoint: host_id for host_id, node in nodes.nodes.items()}
        for host_id, host in known.items():
            node = nodes.nodes.get(host_id)
            if node is None and host_id not in nodes.incomplete:
                self._remove(host)
                rebuild = True
            elif node is not None and (
                self._moved(host, node) or owners.get(host.endpoint, host_id) != host_id
            ):
                # Pools, policies and the ring know a host by its endpoint: this is another host.
                log.info("Host %s is reached at %s now", host, node.endpoint)
                self._remove(host)
                rebuild = True
        kept = {host.host_id: host for host in metadata.all_hosts()}
        for host_id, node in nodes.nodes.items():
            if host_id in kept:
                rebuild |= self._update(kept[host_id], node)
            else:
                self._add(node)
                rebuild = True
        await self._update_ring(nodes, rebuild)

    def apply_one(self, host: Host, node: Node) -> None:
        """Take over what is new of one host that is known; the ring is left to a whole refresh."""
        if node.host_id == host.host_id and not self._moved(host, node):
            self._update(host, node)

    def _moved(self, host: Host, node: Node) -> bool:
        """Whether a node is reached elsewhere than before.

        A host keeps the endpoint under which it was found (a contact point behind a proxy, say) as
        long as the rows go on to say the same.
        """
        before = self._row_endpoints.get(node.host_id)
        if before is None or node.row_endpoint is None or before == node.row_endpoint:
            return False
        return node.endpoint != host.endpoint

    def _add(self, node: Node) -> None:
        options = self._core.options
        host = Host(
            node.endpoint,
            options.conviction_policy_factory,
            node.datacenter,
            node.rack,
            node.host_id,
        )
        node.describe(host)
        self._core.metadata.add_or_return_host(host)
        self._row_endpoints[node.host_id] = node.row_endpoint
        log.info("New host %s in datacenter %s", host, host.datacenter)
        self._core.hosts.add(host)

    def _remove(self, host: Host) -> None:
        self._core.metadata.remove_host(host)
        if host.host_id is not None:
            self._row_endpoints.pop(host.host_id, None)
        self._core.hosts.remove(host)

    def _update(self, host: Host, node: Node) -> bool:
        """Whether the host is in another place now, so that replicas are to be chosen anew."""
        node.describe(host)
        self._row_endpoints[node.host_id] = node.row_endpoint or self._row_endpoints.get(
            node.host_id
        )
        if (host.datacenter, host.rack) == (node.datacenter, node.rack):
            return False
        log.info("Host %s is in %s/%s now", host, node.datacenter, node.rack)
        self._core.hosts.relocate(host, node.datacenter, node.rack)
        return True

    async def _update_ring(self, nodes: NodeList, rebuild: bool) -> None:
        metadata = self._core.metadata
        partitioner = nodes.partitioner or self._partitioner
        if not self._core.options.token_metadata_enabled or partitioner is None:
            metadata.partitioner = partitioner
            return
        hosts = {host.host_id: host for host in metadata.all_hosts() if host.host_id is not None}
        ring = {
            host_id: nodes.nodes[host_id].tokens
            if host_id in nodes.nodes
            else self._ring.get(host_id, ())
            for host_id in hosts
        }
        if rebuild or self._is_outdated or ring != self._ring or partitioner != self._partitioner:
            self._ring, self._partitioner, self._is_outdated = ring, partitioner, True
            log.debug("Rebuilding the token map")
            await self._core.placement.use_ring(
                partitioner, {host: ring[host_id] for host_id, host in hosts.items()}
            )
            self._is_outdated = False
