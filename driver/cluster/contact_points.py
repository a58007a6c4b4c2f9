"""Contact points: from what an application writes down to endpoints that can be connected to."""

from __future__ import annotations

import logging
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from ..protocol.errors import UnresolvableContactPoints
from ..topology.endpoint import DefaultEndPoint, EndPoint
from .cloud import Cloud

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Iterable

    from .options import ContactPoint

log = logging.getLogger(__name__)


async def resolve_contact_points(
    loop: AbstractEventLoop, contact_points: Iterable[ContactPoint], default_port: int
) -> list[EndPoint]:
    """Endpoints of the contact points, in their order, each once.

    A name becomes an endpoint for each of its addresses: that is what the servers call themselves.
    A name without an address is left out, and logged. Endpoints are taken as they are. The service
    of a secure connect bundle is asked for its nodes, on another thread.

    Raises:
        UnresolvableContactPoints: not one has an address.
    """
    endpoints: dict[EndPoint, None] = {}
    unresolved: list[Any] = []
    why: OSError | None = None
    for point in contact_points:
        if isinstance(point, EndPoint):
            endpoints[point] = None
            continue
        try:
            found = await _endpoints(loop, point, default_port)
        except OSError as error:
            unresolved.append(point)
            why = error
            log.warning("Contact point %s has no address: %s", point, error)
            continue
        endpoints.update(dict.fromkeys(found))
    if not endpoints:
        raise UnresolvableContactPoints(
            f"No contact point has an address: {unresolved}: {why}"
        ) from why
    return list(endpoints)


async def _endpoints(
    loop: AbstractEventLoop, point: str | tuple[str, int] | Cloud, default_port: int
) -> list[EndPoint]:
    """The endpoints of one contact point.

    Raises:
        OSError: there is none.
    """
    if isinstance(point, Cloud):
        return await loop.run_in_executor(None, point.endpoints)
    name, port = (point, default_port) if isinstance(point, str) else point
    return [DefaultEndPoint(address, port) for address in await _addresses(loop, name, port)]


async def _addresses(loop: AbstractEventLoop, name: str, port: int) -> list[str]:
    """The addresses of a name, in the form in which servers write them; the one of an address.

    Raises:
        OSError: there is none.
    """
    try:
        return [str(ip_address(name))]
    except ValueError:
        found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        return [str(address[0]) for *_, address in found]
