"""Heartbeats: a connection that has been silent is asked whether it is alive (OPTIONS)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ..protocol.errors import OperationTimedOut
from ..wire.requests import OptionsMessage
from .errors import ConnectionBusy, ConnectionException, ConnectionShutdown

if TYPE_CHECKING:
    import asyncio

    from .connection import Connection

log = logging.getLogger(__name__)

#: Bytes within a timeout that make an answer one that arrives, and not one that trickles.
_STEADY: Final = 64 * 1024


class Heartbeat:
    """Looks after one connection: an answer within every interval, or to a question of its own.

    A busy connection is never asked; one that waits for answers and gets none is, for that is how
    a dead node looks. Events are no answers, nor are a few bytes of one now and then; a large one
    that arrives steadily is waited for.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: Connection,
        interval: float,
        timeout: float,
    ) -> None:
        """Begin to look, ``interval`` seconds from now; on the loop's thread."""
        self._loop = loop
        self._connection = connection
        self._interval = interval
        self._timeout = timeout
        self._arrived = 0
        self._handle = loop.call_later(interval, self._look)

    def stop(self) -> None:
        """Look no more."""
        self._handle.cancel()

    def _look(self) -> None:
        """After an interval: ask, if nothing came."""
        connection = self._connection
        if connection.heard:
            self._rest()
            return
        try:
            request_id = connection.get_request_id()
        except ConnectionBusy:
            # All of its streams wait and none is answered: as good a question as any.
            pass
        else:
            try:
                connection.send_msg(OptionsMessage(), request_id, self._answered)
            except ConnectionShutdown:
                connection.release_request_id(request_id)
                return
        self._wait()

    def _wait(self) -> None:
        """Give up after the timeout, unless something comes."""
        self._arrived = self._connection.arrived_of_next
        self._handle = self._loop.call_later(self._timeout, self._give_up)

    def _answered(self, response: object) -> None:
        """Whatever came, the node is alive; that it may be an error is not our concern."""
        if isinstance(response, Exception):
            return
        self._rest()

    def _rest(self) -> None:
        """Forget what was heard, and look again after an interval."""
        self._handle.cancel()
        self._connection.heard = False
        self._handle = self._loop.call_later(self._interval, self._look)

    def _give_up(self) -> None:
        """Nothing came for an interval and a timeout."""
        connection = self._connection
        if connection.heard:
            self._rest()
            return
        if connection.arrived_of_next - self._arrived >= _STEADY:
            self._wait()
            return
        endpoint = connection.endpoint
        log.warning("No heartbeat from %s within %s s", endpoint, self._timeout)
        silence = OperationTimedOut(
            {str(endpoint): f"no heartbeat within {self._timeout} s"}, endpoint
        )
        failure = ConnectionException(
            f"Connection to {endpoint} is defunct: no heartbeat within {self._timeout} s", endpoint
        )
        failure.__cause__ = silence
        connection.defunct(failure)
