"""Heartbeats: a connection that has been silent is asked whether it is alive (OPTIONS)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ..vocabulary.errors import OperationTimedOut
from ..wire.requests import OptionsMessage
from .errors import ConnectionBusy, ConnectionException, ConnectionShutdown

if TYPE_CHECKING:
    import asyncio

    from .connection import Connection

log = logging.getLogger(__name__)


class Heartbeat:
    """Looks after one connection: data within every interval, or an answer within the timeout.

    Any data counts as a sign of life, so a busy connection is never asked; one that waits for
    answers and hears nothing is, for that is how a dead node looks.
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
