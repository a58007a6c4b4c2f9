"""CQL timestamps (milliseconds since the epoch) and datetimes, in exact integer arithmetic.

Floating point cannot hold milliseconds far from the epoch together with microseconds, so none is
used here: every millisecond that a ``datetime`` can express survives the round trip.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

#: The Unix epoch as the naive UTC datetime that CQL timestamps are counted from.
DATETIME_EPOC: Final = datetime(1970, 1, 1)  # noqa: DTZ001  (CQL timestamps are naive UTC)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_A_DAY = 86_400


def datetime_from_timestamp(milliseconds: int) -> datetime:
    """The naive UTC datetime of a CQL timestamp.

    Args:
        milliseconds: since the epoch; negative before it.

    Raises:
        OverflowError: the year is not in 1..9999.
    """
    return DATETIME_EPOC + timedelta(milliseconds=milliseconds)


def microseconds_from_datetime(value: datetime) -> int:
    """Microseconds since the epoch; a naive datetime is taken as UTC."""
    zone = value.tzinfo
    if zone is None:
        elapsed = value - DATETIME_EPOC
    elif zone is UTC or value.utcoffset() is not None:
        elapsed = value - _EPOCH
    else:
        elapsed = value.replace(tzinfo=None) - DATETIME_EPOC  # a zone that says nothing
    seconds = elapsed.days * _SECONDS_A_DAY + elapsed.seconds
    return seconds * 1_000_000 + elapsed.microseconds


def ms_timestamp_from_datetime(value: datetime) -> int:
    """Milliseconds since the epoch; a fraction is dropped towards the epoch.

    A naive datetime is taken as UTC.
    """
    microseconds = microseconds_from_datetime(value)
    # Not //, which rounds away from the epoch before 1970.
    return microseconds // 1000 if microseconds >= 0 else -(-microseconds // 1000)
