"""Events of the server: collected for a while, so that many of them cause one refresh."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..protocol.kinds import SchemaTargetType

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping

log = logging.getLogger(__name__)

Event = TypeVar("Event")

#: More changes than this in one keyspace, or of keyspaces, and it is cheaper to read them whole.
MOST_SINGLE_REFRESHES = 8


class EventWindow(Generic[Event]):
    """Collects events for a random part of a window, then has them handled together.

    The random part spreads the refreshes of many clients that hear of the same event. Handling is
    never done twice at the same time: what comes meanwhile is handled after it.
    """

    def __init__(self, seconds: float, handle: Callable[[list[Event]], Awaitable[None]]) -> None:
        """Collect for at most so many seconds; a negative number means to ignore events."""
        self._seconds = seconds
        self._handle = handle
        self._events: dict[Hashable, Event] = {}
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def is_enabled(self) -> bool:
        """Whether events are handled at all."""
        return self._seconds >= 0

    def put(self, key: Hashable, event: Event) -> None:
        """Take an event in place of an earlier one with the same key. On the loop's thread."""
        if self._is_closed or not self.is_enabled:
            return
        self._events.pop(key, None)
        self._events[key] = event
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="event window")

    def discard(self, key: Hashable) -> None:
        """Forget an event that waits: a later one says the opposite."""
        self._events.pop(key, None)

    async def _run(self) -> None:
        while self._events:
            await asyncio.sleep(random.uniform(0, self._seconds))  # noqa: S311  (not a secret)
            events, self._events = list(self._events.values()), {}
            if not events:
                break
            try:
                await self._handle(events)
            except Exception as error:
                # There are events after these.
                log.warning("Could not handle events of the server: %r", error)
                log.debug("The cause", exc_info=True)
        self._task = None

    async def close(self) -> None:
        """Forget the events that wait, and end."""
        self._is_closed = True
        self._events.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


def schema_event_key(event: Mapping[str, Any]) -> Hashable:
    """What a schema event is about."""
    target = event["target_type"]
    return target, event["keyspace"], event.get(target.lower())


def fewest_refreshes(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The refreshes that cover some schema events, as arguments of a refresh.

    A keyspace that is refreshed brings its tables, types and functions along; so does one with many
    changes. Many keyspaces are refreshed with everything else; that refresh has no arguments.
    """
    by_keyspace: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        by_keyspace.setdefault(event["keyspace"], []).append(event)
    refreshes: list[Mapping[str, Any]] = []
    whole = 0
    for keyspace, changes in by_keyspace.items():
        of_keyspace = [e for e in changes if e["target_type"] == SchemaTargetType.KEYSPACE]
        if of_keyspace or len(changes) > MOST_SINGLE_REFRESHES:
            whole += 1
            refreshes.append({"target_type": SchemaTargetType.KEYSPACE, "keyspace": keyspace})
        else:
            refreshes.extend(changes)
    return refreshes if whole <= MOST_SINGLE_REFRESHES else [{}]
