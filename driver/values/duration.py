"""CQL ``duration``: months, days and nanoseconds, which are not multiples of each other."""

from __future__ import annotations


class Duration:
    """A duration as Cassandra stores it (native_protocol_v5 section 6.8).

    A month has no fixed number of days, nor a day of nanoseconds (daylight saving), so the three
    stay apart, and durations have no order. Cassandra refuses a mix of signs; this class holds what
    it is given. No tuple: programs tell one value from several by that.

    Attributes:
        months: 32 bits, signed.
        days: 32 bits, signed.
        nanoseconds: 64 bits, signed.
    """

    __slots__ = ("days", "months", "nanoseconds")

    def __init__(self, months: int = 0, days: int = 0, nanoseconds: int = 0) -> None:
        """Hold the three."""
        self.months = months
        self.days = days
        self.nanoseconds = nanoseconds

    def _parts(self) -> tuple[int, int, int]:
        return self.months, self.days, self.nanoseconds

    def __eq__(self, other: object) -> bool:
        """Whether all parts are equal: 30 days are no month."""
        return self._parts() == other._parts() if isinstance(other, Duration) else NotImplemented

    def __hash__(self) -> int:
        """As the parts compare."""
        return hash(self._parts())

    def __repr__(self) -> str:
        """How it is made."""
        return f"{type(self).__name__}{self._parts()}"

    def __str__(self) -> str:
        """As a CQL literal, ``-1mo2d3ns``: one sign for all parts."""
        sign = "-" if min(self._parts()) < 0 else ""
        return f"{sign}{abs(self.months)}mo{abs(self.days)}d{abs(self.nanoseconds)}ns"
