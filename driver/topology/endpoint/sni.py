"""A node behind a proxy that chooses it by the server name of the TLS handshake (SNI)."""

from __future__ import annotations

import socket

from .base import DEFAULT_PORT, EndPoint


class SniEndPoint(EndPoint):
    """A node that a proxy leads to.

    Each ``resolve`` gives the next address of the proxy's name, so that connections are spread
    over all proxies and find another one when one is down.
    """

    __slots__ = ("_index", "_port", "_proxy_address", "_server_name")

    def __init__(
        self,
        proxy_address: str,
        server_name: str,
        port: int = DEFAULT_PORT,
        init_index: int = 0,
    ) -> None:
        """Remember where the proxy listens and the name by which it knows the node.

        Args:
            proxy_address: the proxy's host name or address.
            server_name: the name to ask for in the TLS handshake.
            port: the proxy's port.
            init_index: which of the proxy's addresses is the first to be used.
        """
        self._proxy_address = proxy_address
        self._server_name = server_name
        self._port = port
        self._index = init_index

    @property
    def address(self) -> str:
        """The proxy's host name or address."""
        return self._proxy_address

    @property
    def port(self) -> int:
        """The proxy's port."""
        return self._port

    @property
    def server_name(self) -> str:
        """The name by which the proxy knows the node."""
        return self._server_name

    @property
    def ssl_options(self) -> dict[str, str]:
        """The server name, which the handshake must carry."""
        return {"server_hostname": self._server_name}

    def resolve(self) -> tuple[str, int]:
        """The next address of the proxy. Asks a name service, and waits for it.

        Raises:
            socket.gaierror: the name has no address; an OSError, as when connecting fails.
        """
        try:
            found = socket.getaddrinfo(
                self._proxy_address, self._port, socket.AF_UNSPEC, socket.SOCK_STREAM
            )
        except socket.gaierror as error:
            raise socket.gaierror(
                error.errno, f"Cannot resolve the proxy {self._proxy_address}: {error.strerror}"
            ) from error
        # In an order of our own: a name service may turn its answers around as well.
        addresses = sorted({str(sockaddr[0]) for *_, sockaddr in found})
        address = addresses[self._index % len(addresses)]
        self._index += 1
        return address, self._port

    def _key(self) -> tuple[str, int, str]:
        return (self._proxy_address, self._port, self._server_name)

    def __str__(self) -> str:
        """Proxy, port and server name."""
        return f"{super().__str__()}:{self._server_name}"
