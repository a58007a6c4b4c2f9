"""Connections to the shards of a ScyllaDB node: each of its cores answers best for its own tokens.

Source: ScyllaDB, docs/dev/protocol-extensions.md, "Intranode sharding". A connection belongs to the
shard that SUPPORTED names. On the shard-aware port the client chooses it, by its source port; on
the plain port the node does, and all that a client can do is to try until it has one of each.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import random
from typing import TYPE_CHECKING, Final, Protocol

from ..net.errors import ConnectionException
from ..topology.endpoint import DefaultEndPoint, EndPoint
from ..topology.sharding import source_ports_of_shard

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from ..net.connection import Connection
    from ..wire.features import ShardingInfo

log = logging.getLogger(__name__)

#: Source ports to try for one shard: other programs use ports of this machine, too.
_PORTS_TO_TRY: Final = 8
#: Connections to the plain port for each missing shard before giving up for now.
_TRIALS_A_SHARD: Final = 4
#: What a taken source port says: in bind, and in connect if the very same connection exists.
_PORT_IS_TAKEN: Final = frozenset({errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES})


class OpenConnection(Protocol):
    """Opens a connection to an endpoint; what a pool does to each one is done."""

    async def __call__(self, endpoint: EndPoint, local_port: int | None = None) -> Connection:
        """Connect, from a source port if one is given."""


class ShardOpener:
    """Opens connections to chosen shards of one node.

    Attributes:
        trusts_port: the shard-aware port has given the shards that it was asked for so far. It does
            not where an address translation in between changes the source port.
    """

    def __init__(self, endpoint: EndPoint, connect: OpenConnection) -> None:
        """For the node of an endpoint."""
        self.trusts_port = True
        self._endpoint = endpoint
        self._connect = connect

    async def open(
        self, sharding: ShardingInfo, missing: AbstractSet[int], *, is_encrypted: bool
    ) -> tuple[list[Connection], Exception | None]:
        """Connections to as many of the missing shards as can be had now, one each.

        Args:
            sharding: what the node announced.
            missing: which shards.
            is_encrypted: whether connections speak TLS, for which there is another port.

        Returns:
            The connections, and what went wrong last if some shards are still missing.
        """
        wanted = set(missing)
        found: list[Connection] = []
        error: Exception | None = None
        endpoint = shard_aware_endpoint(self._endpoint, sharding, is_encrypted=is_encrypted)
        if endpoint is not None and self.trusts_port:
            count = sharding.shards_count
            results = await asyncio.gather(
                *(self._open_on_port(endpoint, shard, count) for shard in sorted(wanted)),
                return_exceptions=True,
            )
            for result in results:
                if isinstance(result, Exception):
                    error = result
                elif isinstance(result, BaseException):
                    raise result
                else:
                    _keep_or_close(result, wanted, found)
        if wanted and (error is None or not self.trusts_port or _is_port_taken(error)):
            if error is not None:
                log.warning(
                    "Shards %s of %s cannot be chosen by source port, so they are found by trial: "
                    "%s",
                    sorted(wanted),
                    endpoint,
                    error,
                )
            error = await self._open_by_trial(wanted, found)
        return found, error if wanted else None

    async def _open_on_port(self, endpoint: EndPoint, shard: int, shards_count: int) -> Connection:
        """A connection to the shard-aware port, from a free source port that chooses the shard."""
        last: Exception = ConnectionException(
            f"no source port chooses shard {shard} of {endpoint}", endpoint, was_sent=False
        )
        for port in _ports_to_try(shard, shards_count):
            try:
                connection = await self._connect(endpoint, port)
            except Exception as error:
                if not _is_port_taken(error):
                    self.trusts_port = False
                    raise
                last = error
                continue
            if connection.features.shard_id != shard:
                log.warning(
                    "Source port %d gives shard %d of %s instead of %d: something between changes "
                    "source ports, so shards are found by trial",
                    port,
                    connection.features.shard_id,
                    endpoint,
                    shard,
                )
                self.trusts_port = False
            return connection
        raise last

    async def _open_by_trial(self, wanted: set[int], found: list[Connection]) -> Exception | None:
        """Connect to the plain port until every wanted shard came up, or for long enough.

        A node gives a new connection to the shard that has the fewest: the ones that are too many
        are kept until the end, so that it gives another one next time.
        """
        too_many: list[Connection] = []
        try:
            for _ in range(_TRIALS_A_SHARD * len(wanted)):
                if not wanted:
                    break
                try:
                    connection = await self._connect(self._endpoint)
                except Exception as error:  # noqa: BLE001  (the pool decides what it means)
                    return error
                _keep_or_close(connection, wanted, found, too_many)
        finally:
            for connection in too_many:
                connection.close()
        return None


def shard_aware_endpoint(
    endpoint: EndPoint, sharding: ShardingInfo, *, is_encrypted: bool
) -> EndPoint | None:
    """Where the node lets the source port choose the shard; None if nowhere.

    A proxy or a unix socket hides the source port, so only plain addresses have one.
    """
    port = sharding.shard_aware_port_ssl if is_encrypted else sharding.shard_aware_port
    if port is None or type(endpoint) is not DefaultEndPoint:
        return None
    return DefaultEndPoint(endpoint.address, port)


def _ports_to_try(shard: int, shards_count: int) -> list[int]:
    """Some source ports that choose a shard, at random: a fixed order would be everybody's."""
    ports = source_ports_of_shard(shard, shards_count)
    return random.sample(ports, min(_PORTS_TO_TRY, len(ports)))


def _is_port_taken(error: BaseException) -> bool:
    """Whether a connection failed because its source port is in use, and another may do."""
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in _PORT_IS_TAKEN


def _keep_or_close(
    connection: Connection,
    wanted: set[int],
    found: list[Connection],
    too_many: list[Connection] | None = None,
) -> None:
    """Keep a connection whose shard is wanted; close any other one, or put it to those to close."""
    shard = connection.features.shard_id
    if shard in wanted:
        wanted.discard(shard)
        found.append(connection)
    elif too_many is None:
        connection.close()
    else:
        too_many.append(connection)
