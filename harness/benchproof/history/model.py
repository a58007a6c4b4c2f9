"""What a history is: commits on one line, and for each benchmark, meter and side a series of them.

The line is the first-parent line of a branch, oldest first: what a merge brought is the merge's. A
series names the commits that were measured by their places in that line, so that a gap between two
places is a range of commits that nobody measured. Commits are read from git's log, with trailers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError, HistoryError

#: The benchmark that runs nothing but the interpreter and C: no commit can move it, so that where
#: it steps, the platform did.
CANARY = "canary.time_interpreter"

#: The unit of each meter, as series and asv's files have it.
UNITS: Mapping[str, str] = {
    "wall": "seconds",
    "instructions": "instructions",
    "allocations": "allocations",
    "bytes": "bytes",
}


@dataclass(frozen=True)
class Commit:
    """A commit on the line.

    Attributes:
        hash: in full.
        date: when it was written (author date, as asv takes it), in milliseconds since 1970.
        subject: its message's first line.
        claims: the rows of its ``Claim:`` trailers.
        reverts: the rows of its ``Reverts-claim:`` trailers.
        parents: hashes; more than one for a merge.
    """

    hash: str
    date: int
    subject: str
    claims: tuple[str, ...] = ()
    reverts: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, order=True)
class SeriesKey:
    """What a series is of.

    Attributes:
        benchmark: as asv names the timed function, ``decode_rows.time_one_row``, for every meter.
        meter: ``wall``, ``instructions``, ``allocations`` or ``bytes``.
        impl: the variant; empty for a project that names none.
        machine: the name of the machine, as asv's files have it.
    """

    benchmark: str
    meter: str
    impl: str
    machine: str


@dataclass(frozen=True, eq=False)
class Series:
    """The measured values of one benchmark, meter, implementation and machine.

    Attributes:
        key: what it is of.
        unit: of the values.
        index: places in `History.commits`, increasing.
        value: one number for each place, for one call; never NaN.
        low: lower end of the value's interval (the value itself where none is known). A series that
            knows no interval at all has `value` itself here, the same array, and in `high`.
        high: upper end.
        platform: for each place, a place in `History.platforms`; -1 where it is not known.
    """

    key: SeriesKey
    unit: str
    index: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    platform: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        """How many commits were measured."""
        return len(self.index)

    def at(self, place: int) -> float | None:
        """The value at a commit's place, or None if it was not measured there."""
        found = int(np.searchsorted(self.index, place))
        if found == len(self.index) or self.index[found] != place:
            return None
        return float(self.value[found])


@dataclass(frozen=True, order=True)
class LeftOut:
    """A file (or a part of one) that is not in the history, and why.

    Attributes:
        file: relative to the folder of results.
        why: for a person.
    """

    file: str
    why: str


@dataclass(frozen=True)
class History:
    """Everything that is known of a project's past.

    Attributes:
        commits: the first-parent line, oldest first; measured or not.
        series: by key, sorted; the canary is not among them.
        left_out: files that could not be used, with reasons.
        aside: results of commits that are not on the line (a branch that was not merged, or the
            commits behind a merge), as file and reason. They are sound, but have no place in it.
        machines: by name, asv's description: arch, cpu, num_cpu, os, ram.
        canaries: the series of `CANARY`, by key.
        platforms: what measured: Python, kernel, compiler, valgrind, as words by name.
    """

    commits: list[Commit]
    series: dict[SeriesKey, Series]
    left_out: list[LeftOut] = field(default_factory=list)
    aside: list[LeftOut] = field(default_factory=list)
    machines: dict[str, dict[str, str]] = field(default_factory=dict)
    canaries: dict[SeriesKey, Series] = field(default_factory=dict)
    platforms: list[dict[str, str]] = field(default_factory=list)

    def canary(self, key: SeriesKey) -> Series | None:
        """The canary that was measured beside a series, if it was."""
        return self.canaries.get(SeriesKey(CANARY, key.meter, key.impl, key.machine))


#: Between the fields of a commit, and after each commit: characters that no strip takes away.
_FIELD, _END = "\x01", "\x02"
_TRAILER = "%(trailers:key={},valueonly,separator=%x2c)"
_FORMAT = "%x01".join(
    ("%H", "%at", "%P", _TRAILER.format("Claim"), _TRAILER.format("Reverts-claim"), "%s%x02")
)


def read(checkout: Checkout, tip: str = "HEAD") -> list[Commit]:
    """The first-parent line behind a commit, oldest first; empty before the first commit.

    Args:
        checkout: whose commits.
        tip: the newest.
    """
    if tip == "HEAD" and checkout.head() is None:
        return []
    text = checkout.ask("log", "--first-parent", f"--format={_FORMAT}", tip, "--")
    found = []
    for record in text.split(_END):
        if record.strip():
            name, date, parents, claims, reverts, subject = record.lstrip("\n").split(_FIELD)
            found.append(
                Commit(name, int(date) * 1000, subject, _list(claims), _list(reverts),
                       tuple(parents.split()))
            )  # fmt: skip
    return found[::-1]


def chosen(checkout: Checkout, text: str) -> list[str]:
    """Hashes of a range as git writes it (``A..B``, ``B^!``, ``B``), newest first.

    Raises:
        HistoryError: it names nothing.
    """
    if text.startswith("-"):
        raise HistoryError(f"a range is a commit or two with '..' between them, not {text!r}")
    try:
        names = checkout.ask("rev-list", "--first-parent", text, "--").split()
    except BenchproofError as error:
        raise HistoryError(f"unknown range: {text!r} names no commits here") from error
    if not names:
        raise HistoryError(f"the range {text!r} holds no commit")
    return names


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
