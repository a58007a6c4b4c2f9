"""Host registry: what happens to policies, pools and listeners when a host comes, goes or fails.

==========  ======================================================================================
a host      then
==========  ======================================================================================
is added    policies hear of it, pools are opened; up when all of them are, else it goes down
goes up     statements are prepared, policies hear of it, pools are opened; up when all of them are
fails       its conviction policy says whether it goes down
goes down   policies and listeners hear of it, pools are closed, a reconnector tries to reach it
answers     the reconnector ends, and the host goes up
is removed  whatever runs for it is cancelled; policies and listeners hear of it, pools are closed
==========  ======================================================================================

The first steps of going down and of being removed are taken at once, also while the host goes up:
that is given up then. So whatever was said last about a host is what holds. Listeners hear of each
host ``on_add`` once, before anything else.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from ..policies.distance import HostDistance
from .reconnection import new_schedule, try_again

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..topology.host import Host
    from .background import Background
    from .core import ClusterCore

log = logging.getLogger(__name__)


class _Entry:
    """What is known, and runs, for one host.

    Attributes:
        host: the host.
        is_announced: whether listeners heard ``on_add``.
        is_in_plans: whether policies take the host for one that is up.
        is_gone: whether it was removed.
        going_up: the task that brings it up, while it does.
        reconnector: what tries to reach it, while it does.
        error: why it went down, if that is known.
    """

    __slots__ = (
        "error", "going_up", "host", "is_announced", "is_gone", "is_in_plans", "reconnector",
    )  # fmt: skip

    def __init__(self, host: Host) -> None:
        self.host = host
        self.is_announced = False
        self.is_in_plans = True
        self.is_gone = False
        self.going_up: asyncio.Task[None] | None = None
        self.reconnector: asyncio.Task[None] | None = None
        self.error: Exception | None = None


class HostRegistry:
    """The hosts of a cluster. Everything is called, and runs, on the core's loop.

    Attributes:
        background: the tasks that run for hosts; set when the core is opened.
    """

    background: Background

    def __init__(self, core: ClusterCore) -> None:
        """Serve a cluster."""
        self._core = core
        # By identity: a node that was replaced has an equal host, as it has the same endpoint.
        self._entries: dict[int, _Entry] = {}
        self._on_up: list[Callable[[Host], None]] = []
        self._on_down: list[Callable[[Host], None]] = []
        self._is_closed = False

    # --- being told ----------------------------------------------------------------------------

    def start(self) -> None:
        """The cluster is open: policies know the hosts found until now, and listeners hear of them.

        There are no pools yet to show whether these are up; they are taken for it.
        """
        for entry in list(self._entries.values()):
            if self._core.profile_manager.distance(entry.host) != HostDistance.IGNORED:
                entry.host.set_up()
            self._announce(entry)

    def add(self, host: Host) -> None:
        """A host is in the metadata that was not: it goes up as soon as its pools are open."""
        if self._is_closed:
            return
        entry = self._entries.setdefault(id(host), _Entry(host))
        if self._core.is_open:
            self._tell_policies("on_add", host)
            self._go_up(entry, is_heard_of=False)

    def remove(self, host: Host) -> None:
        """A host is not in the metadata any more."""
        entry = self._entries.pop(id(host), None)
        if entry is None:
            return
        log.info("Host %s left the cluster", host)
        entry.is_gone = True
        self._stop(entry.going_up)
        self._stop(entry.reconnector)
        host.set_down()
        if self._core.is_open:
            self._tell_policies("on_remove", host)
        if entry.is_announced:
            self._core.listeners.tell("on_remove", host)
        self._close_pools(host)

    def relocate(self, host: Host, datacenter: str | None, rack: str | None) -> None:
        """A host is in another datacenter or rack than was known; policies see it leave and come.

        They have to see it leave from where they know it.
        """
        entry = self._entries.get(id(host))
        is_in_plans = entry is not None and entry.is_in_plans and self._core.is_open
        if is_in_plans:
            self._tell_policies("on_down", host)
        host.set_location_info(datacenter, rack)
        if is_in_plans:
            self._tell_policies("on_up", host)
            self._core.update_pools()

    async def on_up(self, host: Host) -> bool:
        """A host answers again, or another one says so; waits until its pools are open.

        Returns:
            Whether the host is up.
        """
        entry = self._entries.get(id(host))
        if entry is None or self._is_closed:
            return False
        if not host.is_up:
            await asyncio.wait([self._go_up(entry, is_heard_of=True)])
        return bool(host.is_up)

    async def on_down(
        self, host: Host, is_host_addition: bool = False, expect_host_to_be_down: bool = False
    ) -> None:
        """A host does not answer any more, or another one says so.

        A report about a host to which pools have open connections is ignored: whoever said so may
        have lost the network itself.

        Args:
            host: which.
            is_host_addition: whether it was being added; listeners hear of that now.
            expect_host_to_be_down: whether it goes down even if pools are connected to it.
        """
        entry = self._entries.get(id(host))
        if entry is None or entry.reconnector is not None or not self._core.is_open:
            return
        if not expect_host_to_be_down and self._core.is_connected(host):
            log.debug("%s is said to be down, but is connected", host)
            return
        if is_host_addition:
            self._announce(entry)
        await asyncio.wait([self._go_down(entry)])

    def signal_connection_failure(
        self,
        host: Host,
        connection_exc: Exception,
        is_host_addition: bool = False,
        expect_host_to_be_down: bool = False,
    ) -> bool:
        """Tell a host's conviction policy of a failed connection; from any thread.

        Args:
            host: to which there was a connection, or was to be one.
            connection_exc: what happened to it.
            is_host_addition: as in ``on_down``.
            expect_host_to_be_down: the same.

        Returns:
            Whether the host is convicted; then it goes down, soon.
        """
        if self._is_closed or not host.signal_connection_failure(connection_exc):
            return False
        entry = self._entries.get(id(host))
        if entry is not None:
            entry.error = connection_exc
        self._core.background.spawn(self.on_down, host, is_host_addition, expect_host_to_be_down)
        return True

    def watch(self, on_up: Callable[[Host], None], on_down: Callable[[Host], None]) -> None:
        """Call somebody with each host that went up, and that goes down or away."""
        self._on_up.append(on_up)
        self._on_down.append(on_down)

    # --- up ------------------------------------------------------------------------------------

    def _go_up(self, entry: _Entry, *, is_heard_of: bool) -> asyncio.Task[None]:
        """What brings a host up; the same for everybody who wants it up at the same time."""
        if entry.going_up is None:
            self._stop(entry.reconnector)
            entry.reconnector = None
            entry.going_up = self.background.start(
                self._bring_up(entry, is_heard_of), f"up {entry.host}"
            )
        return entry.going_up

    async def _bring_up(self, entry: _Entry, is_heard_of: bool) -> None:
        host = entry.host
        log.info("Host %s may be up; preparing statements and opening pools", host)
        try:
            await self._prepare_statements(host)
            if not entry.is_in_plans:
                # Before the pools: distances depend on which hosts are up.
                entry.is_in_plans = True
                self._tell_policies("on_up", host)
            errors = await self._core.open_pools(host)
        finally:
            if entry.going_up is asyncio.current_task():
                entry.going_up = None
        if errors:
            log.warning("Host %s does not go up: %s", host, errors[0])
            entry.error = errors[0]
            self._announce(entry)
            self._go_down(entry)
            return
        entry.error = None
        if is_heard_of or self._core.profile_manager.distance(host) != HostDistance.IGNORED:
            # Otherwise nobody has tried to reach it: it is neither up nor down.
            host.set_up()
        if not self._announce(entry):
            self._core.listeners.tell("on_up", host)
        for on_up in self._on_up:
            on_up(host)
        self._core.update_pools()

    async def _prepare_statements(self, host: Host) -> None:
        try:
            await self._core.prepare_statements(host)
        except Exception as error:  # noqa: BLE001  (what is not prepared now is when it is executed)
            log.warning("Could not prepare all statements on %s: %s", host, error)

    # --- down ----------------------------------------------------------------------------------

    def _go_down(self, entry: _Entry) -> asyncio.Task[None]:
        """Take a host down; what is returned closes its pools."""
        host, was_down = entry.host, entry.host.is_up is False
        self._stop(entry.going_up)
        entry.going_up = None
        host.set_down()
        if entry.is_in_plans:
            entry.is_in_plans = False
            self._tell_policies("on_down", host)
        if not was_down:
            log.warning("Host %s is down", host)
            if entry.is_announced:
                self._core.listeners.tell("on_down", host)
        self._start_reconnector(entry)
        return self._close_pools(host)

    def _close_pools(self, host: Host) -> asyncio.Task[None]:
        """Close a host's pools; meanwhile others may get some, whose distance changed."""
        for on_down in self._on_down:
            on_down(host)
        closing = self.background.start(self._core.close_pools(host), f"close the pools of {host}")
        self._core.update_pools()
        return closing

    def _start_reconnector(self, entry: _Entry) -> None:
        """Try to reach a host until it answers, as often as the reconnection policy says.

        Nobody tries to reach hosts that every policy ignores: nothing would be sent to them.
        """
        ignored = self._core.profile_manager.distance(entry.host) == HostDistance.IGNORED
        if entry.reconnector is None and not (ignored or entry.is_gone or self._is_closed):
            entry.reconnector = self.background.start(
                self._reconnect(entry), f"reconnect {entry.host}"
            )

    async def _reconnect(self, entry: _Entry) -> None:
        async def reach() -> None:
            (await self._core.connect_to(entry.host.endpoint)).close()

        schedule = new_schedule(self._core.options.reconnection_policy)
        try:
            answered = await try_again(
                schedule, reach, f"reconnecting to {entry.host}", entry.error
            )
        finally:
            if entry.reconnector is asyncio.current_task():
                entry.reconnector = None
        if answered and not (entry.is_gone or self._is_closed):
            self._go_up(entry, is_heard_of=True)

    # --- telling -------------------------------------------------------------------------------

    def _announce(self, entry: _Entry) -> bool:
        """Tell listeners of a new host, once; whether it was this time."""
        if entry.is_announced or entry.is_gone:
            return False
        entry.is_announced = True
        self._core.listeners.tell("on_add", entry.host)
        return True

    def _tell_policies(self, what: str, host: Host) -> None:
        try:
            self._core.profile_manager.tell(what, host)
        except Exception:
            log.exception("%s of a load balancing policy raised an exception for %s", what, host)

    # --- tasks ---------------------------------------------------------------------------------

    @staticmethod
    def _stop(task: asyncio.Task[None] | None) -> None:
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def close(self) -> None:
        """Cancel all work and wait until it has ended; none starts after this."""
        self._is_closed = True
        await self.background.close()
