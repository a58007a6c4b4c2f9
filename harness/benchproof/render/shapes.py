"""What the page shows, as plain records: every figure already a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import units
from .raw import SIGNS, TO_LOOK_AT


@dataclass(frozen=True)
class Cell:
    """One meter of one case. ``missing`` says why there is no figure, and is empty if there is."""

    label: str
    missing: str = ""
    verdict: str = ""
    ratio: str = ""
    interval: str = ""
    sides: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Row:
    """One case: a row of the table."""

    anchor: str
    name: str
    case: str
    state: str
    why: str
    note: str
    contradictory: bool
    cells: tuple[Cell, ...]
    proof: str

    @property
    def sign(self) -> str:
        """The state's sign, for readers who do not see colours."""
        return SIGNS[self.state]


@dataclass(frozen=True)
class Tally:
    """How many cases ended in a state."""

    state: str
    sign: str
    number: int


@dataclass(frozen=True)
class Mean:
    """The geometric mean of a meter's ratios, and how many of the measured cases have one.

    It has no figure where the meter is undecided in most cases: then the figure is noise.
    """

    label: str
    value: float | None
    cases: int
    measured: int
    undecided: int = 0

    @property
    def decided(self) -> bool:
        """Whether there is a figure to show."""
        return self.value is not None and 2 * self.undecided < self.cases

    @property
    def figure(self) -> str:
        """The mean as a text."""
        if self.value is None:
            return "not measured"
        return units.ratio(self.value) if self.decided else "undecided"

    @property
    def over(self) -> str:
        """Over how many cases the mean is taken, unless over all; in how many it is undecided."""
        if self.value is None:
            return ""
        if not self.decided:
            return f"in {self.undecided} of {self.cases} cases"
        part = f"{self.cases} of {self.measured} cases" * (self.cases != self.measured)
        doubt = f"undecided in {self.undecided}" * bool(self.undecided)
        return ", ".join(filter(None, (part, doubt)))

    @property
    def text(self) -> str:
        """Both in one line."""
        return f"{self.figure} ({self.over})" if self.over else self.figure


@dataclass(frozen=True)
class Suite:
    """The cases of one suite, with the raw ones for the pictures."""

    name: str
    rows: tuple[Row, ...]
    tallies: tuple[Tally, ...]
    means: tuple[Mean, ...]
    cases: tuple[dict[str, Any], ...]
    whole: str = ""
    state: str = ""


@dataclass(frozen=True)
class Side:
    """What one side is: what was typed, and what that turned out to be."""

    name: str
    spec: str
    commit: str
    subject: str
    implementation: str
    why_pure: str
    hashes: dict[str, str]


@dataclass(frozen=True)
class Comparison:
    """Everything that the page says about one comparison."""

    slug: str
    title: str
    status: str
    answer: str
    note: str
    partial: bool
    created: str
    skipped: str
    sides: tuple[Side, ...]
    left: str
    right: str
    conditions: dict[str, str]
    not_measured: tuple[tuple[str, str], ...]
    tallies: tuple[Tally, ...]
    means: tuple[Mean, ...]
    suites: tuple[Suite, ...]

    @property
    def attention(self) -> tuple[Row, ...]:
        """The rows that a maintainer has to look at, worst first: bad states, contradictions."""
        rows = [row for suite in self.suites for row in suite.rows]
        order = list(SIGNS)
        wanted = [row for row in rows if row.state in TO_LOOK_AT or row.contradictory]
        return tuple(sorted(wanted, key=lambda row: order.index(row.state)))

    @property
    def number_of_cases(self) -> int:
        """How many cases the comparison has, measured or not."""
        return sum(len(suite.rows) for suite in self.suites)
