"""What a ledger holds: pages, tables, rows, figures, and what each figure claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from benchproof.errors import BenchproofError

if TYPE_CHECKING:
    from collections.abc import Sequence


class LedgerError(BenchproofError):
    """A ledger, or a file of its results, that breaks a rule; the message says where."""


#: A published number, or the two ends of a published range.
Span = tuple[float, float]
Scope = Literal["whole", "part"]
Impl = str
IMPLS: tuple[Impl, ...] = ("python", "cython")

#: What a page may claim about, and the meters that can answer, the one that decides first.
METRICS: dict[str, tuple[str, ...]] = {
    "time": ("wall", "instructions"),
    "instructions": ("instructions",),
    "allocations": ("allocations",),
    "objects": ("allocations",),  # memray sees requests for memory, not what they become
    "bytes": ("bytes",),
    "calls": ("calls",),  # Python calls in the driver, as a case's proof counts them
}
#: The units that a metric's numbers may have, and how much of the meter's unit each is.
UNITS: dict[str, dict[str, float]] = {
    "time": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    "bytes": {"B": 1.0, "KB": 1000.0, "KiB": 1024.0, "MB": 1e6},
}
#: The unit of metrics that only count.
COUNT = "1"


@dataclass(frozen=True)
class Page:
    """A pull request, or whatever page publishes figures.

    Attributes:
        id: of the page.
        url: where it is.
        title: what it is about.
        technique: why only its idea was tried, and none of its figures is a claim tested here, or
            "".
    """

    id: str
    url: str
    title: str
    technique: str = ""


@dataclass(frozen=True)
class Table:
    """A place on a page, and what its figures were taken under."""

    id: str
    page: Page
    where: str
    python: str
    conditions: str


@dataclass(frozen=True)
class Row:
    """One change of a page; a commit carries it.

    Attributes:
        id: what stands in the commit's trailer ``Claim:``.
        page: that publishes it.
        change: what it does, in a few words.
        of: the rows that it is the sum of; measured from before the first to after the last.
        no_figure: why the page gives no figure for it, or "".
        also: benchmarks that are measured for it and shown, though no figure names them.
        cost: what it makes dearer and no figure of the page says, or "".
        line: where it stands in the ledger.
    """

    id: str
    page: Page
    change: str
    of: tuple[str, ...] = ()
    no_figure: str = ""
    also: tuple[str, ...] = ()
    cost: str = ""
    line: int = 0


@dataclass(frozen=True)
class Figure:
    """One published figure.

    Attributes:
        id: of its own.
        row: the change that it is about.
        table: where it stands.
        case: what was measured there.
        metric: a key of METRICS; any word if no case can stand for it.
        unit: of before, after and saved.
        scope: whether before and after are of the whole operation that the benchmark is, or only
            of a part of it: an expression timed alone, some of its objects.
        impl: which implementation it is about; None if the page does not say.
        before: in the unit, or None.
        after: in the unit, or None.
        speedup: before / after, where the page says so.
        saved: before - after in the unit, where the page says so.
        saved_percent: of before, where the page says so.
        benchmark: expression that matches the name of the one benchmark that is its case, or "".
        no_case: why no benchmark can be, or "".
        not_measured: why nobody has measured it, though somebody could, or "".
        not_exercised: why its benchmark, as measured, does not run what it is about, or "".
        ends_of: the figures over which it is a range; each of those is judged.
        note: a word to the reader, or "".
        line: where it stands in the ledger.
    """

    id: str
    row: str
    table: Table
    case: str
    metric: str
    unit: str
    scope: Scope
    impl: Impl | None
    before: Span | None = None
    after: Span | None = None
    speedup: Span | None = None
    saved: Span | None = None
    saved_percent: Span | None = None
    benchmark: str = ""
    no_case: str = ""
    not_measured: str = ""
    not_exercised: str = ""
    ends_of: tuple[str, ...] = ()
    note: str = ""
    line: int = 0

    @property
    def ratio(self) -> Span | None:
        """The claimed after / before, strongest end first; None where only a saving is given.

        What the page itself gives as a ratio counts before what its rounded numbers give: the ends
        of a percentage belong together, those of before and after may not.
        """
        if self.saved_percent:
            return (1 - self.saved_percent[1] / 100, 1 - self.saved_percent[0] / 100)
        if self.speedup:
            return (1 / self.speedup[1], 1 / self.speedup[0])
        return self.quotient

    @property
    def quotient(self) -> Span | None:
        """After / before, from the two numbers alone."""
        if not self.before or not self.after:
            return None
        return (self.after[0] / self.before[1], self.after[1] / self.before[0])

    @property
    def saving(self) -> Span | None:
        """The claimed before - after, weakest end first, in the meter's unit; None if not given."""
        scale = UNITS.get(self.metric, {}).get(self.unit, 1.0)
        if self.saved:
            return (self.saved[0] * scale, self.saved[1] * scale)
        if not self.before or not self.after:
            return None
        least, most = self.before[0] - self.after[1], self.before[1] - self.after[0]
        return (least * scale, most * scale)

    @property
    def basis(self) -> Literal["ratio", "saving", "none"]:
        """What is compared.

        Counts of a part are the same on every machine: what went away is compared. Everything else
        is a ratio; a saving of time alone is nanoseconds of another machine, and never compared.
        """
        counts = self.metric != "time"
        if counts and self.saving is not None and (self.scope == "part" or self.ratio is None):
            return "saving"
        return "ratio" if self.ratio is not None else "none"


@dataclass(frozen=True)
class Ledger:
    """A whole ledger, in its order."""

    pages: dict[str, Page] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()

    def of_row(self, row: str) -> list[Figure]:
        """The figures of a row."""
        return [figure for figure in self.figures if figure.row == row]

    def benchmarks(self, rows: Sequence[str]) -> dict[str, int]:
        """The expressions of some rows, each with the line that asks for it."""
        asked = {f.benchmark: f.line for r in rows for f in self.of_row(r) if f.benchmark}
        return asked | {name: self.rows[r].line for r in rows for name in self.rows[r].also}
