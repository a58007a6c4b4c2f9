"""Version 1 UUIDs (CQL ``timeuuid``) made from times, and the times inside them (RFC 4122)."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from .timestamps import DATETIME_EPOC, microseconds_from_datetime

#: 100 ns intervals between the start of the Gregorian calendar and the Unix epoch.
_GREGORIAN_OFFSET = 0x01B21DD213814000

# Cassandra compares the lower half of a timeuuid as signed bytes, so these two halves, and not
# all-zeros and all-ones, are the smallest and the largest.
_LOWEST_NODE, _LOWEST_CLOCK_SEQ = 0x808080808080, 0x80
_HIGHEST_NODE, _HIGHEST_CLOCK_SEQ = 0x7F7F7F7F7F7F, 0x3F7F

#: Sorts before every other timeuuid.
LOWEST_TIME_UUID: Final = UUID("00000000-0000-1000-8080-808080808080")

#: Sorts after every other timeuuid.
HIGHEST_TIME_UUID: Final = UUID("ffffffff-ffff-1fff-bf7f-7f7f7f7f7f7f")


def uuid_from_time(
    time_arg: datetime | float, node: int | None = None, clock_seq: int | None = None
) -> UUID:
    """A version 1 UUID of a given time.

    Args:
        time_arg: a datetime (naive is UTC) or seconds since the epoch.
        node: 48 bits; random if None.
        clock_seq: 14 bits; random if None.

    Raises:
        ValueError: ``clock_seq`` has more than 14 bits.
    """
    if isinstance(time_arg, datetime):
        microseconds = microseconds_from_datetime(time_arg)
    else:
        microseconds = int(time_arg * 1_000_000)
    intervals = microseconds * 10 + _GREGORIAN_OFFSET
    if clock_seq is None:
        clock_seq = secrets.randbits(14)
    elif clock_seq > 0x3FFF:
        raise ValueError(f"clock_seq has 14 bits, {clock_seq:#x} has more")
    if node is None:
        node = secrets.randbits(48)
    fields = (
        intervals & 0xFFFFFFFF,
        (intervals >> 32) & 0xFFFF,
        (intervals >> 48) & 0x0FFF,
        0x80 | (clock_seq >> 8 & 0x3F),
        clock_seq & 0xFF,
        node,
    )
    return UUID(fields=fields, version=1)


def min_uuid_from_time(timestamp: datetime | float) -> UUID:
    """The smallest timeuuid of a time, in the order of Cassandra."""
    return uuid_from_time(timestamp, _LOWEST_NODE, _LOWEST_CLOCK_SEQ)


def max_uuid_from_time(timestamp: datetime | float) -> UUID:
    """The largest timeuuid of a time, in the order of Cassandra."""
    return uuid_from_time(timestamp, _HIGHEST_NODE, _HIGHEST_CLOCK_SEQ)


def unix_time_from_uuid1(uuid_arg: UUID) -> float:
    """Seconds since the epoch of a version 1 UUID."""
    return (uuid_arg.time - _GREGORIAN_OFFSET) / 10_000_000


def datetime_from_uuid1(uuid_arg: UUID) -> datetime:
    """The naive UTC datetime of a version 1 UUID, exact to the microsecond."""
    return DATETIME_EPOC + timedelta(microseconds=(uuid_arg.time - _GREGORIAN_OFFSET) // 10)
