"""Opening a transport: resolve the endpoint, try its addresses, shake hands for TLS."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from typing import TYPE_CHECKING, Any

from ..protocol.errors import OperationTimedOut
from ..topology.endpoint import DefaultEndPoint, EndPoint, UnixSocketEndPoint
from .errors import ConnectionException
from .tls_transport import TlsTransport
from .transport import SocketTransport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .settings import SocketOption
    from .tls import Tls
    from .transport import Transport

#: Family and address, as sockets take them.
_Address = tuple[int, Any]


async def open_transport(
    loop: asyncio.AbstractEventLoop,
    endpoint: EndPoint,
    *,
    tls: Tls | None = None,
    sockopts: Sequence[SocketOption] = (),
    timeout: float | None = 5.0,
    local_port: int | None = None,
) -> Transport:
    """A connected transport to an endpoint, which does not read yet.

    Args:
        loop: the running loop.
        endpoint: where to connect to; all of its addresses are tried.
        tls: what to shake hands with; None for a plain connection.
        sockopts: options of the socket.
        timeout: seconds for everything; None waits for ever.
        local_port: source port to bind to.

    Raises:
        ConnectionException: no address could be reached, or the TLS handshake failed.
        OperationTimedOut: it took too long.
    """
    deadline = None if timeout is None else loop.time() + timeout
    try:
        async with asyncio.timeout_at(deadline):
            addresses = await _addresses_of(loop, endpoint)
        sock = await _connect_any(loop, endpoint, addresses, sockopts, deadline, local_port)
        raw = SocketTransport(loop, sock)
        if tls is None:
            return raw
        name = tls.name_for(endpoint.address, endpoint.ssl_options)
        try:
            secure = TlsTransport(loop, raw, tls.context, name)
            async with asyncio.timeout_at(deadline):
                await secure.handshake()
        except BaseException:
            raw.close()
            raise
    except TimeoutError as error:
        raise OperationTimedOut(
            {str(endpoint): f"no connection within {timeout} s"}, endpoint
        ) from error
    except (OSError, ValueError) as error:  # of TLS and name services; names that cannot be
        raise ConnectionException(
            f"Cannot connect to {endpoint}: {error}", endpoint, was_sent=False
        ) from error
    return secure


async def _addresses_of(loop: asyncio.AbstractEventLoop, endpoint: EndPoint) -> list[_Address]:
    """The addresses of an endpoint; a name service may be asked, on another thread."""
    if isinstance(endpoint, DefaultEndPoint | UnixSocketEndPoint):
        host, port = endpoint.resolve()
    else:
        host, port = await loop.run_in_executor(None, endpoint.resolve)
    if port is None:
        return [(socket.AF_UNIX, host)]
    for family, separator in ((socket.AF_INET, "."), (socket.AF_INET6, ":")):
        if separator in host:
            with contextlib.suppress(OSError):
                socket.inet_pton(family, host)
                return [(family, (host, port))]
    found = await loop.getaddrinfo(
        host, port, family=endpoint.socket_family, type=socket.SOCK_STREAM
    )
    return [(family, address) for family, _, _, _, address in found]


async def _connect_any(
    loop: asyncio.AbstractEventLoop,
    endpoint: EndPoint,
    addresses: Sequence[_Address],
    sockopts: Sequence[SocketOption],
    deadline: float | None,
    local_port: int | None,
) -> socket.socket:
    """A socket connected to the first address that answers.

    An address that does not answer at all has only its share of the time.
    """
    errors: list[OSError] = []
    for number, (family, address) in enumerate(addresses):
        until = deadline
        if deadline is not None:
            until = loop.time() + (deadline - loop.time()) / (len(addresses) - number)
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            _prepare(sock, family, sockopts, local_port)
            async with asyncio.timeout_at(until):
                await loop.sock_connect(sock, address)
        except OSError as error:  # a timeout is one, too
            sock.close()
            errors.append(error)
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    if len(errors) == 1:
        raise errors[0]
    if errors and all(isinstance(error, TimeoutError) for error in errors):
        raise TimeoutError
    reasons = "; ".join(
        f"{address}: {error or 'no answer'}"
        for (_, address), error in zip(addresses, errors, strict=True)
    )
    raise OSError(errno.EHOSTUNREACH, reasons or f"{endpoint} has no address")


def _prepare(
    sock: socket.socket, family: int, sockopts: Sequence[SocketOption], local_port: int | None
) -> None:
    """Set a new socket's options, and its own port if one was chosen."""
    sock.setblocking(False)
    if family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for option in sockopts:
        sock.setsockopt(*option)
    if local_port is not None and family != socket.AF_UNIX:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", local_port))  # noqa: S104  (a source port of any interface)
