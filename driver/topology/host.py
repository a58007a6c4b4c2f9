"""A host: what is known about one node, apart from how its connections are kept."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, Protocol

from .endpoint import DefaultEndPoint, EndPoint

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from ..wire.features import ShardingInfo


class Conviction(Protocol):
    """Decides when failures of connections mean that the host is down."""

    def add_failure(self, connection_exc: BaseException) -> bool:
        """Count a failure; True means that the host is to be marked down."""

    def reset(self) -> None:
        """Forget earlier failures: the host is up."""


_OF_THIS_PROCESS = frozenset({"lock", "conviction_policy"})
#: What each request looks at, which compiled code finds where it is.
_IN_SLOTS = ("datacenter", "is_up", "sharding_info")


@functools.total_ordering
class Host:
    """One node of the cluster. Two hosts are equal if they are reached in the same way.

    Attributes:
        endpoint: how the node is reached.
        datacenter: name of its datacenter, None while unknown.
        rack: name of its rack, None while unknown.
        host_id: the identity that the node keeps when its address changes.
        is_up: True, False, or None while unknown.
        release_version: version text of the server, None while unknown.
        broadcast_address: how other nodes reach it, as they say; None while unknown.
        broadcast_port: the same.
        broadcast_rpc_address: how clients reach it, as the nodes say, which also is how events
            name it; not translated, as the address of the endpoint may be.
        broadcast_rpc_port: the same.
        listen_address: where it listens for other nodes.
        listen_port: the same.
        dse_version: version text of DataStax Enterprise; None if it is something else.
        dse_workload: what a node of DataStax Enterprise is for.
        dse_workloads: all that it is for.
        sharding_info: how the node maps tokens to its shards; None if it has none.
        conviction_policy: what decides that the host is down; None if nobody asks.
    """

    __slots__ = ("__dict__", "__weakref__", "_hash", *_IN_SLOTS)

    datacenter: str | None
    is_up: bool | None
    sharding_info: ShardingInfo | None
    # What else is not known yet is on the class: a host has what was learnt of it.
    host_id: UUID | None = None
    rack: str | None = None
    conviction_policy: Conviction | None = None
    release_version: str | None = None
    broadcast_address: str | None = None
    broadcast_port: int | None = None
    broadcast_rpc_address: str | None = None
    broadcast_rpc_port: int | None = None
    listen_address: str | None = None
    listen_port: int | None = None
    dse_version: str | None = None
    dse_workload: str | None = None
    dse_workloads: set[str] | None = None

    def __init__(
        self,
        endpoint: EndPoint | str,
        conviction_policy_factory: Callable[[Host], Conviction] | None = None,
        datacenter: str | None = None,
        rack: str | None = None,
        host_id: UUID | None = None,
    ) -> None:
        """Describe a node; an address as text means the default port.

        Raises:
            ValueError: there is no endpoint.
        """
        if not endpoint:
            raise ValueError("a host needs an endpoint")
        self.endpoint = DefaultEndPoint(endpoint) if isinstance(endpoint, str) else endpoint
        self._hash = hash(self.endpoint)
        for name in _IN_SLOTS:  # and not over what a subclass has under that name
            vars(Host)[name].__set__(self, None)
        self.host_id = host_id
        self.lock = threading.RLock()
        self.conviction_policy = (
            conviction_policy_factory(self) if conviction_policy_factory else None
        )
        self.set_location_info(datacenter, rack)

    @property
    def address(self) -> str:
        """The endpoint's address."""
        return self.endpoint.address

    def set_location_info(self, datacenter: str | None, rack: str | None) -> None:
        """Set datacenter and rack together: replica maps read both."""
        self.datacenter = datacenter
        self.rack = rack

    def set_up(self) -> None:
        """Mark the host up and forget its failures."""
        if not self.is_up and self.conviction_policy:
            self.conviction_policy.reset()
        self.is_up = True

    def set_down(self) -> None:
        """Mark the host down."""
        self.is_up = False

    def signal_connection_failure(self, connection_exc: BaseException) -> bool:
        """Tell the conviction policy of a failure; True if the host is to be marked down."""
        return self.conviction_policy is not None and self.conviction_policy.add_failure(
            connection_exc
        )

    def __eq__(self, other: object) -> bool:
        """Whether both are reached through equal endpoints."""
        if not isinstance(other, Host):
            return NotImplemented
        return self.endpoint == other.endpoint

    def __lt__(self, other: Host) -> bool:
        """Order by endpoint."""
        return self.endpoint < other.endpoint

    def __hash__(self) -> int:
        """Of the endpoint, which never changes; location and state do. Each request asks for it."""
        return self._hash

    def __str__(self) -> str:
        """The endpoint's text."""
        return str(self.endpoint)

    def __repr__(self) -> str:
        """Endpoint and datacenter."""
        where = f" {self.datacenter}" if self.datacenter else ""
        return f"<{type(self).__name__}: {self.endpoint}{where}>"

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the lock, the policy and the hash, which belong to this process."""
        kept = {k: v for k, v in vars(self).items() if k not in _OF_THIS_PROCESS}
        return {**kept, **{name: getattr(self, name) for name in _IN_SLOTS}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore with a lock and a hash of this process, and no policy."""
        for name in _IN_SLOTS:
            setattr(self, name, state.get(name))
        kept = {k: v for k, v in state.items() if k not in _IN_SLOTS}
        vars(self).update(kept, lock=threading.RLock(), conviction_policy=None)
        self._hash = hash(self.endpoint)
