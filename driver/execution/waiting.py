"""Waiting: what threads have to keep to that wait for what the loop's thread does."""

from __future__ import annotations

from asyncio.events import _get_running_loop
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..cluster.session_core import SessionCore

#: Seconds after a request's time-out until a waiting thread stops to believe in its timer: timers
#: run on the loop's thread, which a callback of the application may have stopped.
GRACE: Final = 1.0


def refuse_on_loop(session: SessionCore) -> None:
    """Make sure that this thread may wait for answers.

    Raises:
        RuntimeError: it is the thread that reads them, perhaps in a callback of the application; or
            nobody reads them any more.
        ForkedError: they are read in the process that this one was forked from.
    """
    loop = session.loop
    if loop is None:
        return
    if loop.is_closed():
        raise RuntimeError("the event loop of this session was closed: no answer will be read")
    if _get_running_loop() is loop:
        raise RuntimeError(
            "a result was waited for on the event loop's thread, perhaps by a callback: it would "
            "wait for an answer that only this thread can read"
        )
