"""Times: timestamp, date, time, duration.

Timestamps are computed in exact integers: floating point cannot hold milliseconds far from the
epoch together with microseconds. Every one that a ``datetime`` can express survives the round trip.
"""

# ruff: noqa: ARG003, D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

import datetime as dt
import struct
from typing import TYPE_CHECKING, Final

from ..protocol.errors import MarshalException
from ..values.date import Date
from ..values.duration import Duration
from ..values.time import Time
from . import marshal
from .base import CQLType, wrong_size

if TYPE_CHECKING:
    from ..protocol.typing import CqlValue


#: The Unix epoch as the naive UTC datetime that CQL timestamps are counted from.
DATETIME_EPOC: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (CQL timestamps are naive UTC)

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

#: What a date of the epoch is on the wire: dates are unsigned, so that bytes sort as dates do.
EPOCH_OFFSET_DAYS = 1 << 31

#: Not marshal's, which is a call of Python's more: pages have a timestamp in each row.
_int64 = struct.Struct(">q").unpack
_DAY = dt.timedelta(days=1)
_SECONDS_A_DAY = 86_400
_MS_A_DAY = 86_400_000


def datetime_from_timestamp(milliseconds: int) -> dt.datetime:
    """The naive UTC datetime of a CQL timestamp.

    Args:
        milliseconds: since the epoch; negative before it.

    Raises:
        OverflowError: the year is not in 1..9999.
    """
    return DATETIME_EPOC + dt.timedelta(milliseconds=milliseconds)


def microseconds_from_datetime(value: dt.datetime) -> int:
    """Microseconds since the epoch; a naive datetime is taken as UTC."""
    zone = value.tzinfo
    if zone is None:
        elapsed = value - DATETIME_EPOC
    elif zone is dt.UTC or value.utcoffset() is not None:
        elapsed = value - _EPOCH
    else:
        elapsed = value.replace(tzinfo=None) - DATETIME_EPOC  # a zone that says nothing
    seconds = elapsed.days * _SECONDS_A_DAY + elapsed.seconds
    return seconds * 1_000_000 + elapsed.microseconds


def ms_timestamp_from_datetime(value: dt.datetime) -> int:
    """Milliseconds since the epoch; a fraction is dropped towards the epoch.

    A naive datetime is taken as UTC.
    """
    microseconds = microseconds_from_datetime(value)
    # Not //, which rounds away from the epoch before 1970.
    return microseconds // 1000 if microseconds >= 0 else -(-microseconds // 1000)


class TimestampType(CQLType):
    """timestamp: milliseconds since the epoch, a naive UTC datetime in Python.

    Takes a datetime (naive is UTC), a date (its first moment), or a number of milliseconds.
    Fractions of a millisecond are dropped.
    """

    typename = "timestamp"
    arrow = "tsm:UTC"

    @classmethod
    def serialize(cls, value: dt.date | float, protocol_version: int) -> bytes:
        if isinstance(value, dt.datetime):
            milliseconds = ms_timestamp_from_datetime(value)
        elif isinstance(value, dt.date):
            milliseconds = (value - DATETIME_EPOC.date()) // _DAY * _MS_A_DAY
        elif isinstance(value, int | float):
            milliseconds = int(value)
        else:
            raise TypeError(
                f"timestamp takes a datetime, date or number, not {type(value).__name__}"
            )
        try:
            return marshal.int64_pack(milliseconds)
        except struct.error:
            raise OverflowError(f"timestamp cannot hold {value!r}") from None

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> dt.datetime:
        if len(data) != 8:
            raise wrong_size(cls.typename, "8", len(data))
        return datetime_from_timestamp(_int64(data)[0])

    @classmethod
    def serial_size(cls) -> int | None:
        return 8


class DateType(TimestampType):
    """timestamp by its old name; Cassandra sorts the two apart before the epoch."""

    typename = "timestamp"
    option_code = 0x000B


class SimpleDateType(CQLType):
    """date: a day, ``values.Date`` in Python.

    Takes a Date, a ``datetime.date``, ``YYYY-MM-DD``, or an int, which is the number on the wire:
    days since the epoch plus 2**31.

    Attributes:
        EPOCH_OFFSET_DAYS: what the number on the wire is for the epoch.
    """

    typename = "date"
    option_code = 0x0011
    arrow = "tdD"
    EPOCH_OFFSET_DAYS = EPOCH_OFFSET_DAYS

    @classmethod
    def serialize(cls, value: Date | dt.date | str | int, protocol_version: int) -> bytes:
        if isinstance(value, int):
            days = value
        else:
            day = value if isinstance(value, Date) else Date(value)
            days = day.days_from_epoch + EPOCH_OFFSET_DAYS
        try:
            return marshal.uint32_pack(days)
        except struct.error:
            raise OverflowError(f"date cannot hold {value!r}") from None

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> Date:
        if len(data) != 4:
            raise wrong_size(cls.typename, "4", len(data))
        return Date(marshal.uint32_unpack(data) - EPOCH_OFFSET_DAYS)


class TimeType(CQLType):
    """time: nanoseconds since midnight, ``values.Time`` in Python.

    Takes a Time, a ``datetime.time``, ``HH:MM:SS.fffffffff``, or an int of nanoseconds.
    """

    typename = "time"
    option_code = 0x0012
    arrow = "ttn"

    @classmethod
    def serialize(cls, value: Time | dt.time | str | int, protocol_version: int) -> bytes:
        time = value if isinstance(value, Time) else Time(value)
        return marshal.int64_pack(time.nanosecond_time)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> Time:
        if len(data) != 8:
            raise wrong_size(cls.typename, "8", len(data))
        nanoseconds = marshal.int64_unpack(data)
        if not 0 <= nanoseconds < Time.DAY:
            raise MarshalException(f"time: {nanoseconds} nanoseconds are not within a day")
        return Time(nanoseconds)


class DurationType(CQLType):
    """duration: months, days and nanoseconds as signed vints, ``values.Duration`` in Python."""

    typename = "duration"
    option_code = 0x0015
    arrow = "tin"

    @classmethod
    def serialize(cls, value: CqlValue, protocol_version: int) -> bytes:
        try:
            return marshal.vints_pack((value.months, value.days, value.nanoseconds))
        except (AttributeError, TypeError):
            raise TypeError(f"duration takes a Duration, not {type(value).__name__}") from None
        except OverflowError as error:
            raise ValueError(f"duration: {error}") from None

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> Duration:
        parts = marshal.vints_unpack(data)
        if len(parts) != 3:
            raise MarshalException(f"duration: a value has 3 vints, got {len(parts)}")
        return Duration(*parts)
