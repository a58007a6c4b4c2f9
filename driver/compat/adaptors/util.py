"""``cassandra.util``: small helpers that this driver does not need itself."""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections import OrderedDict
from functools import total_ordering
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ...cluster.system_tables import time_limit
from ...types.temporal import DATETIME_EPOC
from ...types.temporal import datetime_from_timestamp as _datetime_from_milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "UTC_DATETIME_EPOC",
    "OrderedDict",
    "Version",
    "WeakSet",
    "datetime_from_ms_timestamp",
    "datetime_from_timestamp",
    "is_little_endian",
    "list_contents_to_tuple",
    "maybe_add_timeout_to_query",
    "utc_datetime_from_ms_timestamp",
]

#: The epoch, without a time zone.
UTC_DATETIME_EPOC = DATETIME_EPOC

is_little_endian = sys.byteorder == "little"

_VERSION = re.compile(
    r"(?P<major>\d+)(?:\.(?P<minor>\d+))?(?:\.(?P<patch>\d+))?(?:\.(?P<build>\d+))?"
    r"(?:-(?P<prerelease>[^+]*))?(?:\+.*)?$"
)


def list_contents_to_tuple(to_convert: Iterable[Any]) -> tuple[Any, ...]:
    """A list, and the lists that are its elements, as tuples."""
    return tuple(tuple(item) if isinstance(item, list) else item for item in to_convert)


def datetime_from_timestamp(timestamp: float) -> dt.datetime:
    """The naive UTC time of seconds since the epoch; our function of that name takes others."""
    return UTC_DATETIME_EPOC + dt.timedelta(seconds=timestamp)


def utc_datetime_from_ms_timestamp(timestamp: int) -> dt.datetime:
    """The naive UTC time of milliseconds since the epoch."""
    return _datetime_from_milliseconds(timestamp)


#: As scylla-driver calls it.
datetime_from_ms_timestamp = utc_datetime_from_ms_timestamp


def maybe_add_timeout_to_query(stmt: str, metadata_request_timeout: dt.timedelta | None) -> str:
    """A statement for ScyllaDB that gives up after a time, of whole milliseconds if any."""
    if metadata_request_timeout is None:
        return stmt
    return stmt + time_limit(int(metadata_request_timeout / dt.timedelta(milliseconds=1)) / 1000)


@total_ordering
class Version:
    """A release version of Cassandra, compared as versions are: 4.0-beta1 < 4.0 < 4.0.1.

    Attributes:
        major, minor, patch, build: numbers; 0 where the version ends before.
        prerelease: what follows a dash; empty if nothing does.
    """

    def __init__(self, version: str) -> None:
        """Parse.

        Raises:
            ValueError: it is no version.
        """
        match = _VERSION.match(version)
        if match is None:
            raise ValueError(f"not a version: {version!r}")
        parts = match.groupdict()
        self._version = version
        self.major, self.minor, self.patch, self.build = (
            int(parts[name] or 0) for name in ("major", "minor", "patch", "build")
        )
        self.prerelease: str = parts["prerelease"] or ""

    def _key(self) -> tuple[object, ...]:
        """What orders: a release comes after its prereleases, and numbers in those count."""
        tag = self.prerelease
        words = tuple(
            (1, int(word), "") if word.isdigit() else (0, 0, word.lower())
            for word in re.findall(r"\d+|[^\d]+", tag)
        )
        return (self.major, self.minor, self.patch, self.build, not tag, words)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same release."""
        return self._key() == other._key() if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: Version) -> bool:
        """Whether this one came before."""
        return self._key() < other._key() if isinstance(other, Version) else NotImplemented

    def __hash__(self) -> int:
        """As the releases compare."""
        return hash(self._key())

    def __str__(self) -> str:
        """As it was given."""
        return self._version

    def __repr__(self) -> str:
        """The parts, as far as they are given."""
        parts = [self.major, self.minor, self.patch]
        given = [*parts, *(part for part in (self.build, self.prerelease) if part)]
        return f"Version({', '.join(map(str, given))})"
