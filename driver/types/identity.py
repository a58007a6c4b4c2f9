"""Identifiers and addresses: uuid, timeuuid, inet; the times in UUIDs of version 1 (RFC 4122)."""

# ruff: noqa: ARG003, D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Final
from uuid import UUID, SafeUUID

from .base import CQLType, wrong_size
from .temporal import DATETIME_EPOC, microseconds_from_datetime

if TYPE_CHECKING:
    from ..protocol.typing import CqlValue


#: A UUID refuses to be changed; this is how its own constructor sets it.
_set, _NOT_KNOWN = object.__setattr__, SafeUUID.unknown
#: The address family of each size of an inet.
_FAMILIES = {4: socket.AF_INET, 16: socket.AF_INET6}

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


class UUIDType(CQLType):
    """uuid: 16 bytes."""

    typename = "uuid"
    option_code = 0x000C
    arrow = "w:16"

    @classmethod
    def serialize(cls, value: UUID, protocol_version: int) -> bytes:
        if not isinstance(value, UUID):
            raise TypeError(f"{cls.typename} takes a UUID, not {type(value).__name__}")
        return value.bytes

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> UUID:
        if len(data) != 16:
            raise wrong_size(cls.typename, "16", len(data))
        # What UUID(bytes=data) comes to, without what else it can be made of: half a row's time.
        value = UUID.__new__(UUID)
        _set(value, "int", int.from_bytes(data))
        _set(value, "is_safe", _NOT_KNOWN)
        return value

    @classmethod
    def serial_size(cls) -> int | None:
        return 16


class TimeUUIDType(UUIDType):
    """timeuuid: a uuid of version 1. The server checks the version."""

    typename = "timeuuid"
    option_code = 0x000F


class InetAddressType(CQLType):
    """inet: an IPv4 address in 4 bytes or an IPv6 address in 16, a str in Python."""

    typename = "inet"
    option_code = 0x0010
    arrow = "u"

    @classmethod
    def serialize(cls, value: str | IPv4Address | IPv6Address, protocol_version: int) -> bytes:
        if isinstance(value, IPv4Address | IPv6Address):
            return value.packed
        if not isinstance(value, str):
            raise TypeError(f"{cls.typename} takes an address, not {type(value).__name__}")
        try:
            return socket.inet_pton(_FAMILIES[16 if ":" in value else 4], value)
        except (OSError, ValueError):  # ValueError: a zero character inside
            raise ValueError(f"{value!r} is no inet address") from None

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> CqlValue:
        family = _FAMILIES.get(len(data))
        if family is None:
            raise wrong_size(cls.typename, "4 or 16", len(data))
        return socket.inet_ntop(family, data)


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
        clock_seq = int.from_bytes(os.urandom(2)) >> 2
    elif clock_seq > 0x3FFF:
        raise ValueError(f"clock_seq has 14 bits, {clock_seq:#x} has more")
    if node is None:
        node = int.from_bytes(os.urandom(6))
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
