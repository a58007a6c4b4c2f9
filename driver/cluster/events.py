"""Events of the server: which are asked for, and what each one causes.

=================  ===============================================================================
event              then
=================  ===============================================================================
NEW_NODE           the node list is read, once for all such events of a window
REMOVED_NODE       the same: what holds is the list, not the event
MOVED_NODE         the same
UP                 after a window, for servers say so before they accept connections: a known host
                   goes up, once for however many events; an unknown one causes the list to be read
DOWN               the host goes down, at once; an UP of it that waits is forgotten
a schema change    what changed is read, once for all changes of a window
=================  ===============================================================================
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeAlias

from ..protocol.errors import DriverException
from .event_window import EventWindow, fewest_refreshes, schema_event_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..topology.host import Host
    from ..wire.responses import EventMessage
    from .control_connection import ControlConnection
    from .core import ClusterCore

log = logging.getLogger(__name__)

#: What an event calls a node: the address and port at which clients reach it.
Address: TypeAlias = "tuple[str, int]"


class Events:
    """Takes the events of the control connection."""

    def __init__(self, core: ClusterCore, control: ControlConnection) -> None:
        """Collect events in windows of the lengths that the options say."""
        self._core = core
        self._control = control
        options = core.options
        self._topology = EventWindow(options.topology_event_refresh_window, self._refresh_nodes)
        self._status = EventWindow(options.status_event_refresh_window, self._bring_up)
        self._schema = EventWindow(options.schema_event_refresh_window, self._refresh_schema)
        self._handlers: Mapping[str, tuple[EventWindow[Any], Callable[[Mapping[str, Any]], None]]]
        self._handlers = {
            "TOPOLOGY_CHANGE": (self._topology, self._on_topology_change),
            "STATUS_CHANGE": (self._status, self._on_status_change),
            "SCHEMA_CHANGE": (self._schema, self._on_schema_change),
        }

    def wanted(self) -> list[str]:
        """Types of the events that cause something."""
        wanted = [name for name, (window, _) in self._handlers.items() if window.is_enabled]
        if not self._core.options.schema_metadata_enabled and "SCHEMA_CHANGE" in wanted:
            wanted.remove("SCHEMA_CHANGE")
        return wanted

    def on_event(self, event: EventMessage) -> None:
        """Take an event, on the loop's thread."""
        log.debug("Event %s: %s", event.event_type, event.event_args)
        _, handle = self._handlers[event.event_type]
        handle(event.event_args)

    async def close(self) -> None:
        """Forget the events that wait, and end what is being done."""
        for window, _ in self._handlers.values():
            await window.close()

    # --- nodes ---------------------------------------------------------------------------------

    def _on_topology_change(self, event: Mapping[str, Any]) -> None:
        self._topology.put("nodes", event)

    async def _refresh_nodes(self, _: list[Mapping[str, Any]]) -> None:
        await self._control.refresh_nodes()

    def _on_status_change(self, event: Mapping[str, Any]) -> None:
        address: Address = event["address"]
        if event["change_type"] == "UP":
            self._status.put(address, address)
            return
        self._status.discard(address)
        host = self._host(address)
        if host is not None:
            self._core.background.spawn(self._core.hosts.on_down, host)

    async def _bring_up(self, addresses: list[Address]) -> None:
        unknown = []
        for address in addresses:
            host = self._host(address)
            if host is None:
                unknown.append(address)
            elif not host.is_up:
                self._core.background.spawn(self._bring_up_one, host)
        if unknown:
            await self._control.refresh_nodes()
        for host in filter(None, map(self._host, unknown)):
            self._core.background.spawn(self._core.hosts.on_up, host)

    async def _bring_up_one(self, host: Host) -> None:
        try:
            # It may come back with another version, or in another rack.
            await self._control.refresh_node(host)
        except DriverException as error:
            log.debug("Could not read what is new of %s: %s", host, error)
        await self._core.hosts.on_up(host)

    def _host(self, address: Address) -> Host | None:
        return self._core.metadata.get_host(*address)

    # --- schema --------------------------------------------------------------------------------

    def _on_schema_change(self, event: Mapping[str, Any]) -> None:
        self._schema.put(schema_event_key(event), event)

    async def _refresh_schema(self, events: list[Mapping[str, Any]]) -> None:
        for target in fewest_refreshes(events):
            try:
                await self._control.refresh_schema(**target)
            except DriverException as error:
                log.warning("Could not read the schema after %s: %s", dict(target), error)
