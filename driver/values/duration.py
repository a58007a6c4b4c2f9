"""CQL ``duration``: months, days and nanoseconds, which are not multiples of each other."""

from __future__ import annotations

from typing import NamedTuple


class Duration(NamedTuple):
    """A duration as Cassandra stores it (native_protocol_v5 section 6.8).

    A month has no fixed number of days, nor a day of nanoseconds (daylight saving), so the three
    stay apart. Cassandra refuses a mix of signs; this class holds what it is given.

    Attributes:
        months: 32 bits, signed.
        days: 32 bits, signed.
        nanoseconds: 64 bits, signed.
    """

    months: int = 0
    days: int = 0
    nanoseconds: int = 0

    def __str__(self) -> str:
        """As a CQL literal, ``-1mo2d3ns``: one sign for all parts."""
        sign = "-" if min(self) < 0 else ""
        return f"{sign}{abs(self.months)}mo{abs(self.days)}d{abs(self.nanoseconds)}ns"
