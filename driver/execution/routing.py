"""Routing: which connection to a node is the right one for a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..cluster.session_core import SessionCore
    from ..statements.base import Statement
    from ..topology.host import Host
    from ..topology.tablets import Tablet


class Route(NamedTuple):
    """Where the partition of a statement is, as far as nodes that have shards need it.

    Attributes:
        token: of the partition; None if it is not known.
        tablet: that the token falls into; None without.
    """

    token: int | None = None
    tablet: Tablet | None = None

    def shard_on(self, host: Host) -> int | None:
        """The shard of a node that the tablet names; None if it names none."""
        if self.tablet is None:
            return None
        return next((shard for id_, shard in self.tablet.replicas if id_ == host.host_id), None)


_NOWHERE = Route()


def route_of(session: SessionCore, query: Statement | None, keyspace: str | None = None) -> Route:
    """Where a statement goes: once for a request, whichever nodes it is sent to.

    Args:
        session: knows the keyspace in use, and the cluster with its tablets.
        query: the statement; None for a message of the driver's own.
        keyspace: of a statement without one; by default that of the session.
    """
    if query is None:
        return _NOWHERE
    metadata = session.cluster.metadata
    key = query.routing_key
    token = metadata.hash_of(key) if key is not None else None
    if token is None:
        return _NOWHERE
    keyspace = query.keyspace or keyspace or session.keyspace
    if not keyspace or not query.table:
        return Route(token)
    return Route(token, metadata.tablets.tablet_at(keyspace, query.table, token))
