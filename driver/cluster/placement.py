"""Placement: who replicates what is worked out before requests have to wait for it.

With a thousand hosts of 256 tokens that takes seconds for a keyspace. So a ring replaces the one
before when all keyspaces that requests have used have their replicas on it, and so does a keyspace
that is replicated in another way; until then requests go by what was.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..topology.host import Host
    from ..topology.ring import TokenMap
    from ..topology.schema.keyspace import KeyspaceMetadata
    from .core import ClusterCore

log = logging.getLogger(__name__)

_T = TypeVar("_T")

#: Tokens of a ring that takes longer than the loop, or a request, should wait for.
_LARGE_RING: Final = 2048


@contextlib.contextmanager
def _logged() -> Iterator[None]:
    """Have a failure end nothing else: a request that needs the replicas raises it again."""
    try:
        yield
    except Exception:
        log.exception("Replicas could not be worked out")


class Placement:
    """Has replicas worked out: on another thread, if that takes a while. The loop's thread."""

    def __init__(self, core: ClusterCore) -> None:
        """Of the metadata of a core."""
        self._core = core

    async def use_ring(self, partitioner: str, tokens: Mapping[Host, Sequence[str]]) -> None:
        """Replace the ring; arguments as of ``Metadata.rebuild_token_map``."""
        metadata = self._core.metadata
        size = sum(map(len, tokens.values()))
        ring = await self._work_out(size, metadata.new_token_map, partitioner, tokens)
        if ring is not None:
            with _logged():
                await self._place_used(ring)
        metadata.partitioner = partitioner
        metadata.token_map = ring

    async def _place_used(self, ring: TokenMap) -> None:
        # Meanwhile requests may use more keyspaces, and a keyspace may change.
        while missing := [ks for ks in self._used() if not ring.is_placed(ks.name, ks)]:
            for keyspace in missing:
                ring.remove_keyspace(keyspace.name)
                await self._work_out(len(ring.ring), ring.rebuild_keyspace, keyspace.name, True)

    async def place_ahead(self, changed: Iterable[KeyspaceMetadata]) -> None:
        """Place keyspaces that are about to replace those of their names."""
        ring = None
        # Meanwhile the ring may be replaced.
        while (newest := self._core.metadata.token_map) is not None and newest is not ring:
            ring = newest
            used = {keyspace.name for keyspace in self._used()}
            with _logged():
                for keyspace in changed:
                    if keyspace.name in used and not ring.is_placed(keyspace.name, keyspace):
                        await self._work_out(len(ring.ring), ring.place_ahead, keyspace)

    async def place_for_requests(self, keyspace: str | None) -> None:
        """Place a keyspace that requests are about to use, if that takes a while."""
        ring = self._core.metadata.token_map
        if ring is None or keyspace is None or keyspace in ring.tokens_to_hosts_by_ks:
            return
        if len(ring.ring) > _LARGE_RING:
            await self._work_out(len(ring.ring), ring.rebuild_keyspace, keyspace, True)

    def _used(self) -> list[KeyspaceMetadata]:
        """The keyspaces that requests have used."""
        metadata = self._core.metadata
        known = (
            () if metadata.token_map is None else tuple(metadata.token_map.tokens_to_hosts_by_ks)
        )
        return [metadata.keyspaces[name] for name in known if name in metadata.keyspaces]

    async def _work_out(self, size: int, function: Callable[..., _T], *arguments: object) -> _T:
        """What a function gives, which takes the longer the more tokens there are."""
        if size > _LARGE_RING:
            # None of the threads that the application uses: those may wait for this.
            return await self._core.loop.run_in_executor(None, function, *arguments)
        return function(*arguments)
