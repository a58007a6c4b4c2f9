"""The pools of a session: one for each host that the policies do not ignore; their gauges."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ..policies.distance import HostDistance
from ..pool.host_pool import HostPool
from ..protocol.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..pool.host_pool import PoolState
    from ..topology.host import Host
    from .core import ClusterCore

log = logging.getLogger(__name__)
#: Seconds without an answer after which a session that ends gives a node's other requests up.
_PATIENCE = 0.25


class SessionPools:
    """Opens, finds, renews and closes pools; looked up from any thread, changed on the loop's.

    The dict is never changed, only replaced, so that looking up needs no lock.

    Attributes:
        by_host: the open pools.
        keyspace: what new connections use; None for none.
    """

    __slots__ = ("__dict__", "__weakref__", "by_host", "keyspace")

    def __init__(self, core: ClusterCore) -> None:
        """There are none."""
        self._core = core
        self.by_host: Mapping[Host, HostPool] = {}
        self.keyspace: str | None = None
        self._is_closed = False
        # A lock lives as long as somebody holds it or waits for it.
        self._renewing: WeakValueDictionary[Host, asyncio.Lock] = WeakValueDictionary()

    def open_count(self, host: Host) -> int:
        """How many connections to a host are open."""
        pool = self.by_host.get(host)
        return 0 if pool is None else pool.open_count

    async def add_or_renew(self, host: Host) -> Exception | None:
        """Open a pool for a host, in place of the one that it may have.

        Returns:
            What went wrong; None if the pool is open, or the host is to be ignored.
        """
        async with self._renewal(host):
            error, previous = await self._renew(host)
        if previous is not None:
            await previous.close()
        return error

    def _renewal(self, host: Host) -> asyncio.Lock:
        """Held by whoever opens a pool for a host: nobody else does so meanwhile."""
        lock = self._renewing.get(host)
        if lock is None:
            lock = self._renewing[host] = asyncio.Lock()
        return lock

    async def _renew(self, host: Host) -> tuple[Exception | None, HostPool | None]:
        """What went wrong, and the pool that is replaced: it may take long to drain."""
        distance = self._core.profile_manager.distance(host)
        if distance == HostDistance.IGNORED or self._is_closed:
            return None, None
        pool = HostPool(
            self._core.loop,
            host,
            distance,
            self._core.connect_to,
            connections_per_host=self._core.options.connections_per_host,
            on_failure=self._core.hosts.signal_connection_failure,
        )
        try:
            await pool.open()
            await self._use_keyspace_of_session(pool)
        except Exception as error:  # noqa: BLE001  (whoever asked decides what it means)
            log.warning("No pool could be opened for %s: %s", host, error)
            await pool.close()
            return error, None
        except BaseException:
            # The host went down or away meanwhile: nobody will ever ask for this pool.
            await pool.close()
            raise
        if self._is_closed or not any(host is h for h in self._core.metadata.all_hosts()):
            await pool.close()
            return None, None
        previous = self.by_host.get(host)
        self.by_host = {**self.by_host, host: pool}
        log.debug("The session has a pool for %s", host)
        return None, previous

    async def _use_keyspace_of_session(self, pool: HostPool) -> None:
        """Have a new pool use the session's keyspace.

        Raises:
            Exception: the first error of a connection, but for a keyspace that is not there.
        """
        used = None
        # The session may go on to another keyspace while the pool is told of this one.
        while used != self.keyspace and self.keyspace is not None:
            used = self.keyspace
            for error in await pool.set_keyspace(used):
                if not isinstance(error, InvalidRequest):
                    raise error
                # It was dropped: requests that need it will say so, and others need the pool.
                log.warning("The pool of %s has no keyspace: %s", pool.host, error)

    def take(self, host: Host) -> HostPool | None:
        """Lend no more connections to a host; returns its pool, to be closed."""
        pool = self.by_host.get(host)
        if pool is not None:
            self.by_host = {known: kept for known, kept in self.by_host.items() if known != host}
        return pool

    async def update(self) -> None:
        """Open pools that are missing, and close those of hosts that became ignored."""
        await asyncio.gather(*map(self._update_host, self._core.metadata.all_hosts()))

    async def _update_host(self, host: Host) -> None:
        error: Exception | None = None
        to_close: HostPool | None = None
        async with self._renewal(host):
            # Not before: a host that goes up gets its pool meanwhile.
            distance = self._core.profile_manager.distance(host)
            pool = self.by_host.get(host)
            if pool is None or pool.is_shutdown:
                # A host that was ignored until now is neither up nor down.
                if distance != HostDistance.IGNORED and host.is_up is not False:
                    error, to_close = await self._renew(host)
            elif distance == HostDistance.IGNORED:
                to_close = self.take(host)
            else:
                pool.host_distance = distance
        if error is not None:
            self._core.hosts.signal_connection_failure(host, error)
        if to_close is not None:
            await to_close.close()

    async def set_keyspace(self, keyspace: str) -> dict[Host, list[Exception]]:
        """Have all connections use a keyspace, side by side.

        Returns:
            The errors of every host that had some.
        """
        self.keyspace = keyspace
        pools = list(self.by_host.items())
        errors = await asyncio.gather(*(pool.set_keyspace(keyspace) for _, pool in pools))
        return {host: failed for (host, _), failed in zip(pools, errors, strict=True) if failed}

    async def close(self) -> None:
        """Close all pools and open no more; requests to a node that is silent are given up soon."""
        self._is_closed = True
        pools, self.by_host = self.by_host, {}
        await self._core.background.finish(pool.close(_PATIENCE) for pool in pools.values())

    def get_state(self) -> dict[Host, PoolState]:
        """What each pool says of itself."""
        return {host: pool.get_state() for host, pool in self.by_host.items()}


def gauges_of(core: ClusterCore) -> Mapping[str, Callable[[], int]]:
    """How to read each gauge of ``driver.execution.metrics``."""

    def pools() -> Iterator[HostPool]:
        for session in tuple(core.sessions):
            yield from session.pools.by_host.values()

    return {
        "known_hosts": lambda: len(core.metadata.all_hosts()),
        "connected_to": lambda: len({pool.host for pool in pools() if pool.open_count}),
        "open_connections": lambda: sum(pool.open_count for pool in pools()),
        "in_flight_requests": lambda: sum(pool.in_flight for pool in pools()),
    }
