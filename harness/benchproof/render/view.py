"""From the JSON of a comparison to what the page shows: a text for every figure and every gap.

The templates know nothing of missing keys. A meter that was not measured, a case without a number,
a ratio over zero: each becomes words here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchproof.gate.report import words

from . import raw, units
from .raw import SIGNS, TO_LOOK_AT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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


def read(data: Mapping[str, Any], position: int) -> Comparison:
    """Read one comparison.

    Args:
        data: A comparison as JSON (``kind`` is ``comparison`` or ``skipped``).
        position: Its place on the page, from 1; it makes anchors and file names unique.
    """
    title = str(data.get("title") or "untitled comparison")
    slug = f"{position}-{units.slug(title)}"
    cases = list(data.get("cases") or [])
    meters = data.get("meters") or {}
    skipped = (
        str(data.get("why", "no reason was recorded")) if data.get("kind") == "skipped" else ""
    )
    wholes = {str(each.get("name")): each for each in data.get("suites") or []}
    suites = [
        _suite(name, group, meters, slug, wholes.get(name))
        for name, group in raw.group_by_suite(cases).items()
    ]
    status = raw.status_of(data)
    return Comparison(
        slug=slug,
        title=title,
        status=status,
        answer=raw.answer_of(data, status),
        note=str(data.get("note") or ""),
        partial=bool(data.get("partial")),
        created=str(data.get("created", "")),
        skipped=skipped,
        sides=tuple(_side(side, data[side]) for side in ("left", "right") if data.get(side)),
        left=raw.side_name(data, "left"),
        right=raw.side_name(data, "right"),
        conditions=_conditions(data.get("provenance") or {}, meters),
        not_measured=tuple(
            (label, raw.why_not(meters.get(key)))
            for key, label, _ in raw.METERS
            if suites and raw.why_not(meters.get(key))
        ),
        tallies=_tally([row for suite in suites for row in suite.rows]),
        means=means(cases),
        suites=tuple(suites),
    )


def means(cases: list[dict[str, Any]]) -> tuple[Mean, ...]:
    """The geometric mean of each meter's ratios.

    A case whose ratio is zero (all allocations gone) or has no value has no logarithm: it is left
    out, and the text says over how many of the cases the mean is taken.
    """
    measured = [case for case in cases if case.get("status") == "measured"]
    found = []
    for key, label, _ in raw.METERS:
        having = [case for case in measured if (raw.ratio_of(case, key) or 0) > 0]
        mean = units.geometric_mean([raw.ratio_of(case, key) or 0 for case in having])
        doubt = sum(raw.undecided(case, key) for case in having)
        found.append(Mean(label, mean, len(having), len(measured), doubt))
    return tuple(found)


def _suite(
    name: str,
    cases: list[dict[str, Any]],
    meters: Mapping[str, Any],
    slug: str,
    whole: Mapping[str, Any] | None,
) -> Suite:
    rows = tuple(_row(case, meters, slug) for case in cases)
    state = str(whole["verdict"]) if whole else ""
    return Suite(name, rows, _tally(list(rows)), means(cases), tuple(cases), _whole(whole), state)


def _whole(suite: Mapping[str, Any] | None) -> str:
    """What a suite as a whole did; nothing where it has no verdict."""
    if suite is None:
        return ""
    told = words.whole(suite)
    return f"{suite['verdict']}: {told}" if told else str(suite["verdict"])


def _row(case: dict[str, Any], meters: Mapping[str, Any], slug: str) -> Row:
    name = str(case.get("name", "?"))
    state = raw.state_of(case)
    proof = case.get("proof") or {}
    disagreement = raw.disagreement(case)
    return Row(
        anchor=f"{slug}-{units.slug(name)}",
        name=name,
        case=raw.case_name(case),
        state=state,
        why=str(case.get("why") or ""),
        note=str(case.get("note") or disagreement),
        contradictory=bool(disagreement),
        cells=tuple(
            _cell(case, key, label, text, raw.why_not(meters.get(key)))
            for key, label, text in raw.METERS
        ),
        proof=json.dumps(proof, indent=2, sort_keys=True) if proof else "",
    )


def _cell(
    case: dict[str, Any], key: str, label: str, text: Callable[[float], str], why_not: str
) -> Cell:
    data = (case.get("meters") or {}).get(key)
    if not data:
        if case.get("status") != "measured":
            return Cell(label, missing=str(case.get("status", "error")))
        return Cell(label, missing="not measured" if why_not else "no figure")
    left, right, ratio = data.get("left"), data.get("right"), data.get("ratio")
    low, high = data.get("low"), data.get("high")
    both = units.usable(left) and units.usable(right)
    doubt = "? " * (data.get("verdict") == "undecided")
    return Cell(
        label,
        verdict=str(data.get("verdict") or ""),
        ratio=doubt + units.ratio(ratio) if units.usable(ratio) else "no ratio",
        interval=_interval(low, high),
        sides=f"{text(left)} → {text(right)}" if both else "",
        remark=_remark(data),
    )


def _interval(low: object, high: object) -> str:
    """An interval in brackets; nothing for an exact figure, whose interval is a point."""
    if not (units.usable(low) and units.usable(high)) or low == high:
        return ""
    return f"{units.ratio(low)} to {units.ratio(high)}"


def _remark(data: Mapping[str, Any]) -> str:
    """What stands behind a verdict that claims no change, or claims nothing."""
    limit, detectable = data.get("limit"), data.get("detectable")
    if data.get("verdict") == "equivalent" and units.usable(limit):
        return f"within {units.percent(limit)}" if limit else "equal"
    if data.get("verdict") == "undecided":
        if units.usable(detectable):
            return f"undecided; could see {units.seen(detectable)}"
        return "undecided"
    return ""


def _tally(rows: list[Row]) -> tuple[Tally, ...]:
    numbers = {state: sum(row.state == state for row in rows) for state in raw.SIGNS}
    return tuple(Tally(state, raw.SIGNS[state], n) for state, n in numbers.items() if n)


def _side(name: str, side: Mapping[str, Any]) -> Side:
    commit = str(side.get("commit") or "")[:12]
    dirty = " with uncommitted changes" if side.get("dirty") else ""
    hashes = {
        "content": str(side.get("content") or "")[:16],
        "wheel SHA-256": str(side.get("wheel_sha256") or "")[:16],
        "described as": str(side.get("description") or ""),
    }
    return Side(
        name=name,
        spec=str(side.get("spec") or "?"),
        commit=f"{commit}{dirty}",
        subject=str(side.get("subject") or ""),
        implementation=str(side.get("impl") or ""),
        why_pure=str(side.get("why_pure") or ""),
        hashes={f"{key}, {name}": value for key, value in hashes.items() if value},
    )


def _conditions(provenance: Mapping[str, Any], meters: Mapping[str, Any]) -> dict[str, str]:
    """Where and with what it was measured, flat, every value a text."""
    shown: dict[str, str] = {}
    for key, value in provenance.items():
        if value in (None, "", {}, []):
            continue
        if isinstance(value, dict):
            shown[key] = ", ".join(f"{name} {version}" for name, version in sorted(value.items()))
        elif isinstance(value, list | tuple):
            shown[key] = ", ".join(map(str, value))
        else:
            shown[key] = str(value)
    processes = (meters.get("wall") or {}).get("processes")
    if processes:
        shown["processes"] = f"{processes} a side for wall time"
    return shown
