"""CQL ``time``: a time of day in nanoseconds, finer than ``datetime.time``."""

from __future__ import annotations

import datetime as dt
import re
from functools import total_ordering
from typing import Final

_CLOCK = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?")


@total_ordering
class Time:
    """A time of day without a zone, in nanoseconds since midnight.

    Equal to an int of the same number of nanoseconds, and to a ``datetime.time`` of the same
    microsecond.

    Attributes:
        nanosecond_time: 0 up to but not including 86,400,000,000,000.
    """

    __slots__ = ("nanosecond_time",)

    MICRO: Final = 1_000
    MILLI: Final = 1_000_000
    SECOND: Final = 1_000_000_000
    MINUTE: Final = 60 * 1_000_000_000
    HOUR: Final = 3_600 * 1_000_000_000
    DAY: Final = 86_400 * 1_000_000_000

    def __init__(self, value: int | dt.time | str) -> None:
        """Take nanoseconds since midnight, a time, or ``HH:MM[:SS[.fffffffff]]``.

        Raises:
            TypeError: the value is none of these.
            ValueError: the value is outside of a day, or the string is no time.
        """
        if isinstance(value, int):
            nanoseconds = value
        elif isinstance(value, dt.time):
            nanoseconds = _nanoseconds(value)
        elif isinstance(value, str):
            nanoseconds = _nanoseconds_from_clock(value)
        else:
            raise TypeError(
                "Time arguments must be a whole number, datetime.time, or string, "
                f"not {type(value).__name__}"
            )
        if not 0 <= nanoseconds < self.DAY:
            raise ValueError(f"Time must be 0..{self.DAY - 1} nanoseconds, not {nanoseconds}")
        self.nanosecond_time = nanoseconds

    @property
    def hour(self) -> int:
        """0 to 23."""
        return self.nanosecond_time // self.HOUR

    @property
    def minute(self) -> int:
        """0 to 59."""
        return self.nanosecond_time % self.HOUR // self.MINUTE

    @property
    def second(self) -> int:
        """0 to 59."""
        return self.nanosecond_time % self.MINUTE // self.SECOND

    @property
    def nanosecond(self) -> int:
        """0 to 999,999,999: the fraction of the second."""
        return self.nanosecond_time % self.SECOND

    def time(self) -> dt.time:
        """The time as a ``datetime.time``; nanoseconds below a microsecond are dropped."""
        return dt.time(self.hour, self.minute, self.second, self.nanosecond // self.MICRO)

    def __hash__(self) -> int:
        """Equal to that of the int that it equals."""
        return hash(self.nanosecond_time)

    def __eq__(self, other: object) -> bool:
        """Compare with a Time, an int, or a ``datetime.time``."""
        nanoseconds = _comparable(other)
        return NotImplemented if nanoseconds is None else self.nanosecond_time == nanoseconds

    def __lt__(self, other: object) -> bool:
        """Compare with a Time, an int, or a ``datetime.time``."""
        nanoseconds = _comparable(other)
        return NotImplemented if nanoseconds is None else self.nanosecond_time < nanoseconds

    def __repr__(self) -> str:
        """The number of nanoseconds, which is all of the value."""
        return f"Time({self.nanosecond_time})"

    def __str__(self) -> str:
        """``HH:MM:SS.fffffffff``."""
        return f"{self.hour:02}:{self.minute:02}:{self.second:02}.{self.nanosecond:09}"


def _nanoseconds(value: dt.time) -> int:
    """Nanoseconds since midnight of a ``datetime.time``."""
    seconds = value.hour * 3_600 + value.minute * 60 + value.second
    return seconds * Time.SECOND + value.microsecond * Time.MICRO


def _comparable(other: object) -> int | None:
    """Nanoseconds of what a Time can be compared with; None of anything else."""
    if isinstance(other, Time):
        return other.nanosecond_time
    if isinstance(other, int):
        return other
    return _nanoseconds(other) if isinstance(other, dt.time) else None


def _nanoseconds_from_clock(text: str) -> int:
    """Nanoseconds since midnight of ``HH:MM[:SS[.fffffffff]]``."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no time of the form HH:MM[:SS[.fffffffff]]")
    hour, minute, second, fraction = match.groups(default="0")
    whole = dt.time(int(hour), int(minute), int(second))  # checks each range
    return _nanoseconds(whole) + int(fraction.ljust(9, "0"))
