"""Gauges: what the metrics of a cluster read from its pools when they are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..pool.host_pool import HostPool
    from .core import ClusterCore


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
