"""Node list: from rows of the system tables to the nodes of the cluster, each once."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..topology.endpoint.factory import WILDCARDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from ..topology.endpoint import EndPoint, EndPointFactory
    from ..topology.host import Host

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Node:
    """A node as another one, or itself, describes it. None is what is not known.

    Attributes:
        host_id: the identity that it keeps when its address changes.
        endpoint: how it is reached.
        row_endpoint: the endpoint that its row gives, which differs from ``endpoint`` for a node
            that was found under another name, such as a contact point behind a proxy.
        datacenter: where it is.
        rack: the same.
        tokens: what it owns, as text.
        details: further attributes of its host.
    """

    host_id: UUID
    endpoint: EndPoint
    row_endpoint: EndPoint | None
    datacenter: str
    rack: str
    tokens: tuple[str, ...]
    details: Mapping[str, Any]

    def describe(self, host: Host) -> None:
        """Give a host what is known of it, its place and its endpoint apart."""
        for name, value in self.details.items():
            setattr(host, name, value)


@dataclass(frozen=True, slots=True)
class NodeList:
    """The nodes of a cluster as one of them knows them.

    Attributes:
        nodes: by host id; first the one that was asked, if it described itself.
        incomplete: host ids in rows that lack something: such a node is neither new nor gone.
        cluster_name: what the cluster calls itself.
        partitioner: class name of its partitioner.
        release_version: of the node that was asked.
        local_host_id: the same node.
    """

    nodes: dict[UUID, Node]
    incomplete: frozenset[UUID]
    cluster_name: str | None
    partitioner: str | None
    release_version: str | None
    local_host_id: UUID | None


class NodeReader:
    """Makes nodes of rows.

    Attributes:
        tokens_required: whether another node without tokens is one that has not joined yet. A
            node of ScyllaDB may own none for good.
    """

    def __init__(self, factory: EndPointFactory, tokens_required: bool) -> None:
        """Make endpoints with a factory."""
        self._factory = factory
        self.tokens_required = tokens_required

    async def node_list(
        self,
        local: Mapping[str, Any] | None,
        peers: Sequence[Mapping[str, Any]],
        local_endpoint: EndPoint,
    ) -> NodeList:
        """The nodes of all rows; rows that make no sense are logged and left out.

        Args:
            local: the row of ``system.local``; None if it is missing.
            peers: rows of the table of peers.
            local_endpoint: how the node that was asked was reached.
        """
        nodes: dict[UUID, Node] = {}
        incomplete: set[UUID] = set()
        taken: set[EndPoint] = set()
        rows = [local, *peers] if local else peers
        for row, row_endpoint in zip(rows, await self._endpoints(rows), strict=True):
            node = self._node(row, row_endpoint, local_endpoint if row is local else None)
            if node is None:
                if row.get("host_id") is not None:
                    incomplete.add(row["host_id"])
            elif node.host_id in nodes:
                log.warning("Skipping a second row of host id %s: %s", node.host_id, node.endpoint)
            elif taken & {node.endpoint, node.row_endpoint}:
                log.warning(
                    "Skipping a second row with the endpoint %s, of host id %s",
                    node.row_endpoint,
                    node.host_id,
                )
            else:
                nodes[node.host_id] = node
                taken |= {e for e in (node.endpoint, node.row_endpoint) if e is not None}
        row = local or {}
        return NodeList(
            nodes,
            frozenset(incomplete - nodes.keys()),
            row.get("cluster_name"),
            row.get("partitioner"),
            row.get("release_version"),
            row.get("host_id"),
        )

    async def node(self, row: Mapping[str, Any]) -> Node | None:
        """The node of a row about another one; None and a line in the log if it is incomplete."""
        (row_endpoint,) = await self._endpoints([row])
        return self._node(row, row_endpoint, None)

    async def _endpoints(self, rows: Sequence[Mapping[str, Any]]) -> list[EndPoint | None]:
        """The endpoint of each row, in their order; made where waiting harms nobody."""
        if not getattr(self._factory, "may_wait", True):
            return list(map(self._endpoint, rows))
        # One job for all of them: a factory of the application need not know of threads.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, lambda: list(map(self._endpoint, rows)))

    def _endpoint(self, row: Mapping[str, Any]) -> EndPoint | None:
        try:
            return self._factory.create(row)
        except Exception as error:  # noqa: BLE001  (a factory of the application may raise anything)
            log.debug("No endpoint for %s: %r", row, error)
            return None

    def _node(
        self,
        row: Mapping[str, Any],
        row_endpoint: EndPoint | None,
        local_endpoint: EndPoint | None,
    ) -> Node | None:
        """The node of a row; None, and a line in the log, if something is missing.

        Args:
            row: of either table.
            row_endpoint: what the factory made of it.
            local_endpoint: how the node was reached, if the row is its own.
        """
        endpoint = local_endpoint or row_endpoint
        missing = [name for name in ("host_id", "data_center", "rack") if not row.get(name)]
        missing += ["an address"] if endpoint is None else []
        must_own = self.tokens_required and local_endpoint is None
        if must_own and "tokens" in row and not row["tokens"]:
            missing.append("tokens")
        if missing or endpoint is None:
            log.warning(
                "Skipping a node whose row lacks %s: peer %s, host id %s",
                ", ".join(missing),
                row.get("peer", "(local)"),
                row.get("host_id"),
            )
            return None
        return Node(
            row["host_id"],
            endpoint,
            row_endpoint,
            row["data_center"],
            row["rack"],
            tuple(row.get("tokens") or ()),
            _details(row),
        )


def _details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of a host beyond its identity and its place."""
    broadcast_address = _address(row, "broadcast_address", "peer")
    listen_address = _address(row, "listen_address")
    # Events name a node by the address at which clients reach it; a wildcard is none.
    native = _address(row, "native_transport_address", "native_address", "rpc_address")
    if native in WILDCARDS or native is None:
        native = broadcast_address or listen_address
    workloads = row.get("workloads")
    return {
        "release_version": row.get("release_version"),
        "broadcast_address": broadcast_address,
        "broadcast_port": row.get("broadcast_port", row.get("peer_port")),
        "broadcast_rpc_address": native,
        "broadcast_rpc_port": _first(row, "native_transport_port", "native_port", "rpc_port"),
        "listen_address": listen_address,
        "listen_port": row.get("listen_port"),
        "dse_version": row.get("dse_version"),
        "dse_workload": row.get("workload"),
        "dse_workloads": set(workloads) if workloads else None,
    }


def _first(row: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401  (whatever the column holds)
    return next((row[name] for name in names if row.get(name) is not None), None)


def _address(row: Mapping[str, Any], *names: str) -> str | None:
    address = _first(row, *names)
    return None if address is None else str(address)
