"""Reconnection: when to try again, and never as fast as a loop can run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from ..protocol.errors import AuthenticationFailed, NoHostAvailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from ..policies.reconnection import ReconnectionPolicy

log = logging.getLogger(__name__)

#: Seconds between two attempts at least, whatever a policy says.
LEAST_DELAY = 0.05

#: Seconds between two attempts at least after a node refused who we are. Passwords are seldom
#: mended within seconds, and servers may lock an account that tries too often. But a node that
#: cannot read its own users says the same and recovers, so giving up would be wrong too.
AUTHENTICATION_DELAY = 60.0


def refused_authentication(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that we are not who we claim to be.

    Of several hosts, all have to say so.
    """
    if isinstance(error, AuthenticationFailed):
        return True
    if isinstance(error, NoHostAvailable):
        return bool(error.errors) and all(
            isinstance(one, BaseException) and refused_authentication(one)
            for one in error.errors.values()
        )
    return error.__cause__ is not None and refused_authentication(error.__cause__)


def at_least(delay: float, error: BaseException | None) -> float:
    """The seconds to wait before the next attempt, given how the one before it ended."""
    least = LEAST_DELAY
    if error is not None and refused_authentication(error):
        least = AUTHENTICATION_DELAY
    return max(delay, least)


def for_ever(schedule: Iterable[float]) -> Iterator[float]:
    """A schedule that goes on with its last delay after its end, with a second if it is empty."""
    delay = 1.0
    for delay in schedule:
        yield delay
    while True:
        yield delay


async def try_again(
    delays: Iterable[float],
    attempt: Callable[[], Awaitable[None]],
    what: str,
    first_error: BaseException | None = None,
    hurry: asyncio.Event | None = None,
) -> bool:
    """Wait and try, until an attempt raises nothing or the delays end.

    Args:
        delays: seconds before each attempt.
        attempt: what is tried.
        what: its name in logs.
        first_error: why it has to be tried again, if that is known.
        hurry: ends a wait when it is set, since an attempt is likely to succeed now.

    Returns:
        Whether an attempt succeeded.
    """
    error = first_error
    for delay in delays:
        seconds = at_least(delay, error)
        log.debug("Next attempt of %s in %.2f seconds", what, seconds)
        await _wait(seconds, hurry)
        try:
            await attempt()
        except Exception as failed:  # noqa: BLE001  (whatever it was, the next attempt may do)
            error = failed
            level = logging.ERROR if refused_authentication(failed) else logging.WARNING
            log.log(level, "Attempt of %s failed: %s: %s", what, type(failed).__name__, failed)
        else:
            return True
    log.error("Gave up %s: the reconnection policy has no further attempt", what)
    return False


def new_schedule(policy: ReconnectionPolicy) -> Iterable[float]:
    """A schedule of a policy of the user's; one that raises counts as one attempt a second."""
    try:
        return policy.new_schedule()
    except Exception:
        log.exception("%r has no schedule", policy)
        return for_ever(())


async def _wait(seconds: float, hurry: asyncio.Event | None) -> None:
    if hurry is None:
        await asyncio.sleep(seconds)
        return
    hurry.clear()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await hurry.wait()
