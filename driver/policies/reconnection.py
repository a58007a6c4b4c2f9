"""Reconnection policies: how long to wait before each attempt to reach a host that is down."""

from __future__ import annotations

from itertools import count, repeat
from random import randint
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class ReconnectionPolicy:
    """Gives each host that goes down a schedule of its own."""

    def new_schedule(self) -> Iterator[float]:
        """Seconds to wait before each attempt; when it ends, no more attempts are made."""
        raise NotImplementedError


class ConstantReconnectionPolicy(ReconnectionPolicy):
    """Waits the same time before each attempt.

    Attributes:
        delay: seconds.
        max_attempts: how many attempts are made; None or 0 for no end.
    """

    def __init__(self, delay: float, max_attempts: int | None = 64) -> None:
        """Choose the delay.

        Raises:
            ValueError: a number is negative.
        """
        if delay < 0:
            raise ValueError("delay must not be negative")
        _check(max_attempts)
        self.delay = delay
        self.max_attempts = max_attempts

    def new_schedule(self) -> Iterator[float]:
        """The delay, again and again."""
        if self.max_attempts:
            return repeat(self.delay, self.max_attempts)
        return repeat(self.delay)


class ExponentialReconnectionPolicy(ReconnectionPolicy):
    """Doubles the time before each attempt up to a limit, 15 % more or less at random.

    The randomness keeps many clients that lost a host together from coming back together.

    Attributes:
        base_delay: seconds before the first attempt, and the least.
        max_delay: seconds at the most.
        max_attempts: how many attempts are made; None for no end.
    """

    def __init__(self, base_delay: float, max_delay: float, max_attempts: int | None = 64) -> None:
        """Choose the delays.

        Raises:
            ValueError: a number is negative, or the delays are in the wrong order.
        """
        if base_delay < 0 or max_delay < 0:
            raise ValueError("Delays may not be negative")
        if max_delay < base_delay:
            raise ValueError("Max delay must be greater than base delay")
        _check(max_attempts)
        self.base_delay = base_delay
        self.max_delay = max_delay
        self.max_attempts = max_attempts

    def new_schedule(self) -> Iterator[float]:
        """Delays between ``base_delay`` and ``max_delay``."""
        attempts = count() if self.max_attempts is None else range(self.max_attempts)
        for attempt in attempts:
            # A float has no powers of two past 1023, and the limit is reached before.
            if attempt > 1000:
                yield self.max_delay
            else:
                yield self._add_jitter(min(self.base_delay * 2.0**attempt, self.max_delay))

    def _add_jitter(self, value: float) -> float:
        """A delay, 15 % more or less, within the limits."""
        percent = randint(85, 115)
        return min(max(self.base_delay, percent * value / 100), self.max_delay)


def _check(max_attempts: int | None) -> None:
    if max_attempts is not None and max_attempts < 0:
        raise ValueError("max_attempts must not be negative")
