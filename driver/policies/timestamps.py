"""Timestamps of writes that the client makes, so that its own writes have its own order."""

from __future__ import annotations

import logging
import time
from threading import Lock

from ..implementation import hand_over

log = logging.getLogger(__name__)

_MICROSECONDS = 1_000_000


class MonotonicTimestampGenerator:
    """Gives microseconds since the epoch, each more than the last, whatever the clock does.

    A clock that stands still or is set back is led by one microsecond a call, until it has caught
    up. Safe to call from many threads.

    Attributes:
        warn_on_drift: whether to log a warning when timestamps run ahead of the clock.
        warning_threshold: seconds that they may be ahead without one.
        warning_interval: seconds between warnings.
        last: the timestamp that was given last.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_last_warn",
        "last",
        "lock",
        "warn_on_drift",
        "warning_interval",
        "warning_threshold",
    )

    def __init__(
        self,
        warn_on_drift: bool = True,
        warning_threshold: float = 1,
        warning_interval: float = 1,
    ) -> None:
        """Choose when to warn."""
        self.lock = Lock()
        self.last = 0
        self._last_warn = 0
        self.warn_on_drift = warn_on_drift
        self.warning_threshold = warning_threshold
        self.warning_interval = warning_interval

    def __call__(self) -> int:
        """The next timestamp, in microseconds."""
        with self.lock:
            return self._next_timestamp(int(time.time() * _MICROSECONDS), self.last)

    def _next_timestamp(self, now: int, last: int) -> int:
        """The clock's time if it has gone on, else one more than the last timestamp."""
        if now > last:
            self.last = now
        else:
            self._maybe_warn(now, last)
            self.last = last + 1
        return self.last

    def _maybe_warn(self, now: int, last: int) -> None:
        """Log that the clock is behind, if it is far behind and this was not just said."""
        behind = last - now
        if (
            self.warn_on_drift
            and behind >= self.warning_threshold * _MICROSECONDS
            and now - self._last_warn >= self.warning_interval * _MICROSECONDS
        ):
            message = (
                f"Clock skew detected: the clock says {now}, {behind} microseconds less than the "
                f"timestamp that was given last, {last}; until it has caught up, each "
                "timestamp is one more than the one before"
            )
            log.warning(message)
            self._last_warn = now


hand_over(globals())
