"""What is drawn: the ratios of a suite's cases, every process's time."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchproof import files
from benchproof.gate.report import words

from . import units, view
from .charts import Point, chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .view import Shown

    Cases = Sequence[Mapping[str, Any]]

#: The meters of the ratio picture, from the top of a row to its foot: name, rows off.
METERS = {"wall": ("time", -0.24), "instructions": ("instructions", 0.04),
          "allocations": ("allocations", 0.29)}  # fmt: skip
#: A process's time: rows off.
_SIDES = {"left": -0.16, "right": 0.18}
#: Beyond this ratio the two sides have no common axis on which the spread of one can be seen.
_SHARED_AXIS = 1.5
_DEFAULT_LIMIT = 0.05
#: Rows of the picture of a comparison.
MOST = 24


def draw_suite(suite: Shown, shown: Shown, folder: Path) -> dict[str, Shown]:
    """Draw the pictures of a suite.

    Args:
        suite: The suite.
        shown: The comparison that it is part of.
        folder: Where the files go; it exists.

    Returns:
        The pictures called ``ratios`` and ``samples``; one without anything to draw is absent.
    """
    stem = f"{shown.slug}-{units.slug(suite.name)}"
    measured = [case for case in suite.cases if case.get("status") == "measured"]
    drawn: dict[str, Shown] = {}
    if cases := [case for case in measured if drawable(case)]:
        means = "; ".join(f"{mean.label} {mean.text}" for mean in suite.means if mean.cases)
        states = ", ".join(f"{tally.number} {tally.state}" for tally in suite.tallies)
        drawn["ratios"] = view.Shown(
            file=f"{stem}-ratios.svg",
            alt=f"{suite.name}: {shown.right} divided by {shown.left} for each case. "
            f"Geometric means: {means}. Cases: {states}. The table below has every figure.",
        )
        files.write(draw_cases(cases, shown.left, shown.right), folder / drawn["ratios"].file)
    if sampled := [case for case in measured if all(_samples(case, side) for side in _SIDES)]:
        drawn["samples"] = view.Shown(
            file=f"{stem}-samples.svg",
            alt=f"{suite.name}: the wall time of each process, {shown.left} above {shown.right}, "
            f"in {len(sampled)} cases. The raw data hold every figure.",
        )
        files.write(draw_samples(sampled, shown.left, shown.right), folder / drawn["samples"].file)
    return drawn


def drawable(case: Mapping[str, Any]) -> bool:
    """Whether a case has a ratio that has a place on a logarithmic axis."""
    return any((view.ratio_of(case, meter) or 0) > 0 for meter in METERS)


def draw_cases(cases: Cases, left: str, right: str) -> str:
    """A row a case: time with its interval, instructions and allocations; hollow if undecided."""
    rows = [(view.case_name(case), _in_words(case), points(case)) for case in cases]
    return _ratios(rows, cases, "wall", (left, right), ("hollow: undecided", "muted circle hollow"))


def _ratios(
    rows: Sequence[tuple[str, str, Sequence[Point]]], cases: Cases, meter: str,
    sides: Sequence[str], *legend: tuple[str, str],
) -> str:  # fmt: skip
    """Rows of ratios, with the largest limit of a meter among the cases as the band."""
    limit = limit_of(cases, meter)
    seen = {point.off for _, _, own in rows for point in own}
    marks = [(label + ", with its interval" * (key == "wall"), key)
             for key, (label, off) in METERS.items() if off in seen]  # fmt: skip
    left, right = sides
    axis = (f"{right} ÷ {left}   (band: within the limit of {units.percent(limit)} for "
            f"{METERS[meter][0]})")  # fmt: skip
    return chart(rows, axis, [*marks, *legend], room=limit)


def limit_of(cases: Cases, meter: str = "wall") -> float:
    """The largest change of a meter that counts as none in any of some cases."""
    limits = [view.about(case, meter).get("limit") for case in cases]
    return max((float(limit) for limit in limits if units.usable(limit) and limit > 0),
               default=_DEFAULT_LIMIT)  # fmt: skip


def points(case: Mapping[str, Any]) -> list[Point]:
    """A case's ratio in each meter that has one."""
    found = []
    for meter, (_, off) in METERS.items():
        ratio = view.ratio_of(case, meter)
        if ratio is not None and ratio > 0:
            data = case["meters"][meter]
            ends = [data[key] if units.usable(data.get(key)) else None for key in ("low", "high")]
            hollow = " hollow" * view.undecided(case, meter)
            found.append(Point(f"{meter}{hollow}", ratio, off, *ends))
    return found


def _in_words(case: Mapping[str, Any]) -> str:
    state = view.state_of(case)
    ratio = view.ratio_of(case, "wall")
    undecided = view.undecided(case, "wall")
    # A time that is undecided is no figure: it would stand in the colour of the case's verdict.
    figure = "" if ratio is None or undecided else f"{units.ratio(ratio)}  "
    doubt = ", time ?" if undecided and state != "undecided" else ""
    return f"{figure}{view.SIGNS[state]} {state}{doubt}"


def keep(document: Mapping[str, Any], file: Path) -> None:
    """Write the picture of what moved in a comparison.

    Raises:
        BenchproofError: it cannot be written.
    """
    files.write(draw_moved(document), file)


def draw_moved(document: Mapping[str, Any]) -> str:
    """A row for each case that moved, the gravest first; where none did, for each case."""
    moved = [each for each in words.moved(document) if drawable(each[0].row)]
    found: list[Mapping[str, Any]] = [each[0].row for each in words.largest(moved, MOST)]
    found = found or [case for case in document["cases"] if drawable(case)][:MOST]
    meter = "wall" if any("wall" in case["meters"] for case in found) else "instructions"
    short = Counter(case["name"].rpartition("::")[2] for case in found)
    rows = [
        (name if short[name := case["name"].rpartition("::")[2]] == 1 else words.named(case),
         _moved_by(case), _decided(case))
        for case in found
    ]  # fmt: skip
    sides = [document[side].get("spec") or side for side in ("left", "right")]
    return _ratios(rows, found, meter, sides)


def _decided(case: Mapping[str, Any]) -> list[Point]:
    """The mark of the meter that decided; all marks where it has none."""
    every, meter = points(case), words.deciding(case)
    return [each for each in every if each.look.partition(" ")[0] == meter] or every


def _moved_by(case: Mapping[str, Any]) -> str:
    """How far the meter moved that decided, and what that is called."""
    state, meter = view.state_of(case), words.deciding(case)
    ratio = None if meter is None else case["meters"][meter]["ratio"]
    return f"{'' if ratio is None else units.change(ratio)}  {view.SIGNS[state]} {state}"


def draw_samples(cases: Cases, left: str, right: str) -> str:
    """A row a case: a mark a process, the left side above the right, a bar at each median.

    If the two sides lie close in every case, both are shown against the left side's median; if
    not, each against its own.
    """
    shared = all(1 / _SHARED_AXIS < (view.ratio_of(c, "wall") or 1) < _SHARED_AXIS for c in cases)
    rows = []
    for case in cases:
        medians = {side: statistics.median(_samples(case, side)) for side in _SIDES}
        own = []
        for side, off in _SIDES.items():
            against = medians["left" if shared else side]
            own += [Point(f"{side} faint", each / against, off) for each in _samples(case, side)]
            own.append(Point("tick", medians[side] / against, off))
        rows.append((view.case_name(case), " → ".join(map(units.seconds, medians.values())), own))
    base = f"the median of {left}" if shared else "the median of its own side"
    legend = [(left, "left faint"), (right, "right faint")]
    return chart(rows, f"time of one process ÷ {base}", legend, room=0.01, band=False)


def _samples(case: Mapping[str, Any], side: str) -> list[float]:
    taken = view.about(case, "wall").get(f"{side}_samples") or []
    return [float(each) for each in taken if units.usable(each) and each > 0]
