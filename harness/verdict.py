"""The written policy: regressed, improved, equivalent, undecided, and what the gate does.

For one meter of one case, with its limit:

===========  =========================================  ======================================
verdict      an exact meter                             wall time
===========  =========================================  ======================================
regressed    right is above left by more than the       the ratio is above 1 + limit, and that
             limit                                      survives Holm over all cases
improved     right is below left by more than the       the same below 1 / (1 + limit)
             limit
equivalent   neither                                    the whole interval is within the limit
undecided    never                                      none of these
===========  =========================================  ======================================

For a case: an exact meter that regressed decides, whatever the others say; then wall time that
regressed; then improvements in the same order; else it is equivalent if the exact meters say so
or, where there are none, as wall time says. Wall time that disagrees with the exact meters is
noted beside the verdict, not hidden in it.

For the comparison: regression if a case regressed; could not measure if none did, but a case
failed its proof, gave different answers or an error, or nothing was measured; else no regression.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import stats
from .errors import COULD_NOT_MEASURE, NO_REGRESSION, REGRESSION
from .meters import METERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Verdict = Literal["regressed", "improved", "equivalent", "undecided"]
VERDICTS: tuple[Verdict, ...] = ("regressed", "improved", "equivalent", "undecided")

#: The chance of even one false alarm of wall time in a comparison in which nothing changed.
ALPHA = 0.05
#: How often wall time is looked at: after half of the budget, and at its end. Each look may
#: spend half of ALPHA.
LOOKS = 2
#: Of the printed intervals, each for its case alone.
CONFIDENCE = 1 - ALPHA / LOOKS


@dataclass(frozen=True)
class Limit:
    """How much of a change is none.

    Attributes:
        ratio: the largest change that counts as none, as a part of the left side's number.
        floor: and in the meter's unit a call, below which a change is the meter's own noise.
        why: the reason for both.
    """

    ratio: float
    floor: float
    why: str


LIMITS: dict[str, Limit] = {
    "instructions": Limit(
        0.01, 1.0, "rebuilt and relinked code moves hashes and caches by less than this"
    ),
    "allocations": Limit(
        0.0, 0.05, "a whole allocation more is a change; a fraction is a buffer that grew once"
    ),
    "bytes": Limit(0.01, 1.0, "the same, and sizes follow the interpreter's rounding"),
    "wall": Limit(0.05, 0.0, "what this kind of machine can tell apart in minutes"),
}
#: How a note begins that says so of wall time.
UNDECIDED = "wall time undecided"
#: Who speaks first: the exact meters, then wall time.
ORDER = ("instructions", "allocations", "bytes", "wall")


def judge_exact(meter: str, left: float, right: float) -> dict[str, Any]:
    """Compare one exact number a side.

    Where left is 0 and right is not, there is no ratio: None stands for it.
    """
    limit = LIMITS[meter]
    change = right - left
    beyond = abs(change) > max(limit.ratio * abs(left), limit.floor)
    verdict: Verdict = "equivalent" if not beyond else "regressed" if change > 0 else "improved"
    ratio = right / left if left else 1.0 if not beyond else None
    seen = 1 + (max(limit.ratio, limit.floor / left) if left else limit.ratio)
    return {
        "left": left, "right": right, "ratio": ratio, "low": ratio, "high": ratio,
        "confidence": 1.0, "verdict": verdict, "limit": limit.ratio, "detectable": seen,
    }  # fmt: skip


def judge_wall(
    samples: Mapping[str, tuple[Sequence[float], Sequence[float]]],
) -> dict[str, dict[str, Any]]:
    """Compare the processes of both sides, all cases in one error budget.

    Args:
        samples: by case, one number a process: left and right, paired by block.

    Returns:
        By case, what the results file says about wall time.
    """
    limit = LIMITS["wall"].ratio
    estimates = {
        name: stats.paired_ratio(left, right, CONFIDENCE)
        for name, (left, right) in samples.items()
        if len(left) >= stats.FEWEST
    }
    adjusted = stats.holm([stats.p_beyond(e, limit) for e in estimates.values()])
    judged = {}
    for (name, estimate), p in zip(estimates.items(), adjusted, strict=True):
        left, right = samples[name]
        judged[name] = {
            "left": statistics.median(left),
            "right": statistics.median(right),
            "ratio": estimate.ratio, "low": estimate.low, "high": estimate.high,
            "confidence": estimate.confidence,
            "verdict": wall_verdict(estimate, p, limit),
            "limit": limit,
            "detectable": stats.detectable(estimate, limit, ALPHA / LOOKS, len(estimates)),
            "p_holm": p,
            "left_samples": list(left), "right_samples": list(right),
        }  # fmt: skip
    return judged


def wall_verdict(estimate: stats.Estimate, p_adjusted: float, limit: float) -> Verdict:
    """The policy's right column."""
    if p_adjusted < ALPHA / LOOKS:
        return "regressed" if estimate.ratio > 1 else "improved"
    edge = math.log1p(limit)
    inside = math.log(estimate.low) >= -edge and math.log(estimate.high) <= edge
    return "equivalent" if inside else "undecided"


def judge_case(meters: Mapping[str, Mapping[str, Any]]) -> tuple[Verdict, str]:
    """A case's verdict from its meters' verdicts, and a note where they disagree."""
    said: dict[str, Verdict] = {name: meters[name]["verdict"] for name in ORDER if name in meters}
    exact = {name: v for name, v in said.items() if METERS[name].exact}
    wall = said.get("wall")
    changes: tuple[Verdict, ...] = ("regressed", "improved")
    changed = next((v for v in changes if v in said.values()), None)
    verdict = changed or ("equivalent" if exact else wall or "undecided")
    return verdict, _note(exact, wall, meters)


def _note(
    exact: Mapping[str, str], wall: str | None, meters: Mapping[str, Mapping[str, Any]]
) -> str:
    """Who disagrees with whom."""
    notes = []
    if {"regressed", "improved"} <= set(exact.values()):
        notes.append("; ".join(f"{name} {v}" for name, v in exact.items() if v != "equivalent"))
    lead = next((v for v in exact.values() if v != "equivalent"), "equivalent")
    if exact and wall not in {None, lead}:
        if wall == "undecided":
            seen = (meters["wall"]["detectable"] - 1) * 100
            notes.append(f"{UNDECIDED} (could have seen +{seen:.0f} %)")
        else:
            notes.append(f"wall time disagrees: {wall}")
    return "; ".join(notes)


def judge_comparison(cases: Sequence[Mapping[str, Any]], *, partial: bool) -> dict[str, Any]:
    """The gate: status, exit status and one sentence."""
    count = {v: sum(case.get("verdict") == v for case in cases) for v in VERDICTS}
    failed = [c for c in cases if c["status"] not in {"measured", "not applicable"}]
    measured = sum(count.values())
    parts = [f"{number} {verdict}" for verdict, number in count.items() if number]
    if failed:
        names = ", ".join(sorted({c["status"] for c in failed}))
        parts.append(f"{len(failed)} not measured ({names})")
    absent = sum(case["status"] == "not applicable" for case in cases)
    if absent:
        parts.append(f"{absent} not applicable")
    if partial:
        parts.append("stopped before the end")
    summary = f"{len(cases)} benchmarks: {', '.join(parts) or 'nothing was measured'}"
    if count["regressed"]:
        return {"status": "regression", "exit": REGRESSION, "summary": summary}
    if failed or partial or not measured:
        return {"status": "could not measure", "exit": COULD_NOT_MEASURE, "summary": summary}
    return {"status": "no regression", "exit": NO_REGRESSION, "summary": summary}
