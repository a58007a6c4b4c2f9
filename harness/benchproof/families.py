"""The verdict on a suite as a whole, beside those on its cases.

A commit that makes every case a little dearer, each below its limit, changes no case and yet the
suite. For instructions and bytes, a suite of `FEWEST` cases or more has

- a ratio: the geometric mean of its cases' ratios, without a tenth of the cases at each end (one at
  least), so that a few cases with a large change are not the suite;
- an interval: the same mean of the lower and of the upper ends of the cases' intervals, so that
  every layout of memory in which a case was counted has its say;
- a verdict: *regressed* if the whole interval is above 1 + limit and two thirds of the cases went
  up, *improved* the other way round, *equivalent* if the whole interval is within the limit, else
  *undecided*.

A case that moved by no more than its noise floor (an instruction, a byte) did not move. One whose
regression somebody accepted is left out: it has been decided. Before a suite is believed to have
moved, its cases are counted in other layouts of memory, as a case's change is (`counting`).

The limit is 0.1 % (`verdict.SUITE_LIMIT`; docs/statistics.md has the figures behind it).

Allocations have no such verdict: their limit is 0, so that each case already speaks for itself.
Nor has wall time: cases leave the sampling as they are decided or paused, so that no two blocks
would have the mean of the same cases; and a rebuilt module moves all cases that share its code at
once (`verdict.ALONE`), which is just what a suite's mean would take for a change.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import noise, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .settings import Settings

#: Cases without which a suite has no verdict of its own.
FEWEST = 8
#: The part of the cases that is left out at each end, and the part that must agree.
CUT, AGREE = 0.1, 2 / 3
#: The meters that can speak of a suite.
METERS = ("instructions", "bytes")


def judge(
    rows: Sequence[Mapping[str, Any]], settings: Settings | None = None
) -> list[dict[str, Any]]:
    """The suites that have a verdict as a whole, in the order of their first cases.

    Args:
        rows: of a results file: suite, meters, and where there are several, ``impl``.
        settings: with the limit, if not the default.

    Returns:
        For each suite (and implementation) its ``name``, ``cases`` (how many were measured),
        ``meters`` (cases, up, down, ratio, low, high, limit, verdict), ``verdict``, ``note``.
    """
    limit = settings.suite_limit if settings else verdict.SUITE_LIMIT
    groups: dict[tuple[str, str | None], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["meters"] and not row.get("accepted"):
            groups.setdefault((row["suite"], row.get("impl")), []).append(row)
    found = []
    for (name, impl), cases in groups.items():
        meters = {}
        for meter in METERS:
            counted = [case["meters"][meter] for case in cases if meter in case["meters"]]
            if len(counted) >= FEWEST:
                meters[meter] = judge_meter(meter, counted, limit)
        if meters:
            about = {"name": name, "cases": len(cases), "meters": meters,
                     "verdict": verdict.judge_case(meters)[0], "note": _note(meters)}  # fmt: skip
            found.append(about if impl is None else about | {"impl": impl, "accepted": None})
    return found


def _note(meters: Mapping[str, Mapping[str, Any]]) -> str:
    """Why meters of a suite are undecided."""
    told = []
    for name, about in meters.items():
        if about["verdict"] == "undecided":
            edge = 1 + about["limit"]
            if about["low"] > edge or about["high"] < 1 / edge:
                told.append(
                    f"{name}: some cases moved, too few of {about['cases']} to be the suite "
                    f"({about['up']} up, {about['down']} down)"
                )
            else:
                told.append(f"{name}: not the same in all layouts of memory")
    return "; ".join(told)


def judge_meter(
    meter: str, counted: Sequence[Mapping[str, Any]], limit: float = verdict.SUITE_LIMIT
) -> dict[str, Any]:
    """One meter of a suite.

    Args:
        meter: its name.
        counted: what `verdict.judge_exact` says of each case.
        limit: the largest change that counts as none, as a part of 1.
    """
    low, middle, high = (
        [_logarithm(meter, each, end) for each in counted] for end in ("low", "ratio", "high")
    )
    up, down = (sum(sign * each > 0 for each in middle) for sign in (1, -1))
    least, most = _mean(low), _mean(high)
    edge, enough = math.log1p(limit), AGREE * len(counted)
    if least > edge and up >= enough:
        word = "regressed"
    elif most < -edge and down >= enough:
        word = "improved"
    else:
        word = "equivalent" if least >= -edge and most <= edge else "undecided"
    return {
        "cases": len(counted), "up": up, "down": down, "ratio": math.exp(_mean(middle)),
        "low": math.exp(least), "high": math.exp(most), "limit": limit, "verdict": word,
    }  # fmt: skip


#: The logarithm of a ratio that has none, because it is to or from nothing: a large change, which
#: is at the end of the row and left out, or that of most cases.
_ALL = math.log(1000)


def _logarithm(meter: str, about: Mapping[str, Any], end: str) -> float:
    """How far a case moved; nothing below its meter's noise floor."""
    ratio, floor = about[end], noise.LIMITS[meter].floor
    if ratio is None:
        return _ALL
    if abs(ratio - 1) * about["left"] <= floor:
        return 0.0
    return max(math.log(ratio), -_ALL) if ratio > 0 else -_ALL


def _mean(values: Sequence[float]) -> float:
    """The mean without the values at both ends."""
    cut = max(1, int(CUT * len(values)))
    kept = sorted(values)[cut : len(values) - cut]
    return math.fsum(kept) / len(kept)
