"""The cluster for coroutines: everything happens on the loop of whoever connects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from ..cluster.base import BaseCluster
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Coroutine, Hashable

    from ..cluster.profiles import ExecutionProfile


class Cluster(BaseCluster["Coroutine[Any, Any, None]", "Session"]):
    """A cluster, and the sessions with it, on the running event loop.

    Arguments are described in ``driver.cluster.options.ClusterOptions``. It belongs to the loop on
    which ``connect`` was awaited first, and must be used on no other. The ``refresh_...`` methods
    are to be awaited.
    """

    def _perform(self, work: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None]:
        return work

    async def connect(
        self, keyspace: str | None = None, wait_for_all_pools: bool = False
    ) -> Session:
        """Find the cluster, if that was not done, and open a session.

        If the cluster cannot be found, it is shut down.

        Args:
            keyspace: used on all connections of the session.
            wait_for_all_pools: wait for a connection to each host instead of to one.

        Raises:
            NoHostAvailable: no contact point could be used, or no host got a pool; the reason of
                each is in ``errors``, an AuthenticationFailed for instance.
            UnresolvableContactPoints: no contact point has an address.
            InvalidRequest: there is no such keyspace.
            DriverException: the cluster is shut down.
        """
        session = Session(self, await self.core.connect_session(keyspace, wait_for_all_pools))
        self._remember(session)
        return session

    async def shutdown(self) -> None:
        """Close all sessions and connections; again, it does nothing."""
        await self.core.close()

    async def __aenter__(self) -> Self:
        """This cluster; ``connect`` connects it."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Shut down."""
        await self.shutdown()

    async def add_execution_profile(
        self, name: Hashable, profile: ExecutionProfile, pool_wait_timeout: float = 5
    ) -> None:
        """Add an execution profile; on a connected cluster, wait for pools that it needs.

        Raises:
            TypeError: it is no profile.
            ValueError: the name is taken, or the cluster is configured without profiles.
            OperationTimedOut: not all pools are open after ``pool_wait_timeout`` seconds; they
                still may be later.
        """
        if self.core.is_open:
            await self.core.add_execution_profile(name, profile, pool_wait_timeout)
        else:
            self.core.profile_manager.add(name, profile)
