"""From rows of the system tables to endpoints.

Where a node listens for clients is called ``rpc_address`` and ``rpc_port`` in ``system.local``,
``rpc_address`` in ``system.peers``, ``native_address`` and ``native_port`` in ``system.peers_v2``
(CASSANDRA-7544), ``native_transport_address`` in DataStax Enterprise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from .base import DEFAULT_PORT, DefaultEndPoint, EndPoint
from .sni import SniEndPoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from ...policies.address_translation import AddressTranslator

_CLIENT_ADDRESS: Final = ("native_address", "native_transport_address", "rpc_address")
_CLIENT_PORT: Final = ("native_port", "native_transport_port", "rpc_port")
#: Where other nodes reach it: clients may, if it listens to them everywhere.
_OTHER_ADDRESS: Final = ("peer", "broadcast_address", "listen_address")
#: "Everywhere" is no address to connect to.
WILDCARDS: Final = frozenset({"0.0.0.0", "::", "0:0:0:0:0:0:0:0"})  # noqa: S104  (read, not bound to)


class Addresses(Protocol):
    """What the factory asks of a cluster."""

    @property
    def address_translator(self) -> AddressTranslator | None:
        """Translates; without an attribute ``may_wait`` it is taken to wait."""

    @property
    def port(self) -> int:
        """The port of nodes whose row names none."""


def _first(row: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first usable address of a row, as text."""
    for name in names:
        value = row.get(name)
        if value and str(value) not in WILDCARDS:
            return str(value)
    return None


class EndPointFactory:
    """Makes endpoints for the nodes that the cluster names.

    Attributes:
        cluster: the cluster it works for; None before ``configure``.
        may_wait: whether ``create`` may wait, for a name service say. It is called on a thread
            where that is allowed then, in place of the event loop's.
    """

    cluster: Addresses | None = None
    may_wait: bool = True

    def configure(self, cluster: Addresses) -> Self:
        """Learn about the cluster; called once, before any endpoint is made.

        Args:
            cluster: that the nodes belong to.
        """
        self.cluster = cluster
        return self

    def create(self, row: Mapping[str, Any]) -> EndPoint:
        """The endpoint of the node that a row of a system table is about.

        Raises:
            ValueError: the row does not say where the node is.
        """
        raise NotImplementedError


class DefaultEndPointFactory(EndPointFactory):
    """Nodes are reached at the address that they announce, as the address translator has it.

    Attributes:
        port: for nodes whose row names no port; None for the port of the cluster.
    """

    def __init__(self, port: int | None = None) -> None:
        """Remember the port."""
        self.port = port

    @property
    def may_wait(self) -> bool:  # type: ignore[override]  # it depends on the translator
        """Whether the address translator may wait."""
        translator = self.cluster and self.cluster.address_translator
        return translator is not None and getattr(translator, "may_wait", True)

    def create(self, row: Mapping[str, Any]) -> DefaultEndPoint:
        """The endpoint of the node that a row is about.

        Raises:
            ValueError: the row has no address.
        """
        address = _first(row, _CLIENT_ADDRESS) or _first(row, _OTHER_ADDRESS)
        if address is None:
            raise ValueError(f"A row without an address: {dict(row)}")
        if self.cluster is not None and self.cluster.address_translator is not None:
            address = self.cluster.address_translator.translate(address)
        port = next((row[name] for name in _CLIENT_PORT if row.get(name)), None)
        of_cluster = None if self.cluster is None else self.cluster.port
        return DefaultEndPoint(address, port or self.port or of_cluster or DEFAULT_PORT)


class SniEndPointFactory(EndPointFactory):
    """Nodes are reached through a proxy, which knows them by their host id."""

    may_wait = False

    def __init__(self, proxy_address: str, port: int) -> None:
        """Remember where the proxy listens."""
        self._proxy_address = proxy_address
        self._port = port
        # Endpoints start at different addresses of the proxy: one that is down must not be the
        # first of all of them.
        self._init_index = -1

    def create(self, row: Mapping[str, Any]) -> SniEndPoint:
        """The endpoint of the node that a row is about.

        Raises:
            ValueError: the row has no host id.
        """
        host_id = row.get("host_id")
        if host_id is None:
            raise ValueError(f"A row without a host id: {dict(row)}")
        return self.create_from_sni(str(host_id))

    def create_from_sni(self, sni: str) -> SniEndPoint:
        """The endpoint of the node that the proxy knows by a name."""
        self._init_index += 1
        return SniEndPoint(self._proxy_address, sni, self._port, self._init_index)
