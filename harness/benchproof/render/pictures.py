"""What is drawn: the ratios of a suite's cases, every process's time."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchproof import files
from benchproof.gate.report import words

from . import units
from .charts import Point, chart

Cases = Sequence[Mapping[str, Any]]

#: The meters of the ratio picture, from the top of a row to its foot: rows off.
METERS = {"wall": -0.24, "instructions": 0.04, "allocations": 0.29}
#: A process's time: rows off.
_SIDES = {"left": -0.16, "right": 0.18}
#: Beyond this ratio the two sides have no common axis on which the spread of one can be seen.
_SHARED_AXIS = 1.5
_DEFAULT_LIMIT = 0.05
#: Rows of the picture of a comparison.
MOST = 24


class Picture(NamedTuple):
    """A picture of a page: the name of its file, and what it shows in words."""

    file: str
    alt: str


def draw_suite(
    suite: str, cases: Cases, document: Mapping[str, Any], name: str, folder: Path
) -> dict[str, Picture]:
    """Draw the pictures of a suite.

    Args:
        suite: its name.
        cases: of it.
        document: the comparison that it is part of.
        name: with which its files begin.
        folder: where the files go; it exists.

    Returns:
        The pictures called ``ratios`` and ``samples``; one without anything to draw is absent.
    """
    sides = left, right = [sides_of(document)[side] for side in _SIDES]
    measured = [case for case in cases if case["status"] == "measured"]
    drawn: dict[str, Picture] = {}

    def draw(kind: str, text: str, alt: str) -> None:
        drawn[kind] = Picture(f"{name}-{units.slug(suite)}-{kind}.svg", f"{suite}: {alt}")
        files.write(text, folder / drawn[kind].file)

    if with_ratio := [case for case in measured if drawable(case)]:
        means = "; ".join(f"{words.label(mean.meter)} {mean.text}" for mean in words.means(cases))
        # Time with its interval, instructions and allocations; hollow if undecided.
        rows = [(case["case"], _in_words(case), points(case)) for case in with_ratio]
        hollow = "hollow: undecided", "muted circle hollow"
        draw("ratios", _ratios(rows, with_ratio, "wall", sides, hollow),
             f"{right} divided by {left} for each case. Geometric means: {means}. "
             f"Cases: {words.tallies(cases)}. The table below has every figure.")  # fmt: skip
    if sampled := [case for case in measured if all(_samples(case, side) for side in _SIDES)]:
        draw("samples", draw_samples(sampled, *sides),
             f"the wall time of each process, {left} above {right}, in {len(sampled)} cases. "
             "The raw data hold every figure.")  # fmt: skip
    return drawn


def sides_of(document: Mapping[str, Any]) -> dict[str, str]:
    """What a person typed for each side: ``HEAD~1``, ``.@impl:python``."""
    return {side: document[side].get("spec") or side for side in _SIDES}


def drawable(case: Mapping[str, Any]) -> bool:
    """Whether a case has a ratio that has a place on a logarithmic axis."""
    return any(words.ratio_of(case, meter) for meter in METERS)


def _ratios(
    rows: Sequence[tuple[str, str, Sequence[Point]]], cases: Cases, meter: str,
    sides: Sequence[str], *legend: tuple[str, str],
) -> str:  # fmt: skip
    """Rows of ratios, with the largest limit of a meter among the cases as the band."""
    limit = limit_of(cases, meter)
    seen = {point.off for _, _, own in rows for point in own}
    marks = [(words.label(each) + ", with its interval" * (each == "wall"), each)
             for each, off in METERS.items() if off in seen]  # fmt: skip
    left, right = sides
    axis = (f"{right} ÷ {left}   (band: within the limit of {units.percent(limit)} for "
            f"{words.label(meter)})")  # fmt: skip
    return chart(rows, axis, [*marks, *legend], room=limit)


def limit_of(cases: Cases, meter: str = "wall") -> float:
    """The largest change of a meter that counts as none in any of some cases."""
    limits = [words.about(case, meter).get("limit") for case in cases]
    return max(filter(None, limits), default=_DEFAULT_LIMIT)


def points(case: Mapping[str, Any]) -> list[Point]:
    """A case's ratio in each meter that has one."""
    found = []
    for meter, off in METERS.items():
        if ratio := words.ratio_of(case, meter):
            about = words.about(case, meter)
            hollow = " hollow" * words.is_undecided(case, meter)
            found.append(Point(f"{meter}{hollow}", ratio, off, about["low"], about["high"]))
    return found


def _in_words(case: Mapping[str, Any]) -> str:
    """A case's time and state; an undecided time would be a figure in that state's colour."""
    state, ratio = words.state_of(case), words.ratio_of(case, "wall")
    undecided = words.is_undecided(case, "wall")
    figure = "" if ratio is None or undecided else f"{units.ratio(ratio)}  "
    doubt = ", time ?" * (undecided and state != "undecided")
    return f"{figure}{words.SIGNS[state]} {state}{doubt}"


def keep(document: Mapping[str, Any], file: Path) -> None:
    """Write the picture of what moved in a comparison.

    Raises:
        BenchproofError: it cannot be written.
    """
    files.write(draw_moved(document), file)


def draw_moved(document: Mapping[str, Any]) -> str:
    """A row for each case that moved, the gravest first; where none did, for each case."""
    moved = [case for case in words.moved(document) if drawable(case.row)]
    found: list[Mapping[str, Any]] = [case.row for case in words.largest(moved, MOST)]
    found = found or [case for case in document["cases"] if drawable(case)][:MOST]
    meter = "wall" if any("wall" in case["meters"] for case in found) else "instructions"
    short = [case["name"].rpartition("::")[2] for case in found]
    many = Counter(short)
    rows = [
        (name if many[name] == 1 else words.named(case), _moved_by(case), _decided(case))
        for name, case in zip(short, found, strict=True)
    ]
    return _ratios(rows, found, meter, [*sides_of(document).values()])


def _decided(case: Mapping[str, Any]) -> list[Point]:
    """The mark of the meter that decided; all marks where it has none."""
    every, meter = points(case), words.deciding(case)
    return [each for each in every if each.look.partition(" ")[0] == meter] or every


def _moved_by(case: Mapping[str, Any]) -> str:
    """How far the meter moved that decided, and what that is called."""
    state, meter = words.state_of(case), words.deciding(case)
    ratio = None if meter is None else case["meters"][meter]["ratio"]
    return f"{'' if ratio is None else units.change(ratio)}  {words.SIGNS[state]} {state}"


def draw_samples(cases: Cases, left: str, right: str) -> str:
    """A row a case: a mark a process, the left side above the right, a bar at each median.

    If the two sides lie close in every case, both are shown against the left side's median; if
    not, each against its own.
    """
    shared = all(1 / _SHARED_AXIS < (words.ratio_of(c, "wall") or 1) < _SHARED_AXIS for c in cases)
    rows = []
    for case in cases:
        medians = {side: statistics.median(_samples(case, side)) for side in _SIDES}
        own = []
        for side, off in _SIDES.items():
            against = medians["left" if shared else side]
            own += [Point(f"{side} faint", each / against, off) for each in _samples(case, side)]
            own.append(Point("tick", medians[side] / against, off))
        rows.append((case["case"], " → ".join(map(units.seconds, medians.values())), own))
    base = f"the median of {left}" if shared else "the median of its own side"
    legend = [(left, "left faint"), (right, "right faint")]
    return chart(rows, f"time of one process ÷ {base}", legend, room=0.01, band=False)


def _samples(case: Mapping[str, Any], side: str) -> list[float]:
    return words.about(case, "wall").get(f"{side}_samples") or []
