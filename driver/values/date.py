"""CQL ``date``: days, over a range that ``datetime.date`` does not reach."""

from __future__ import annotations

import datetime as dt
import re
from functools import total_ordering

_EPOCH_ORDINAL = dt.date(1970, 1, 1).toordinal()
_SECONDS_A_DAY = 86_400
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


@total_ordering
class Date:
    """A day, counted from the epoch; years before 1 and after 9999 included.

    Equal to an int of the same number of days, and to a ``datetime.date`` of the same day.

    Attributes:
        days_from_epoch: days since 1970-01-01, negative before.
    """

    __slots__ = ("days_from_epoch",)

    date_format = "%Y-%m-%d"

    def __init__(self, value: int | dt.date | str) -> None:
        """Take days since the epoch, a date or datetime, or ``YYYY-MM-DD``.

        Raises:
            TypeError: the value is none of these.
            ValueError: the string is no date.
        """
        if isinstance(value, int):
            self.days_from_epoch = value
        elif isinstance(value, dt.date):
            self.days_from_epoch = value.toordinal() - _EPOCH_ORDINAL
        elif isinstance(value, str):
            self.days_from_epoch = _days_from_iso(value)
        else:
            raise TypeError(
                "Date arguments must be a whole number, datetime.date, or string, "
                f"not {type(value).__name__}"
            )

    @property
    def seconds(self) -> int:
        """Seconds from the epoch to the start of the day."""
        return self.days_from_epoch * _SECONDS_A_DAY

    def date(self) -> dt.date:
        """The day as a ``datetime.date``.

        Raises:
            ValueError: the year is not in 1..9999.
            OverflowError: the same, far outside.
        """
        return dt.date.fromordinal(self.days_from_epoch + _EPOCH_ORDINAL)

    def __hash__(self) -> int:
        """Equal to that of the int that it equals."""
        return hash(self.days_from_epoch)

    def __eq__(self, other: object) -> bool:
        """Compare with a Date, an int, or a ``datetime.date``."""
        days = _days(other)
        return NotImplemented if days is None else self.days_from_epoch == days

    def __lt__(self, other: object) -> bool:
        """Compare with a Date, an int, or a ``datetime.date``."""
        days = _days(other)
        return NotImplemented if days is None else self.days_from_epoch < days

    def __repr__(self) -> str:
        """The number of days, which is all of the value."""
        return f"Date({self.days_from_epoch})"

    def __str__(self) -> str:
        """``YYYY-MM-DD`` if Python has the day, else the number of days."""
        try:
            return self.date().isoformat()
        except (ValueError, OverflowError):
            return str(self.days_from_epoch)


def _days(other: object) -> int | None:
    """Days since the epoch of what a Date can be compared with; None of anything else."""
    if isinstance(other, Date):
        return other.days_from_epoch
    if isinstance(other, int):
        return other
    if isinstance(other, dt.date) and not isinstance(other, dt.datetime):
        return other.toordinal() - _EPOCH_ORDINAL
    return None


def _days_from_iso(text: str) -> int:
    """Days since the epoch of ``YYYY-MM-DD``."""
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no date of the form YYYY-MM-DD")
    year, month, day = map(int, match.groups())
    return dt.date(year, month, day).toordinal() - _EPOCH_ORDINAL
