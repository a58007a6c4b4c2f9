"""What an endpoint is, and those that need nobody to lead there."""

from __future__ import annotations

import functools
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT = 9042


@functools.total_ordering
class EndPoint:
    """What a connection needs to reach a node. Subclasses are values: ordered and hashable."""

    __slots__ = ()

    @property
    def address(self) -> str:
        """The address that identifies the node, as text."""
        raise NotImplementedError

    @property
    def port(self) -> int | None:
        """The TCP port, or None where there is none."""
        raise NotImplementedError

    @property
    def socket_family(self) -> int:
        """Address family for the socket; unspecified leaves it to name resolution."""
        return socket.AF_UNSPEC

    @property
    def ssl_options(self) -> Mapping[str, object] | None:
        """TLS options of this endpoint alone, or None."""
        return None

    def resolve(self) -> tuple[str, int | None]:
        """Address and port to connect to now; may ask a name service."""
        raise NotImplementedError

    def _key(self) -> tuple[str, int] | tuple[str, int, str]:
        return (self.address, self.port or 0)

    def __eq__(self, other: object) -> bool:
        """Whether both reach the same place in the same way."""
        if not isinstance(other, EndPoint):
            return NotImplemented
        return type(self) is type(other) and self._key() == other._key()

    def __lt__(self, other: EndPoint) -> bool:
        """Order by address and port, so that lists of nodes have one order."""
        return self._key() < other._key()

    def __hash__(self) -> int:
        """Of address and port."""
        return hash(self._key())

    def __str__(self) -> str:
        """``address:port``, as logs show it."""
        return f"{self.address}:{self.port}"

    def __repr__(self) -> str:
        """Class, address and port."""
        return f"<{type(self).__name__}: {self}>"


class DefaultEndPoint(EndPoint):
    """A node reached by address and TCP port."""

    __slots__ = ("_address", "_port")

    def __init__(self, address: str, port: int = DEFAULT_PORT) -> None:
        """Remember where the node listens for CQL clients."""
        self._address = address
        self._port = port

    @property
    def address(self) -> str:
        """The IP address or host name."""
        return self._address

    @property
    def port(self) -> int:
        """The TCP port."""
        return self._port

    def resolve(self) -> tuple[str, int]:
        """Address and port as given."""
        return self._address, self._port


class UnixSocketEndPoint(EndPoint):
    """A node on this machine, reached through a socket file."""

    __slots__ = ("_path",)

    def __init__(self, unix_socket_path: str) -> None:
        """Remember the path of the socket file."""
        self._path = unix_socket_path

    @property
    def address(self) -> str:
        """The path of the socket file."""
        return self._path

    @property
    def port(self) -> None:
        """None: there is no port."""
        return

    @property
    def socket_family(self) -> int:
        """The family of socket files."""
        return socket.AF_UNIX

    def resolve(self) -> tuple[str, None]:
        """The path, and no port."""
        return self._path, None

    def __str__(self) -> str:
        """The path."""
        return self._path
