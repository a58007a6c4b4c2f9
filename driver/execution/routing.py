"""Routing: which connection to a node is the right one for a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..topology.host import Host
    from .contract import Session


def token_and_shard(session: Session, query: Any, host: Host) -> tuple[int | None, int | None]:  # noqa: ANN401  (a statement, or None)
    """By what a node that splits its tokens among shards chooses the connection for a statement.

    Args:
        session: knows the keyspace in use, and the cluster with its tablets.
        query: the statement; None for a message of the driver's own.
        host: the node.

    Returns:
        The token of the statement's partition, and the shard that a tablet names for it on this
        node. None for what is not known or, on a node without shards, of no use.
    """
    if host.sharding_info is None or query is None:
        return None, None
    metadata = session.cluster.metadata
    key = query.routing_key
    token = metadata.hash_of(key) if key is not None else None
    if token is None:
        return None, None
    keyspace = query.keyspace or session.keyspace
    shard = None
    if keyspace and query.table:
        tablet = metadata.tablets.tablet_at(keyspace, query.table, token)
        if tablet is not None:
            shard = next((s for id_, s in tablet.replicas if id_ == host.host_id), None)
    return token, shard
