"""The written policy: what each meter, case and gate is called, and why.

For one meter of one case, with its limit:

===========  =========================================  ======================================
verdict      an exact meter                             wall time
===========  =========================================  ======================================
regressed    the whole interval of right / left is      the ratio is above 1 + limit, and that
             above 1 + limit                            survives Holm over all cases, at this
                                                        look's part of the error budget
improved     the whole interval is below 1 - limit      the same below 1 / (1 + limit)
equivalent   the whole interval is within the limit     the same
undecided    layouts or builds disagree                 none of these; beside it stands the
                                                        smallest change that would have been seen
===========  =========================================  ======================================

An exact meter's interval is over layouts of memory and builds: each gives one ratio. From six on,
one at each end is left out. A single count has an interval of one point.

For a case: an exact meter that regressed decides, whatever the others say, unless the case is a
trade-off; then wall time that regressed; then improvements in the same order; else it is undecided
if an exact meter is, or if instructions were not counted and wall time is; else equivalent. Wall
time alone, where instructions are the same, speaks only if its whole interval is beyond
`ALONE`: up to that, where the code of a build happens to lie explains it, so the case is undecided.
So it does where an exact meter improved and time regressed: up to there the case is improved.
What the clock alone calls slower by more is timed again, in builds that a compiler's flags lay out
otherwise, and believed if it is beyond `ALONE` there, too.
Wall time that disagrees with the exact meters is noted beside the verdict, not hidden in it.

A case is a trade-off if what a call takes (`COST`: instructions, wall time) improved and only what
it asks for on the way (`MEANS`: allocations, bytes) regressed. Instructions and time hold the work
of allocating already, so what is paid more for is memory that is used and given back; what lives on
after a call (retained) is never paid for. Nothing excuses the other way round: fewer bytes never
make up for more instructions or more time.

===============  ==============  =================  ==============================================
instructions     wall time       a means regressed  the case is
===============  ==============  =================  ==============================================
improved         not regressed   yes                trade-off
equivalent       improved        yes                trade-off if wall time is beyond `ALONE`, else
                                                    regressed
improved         regressed       yes or no          regressed if wall time is beyond `ALONE`; else
                                                    trade-off or improved
regressed        whatever        whatever           regressed
undecided        whatever        yes                regressed: what is not known pays for nothing
===============  ==============  =================  ==============================================

How many bytes an instruction is worth only a project knows, so none is assumed: a trade-off passes,
and is shown, unless the project sets ``trade_off = "fail"``. An entry of accepted.toml for the
meters that regressed covers it there, as it covers a regression.

A suite as a whole has a verdict beside those of its cases (`families` has its rules).

For the gate: regression if a case or a suite as a whole regressed that nobody accepted, or a
trade-off where the project says that it fails; could not measure if none did, but a case failed its
proof, gave different answers or an error, an accepted entry has expired or matches nothing, or
nothing was measured; cannot decide if a case is undecided and the project sets ``decide = "all"``;
else no regression. Undecided is not a regression, and never printed as equivalent.

The error budget (`ALPHA`, 1 %) is the chance of even one false alarm in a gate in which nothing
changed: both implementations, all cases, all looks.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from . import accepted, noise, notes, stats
from .errors import CANNOT_DECIDE, COULD_NOT_MEASURE, NO_REGRESSION, REGRESSION, counted
from .meters import METERS, SPEAKING
from .noise import LIMITS, Limit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .settings import Settings

Verdict = Literal["regressed", "trade-off", "changed", "improved", "equivalent", "undecided"]
VERDICTS: tuple[Verdict, ...] = (
    "regressed", "trade-off", "changed", "improved", "equivalent", "undecided",
)  # fmt: skip
#: What a meter says that moved, the worse one first; a case may also be a trade-off.
CHANGES: tuple[Verdict, ...] = ("regressed", "improved", "changed")
MOVED: tuple[Verdict, ...] = ("regressed", "trade-off", "changed", "improved")
#: What a project may say about trade-offs.
TradeOff = Literal["pass", "fail"]

#: The chance of even one false alarm in a whole gate in which nothing changed.
ALPHA = 0.01


#: What counts as no change of a suite as a whole, and the least that a project can set.
SUITE_LIMIT, SUITE_LEAST = 0.001, 0.0005
#: Of the printed intervals, each for its case alone.
CONFIDENCE = 1 - ALPHA
#: How far beyond 1 wall time must be where the exact meters see no change: the same instructions
#: take this much longer, or less, when a rebuilt module has them at other addresses.
ALONE = 0.05
#: Behind a case's name where another time of it is judged among the wall times.
BESIDE = {"processor": ", processor time", "tail": ", tail"}
#: What a call takes, and what it asks for on the way.
COST, MEANS = ("instructions", "wall"), ("allocations", "bytes")


@dataclass
class Looks:
    """Looks at the wall times of one sampling campaign, all paid from one error budget.

    Looking repeatedly finds more by chance. The budget is spent as Lan and DeMets do it, by a
    function of the part of the sampling that has been done, which leaves nearly all of it to the
    last look (O'Brien and Fleming's shape). What was called changed at an earlier look stays so.

    Attributes:
        alpha: the whole budget.
        family: how many tests share it (both implementations, all cases), if more than a look is
            shown.
        said: by case, what an earlier look called changed.
        paid: of each look, the part of the sampling and the chance that it took; at first of none.
    """

    alpha: float = ALPHA
    family: int = 0
    said: dict[str, Verdict] = field(default_factory=dict)
    paid: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)])

    def pay(self, fraction: float) -> float:
        """The chance of a false alarm that a look may take.

        Looking again at the same fraction is looking at the same data: it gets the same.

        Args:
            fraction: of the sampling that has been done, planned without regard to what it showed.
        """
        if fraction > self.paid[-1][0]:
            before = stats.spent(self.alpha, self.paid[-1][0])
            self.paid.append((fraction, stats.spent(self.alpha, fraction) - before))
        return self.paid[-1][1]


def judge_exact(
    meter: str,
    left: float | Sequence[float],
    right: float | Sequence[float],
    limit: Limit | None = None,
) -> dict[str, Any]:
    """Compare the counts of both sides, one for each layout (and build) of memory, paired.

    Where left is 0 and right is not, there is no ratio: None stands for it.

    Args:
        meter: its name.
        left: one number, or one for each layout.
        right: the same of the other side, in the same order.
        limit: what counts as none; without it, the meter's default.
    """
    limit = limit or LIMITS[meter]
    lefts = [left] if isinstance(left, int | float) else list(left)
    rights = [right] if isinstance(right, int | float) else list(right)
    base, least = noise.typical(lefts), limit.ratio
    if base:
        least = max(limit.ratio, limit.floor / base)
    ratios = sorted(
        _ratio(*pair, limit.floor) for pair in zip(lefts, rights, strict=True)
    )  # fmt: skip
    if METERS[meter].task == "allocations":
        # No two of them have anything in common: a change is one where all of a side are beyond
        # all of the other.
        ends = (max(lefts), min(rights)), (min(lefts), max(rights))
        ratios = sorted([*ratios, *(_ratio(*pair, limit.floor) for pair in ends)])
        low, high, confidence = ratios[0], ratios[-1], None
    else:
        low, high, confidence = noise.reach(ratios)
    said = _exact_verdict(low, high, least)
    if said in CHANGES and not METERS[meter].less_is_better:
        said = "changed"
    answer: dict[str, Any] = {
        "left": base, "right": noise.typical(rights), "ratio": _told(noise.typical(ratios)),
        "low": _told(low), "high": _told(high), "confidence": confidence,
        "verdict": said, "limit": limit.ratio, "detectable": 1 + least,
    }  # fmt: skip
    if len(lefts) > 1:
        answer |= {"left_samples": lefts, "right_samples": rights}
    return answer


def _ratio(left: float, right: float, floor: float) -> float:
    """Right over left; of nothing on the left, 1 if there is nothing on the right either."""
    if left:
        return right / left
    return 1.0 if abs(right) <= floor else math.inf


def _told(ratio: float) -> float | None:
    """A ratio for a results file, which knows no infinity."""
    return None if ratio == math.inf else ratio


def _exact_verdict(low: float, high: float, limit: float) -> Verdict:
    """The policy's left column. A hair is for rounding: 1.003 is within 0.3 % of 1."""
    edge = limit + 1e-12
    if low > 1 + edge:
        return "regressed"
    if high < 1 - edge:
        return "improved"
    return "equivalent" if low >= 1 - edge and high <= 1 + edge else "undecided"


def judge_wall(
    samples: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    settings: Settings | None = None,
    *,
    looks: Looks | None = None,
    fraction: float = 1.0,
) -> dict[str, dict[str, Any]]:
    """Compare the processes of both sides, all cases in one error budget.

    Args:
        samples: by case, one number a process: left and right, paired by block.
        settings: limits and error budget; the defaults without them.
        looks: what has been spent on earlier looks, and how many tests there are in all; without
            it this is the only look.
        fraction: of the sampling, as `Looks.pay` takes it; 1 at the end.

    Returns:
        By case, what the results file says about wall time.
    """
    looks = looks or Looks(settings.alpha if settings else ALPHA)
    budget = looks.pay(fraction)
    limits = {name: _time_limit(name, settings) for name in samples}
    estimates = {
        name: stats.paired_ratio(left, right, CONFIDENCE)
        for name, (left, right) in samples.items()
        if len(left) >= stats.FEWEST
    }
    tests = max(looks.family, len(estimates))
    raw = [stats.p_beyond(estimate, limits[name]) for name, estimate in estimates.items()]
    adjusted = stats.holm(raw, tests)
    judged = {}
    for (name, estimate), p in zip(estimates.items(), adjusted, strict=True):
        left, right = samples[name]
        said = looks.said.get(name) or wall_verdict(estimate, p, limits[name], budget)
        if said in CHANGES:
            looks.said[name] = said
        judged[name] = {
            "left": statistics.median(left),
            "right": statistics.median(right),
            "ratio": estimate.ratio, "low": estimate.low, "high": estimate.high,
            "confidence": estimate.confidence,
            "verdict": said,
            "limit": limits[name],
            "detectable": stats.detectable(estimate, limits[name], budget, tests),
            "p_holm": p,
            "left_samples": list(left), "right_samples": list(right),
        }  # fmt: skip
    return judged


def _time_limit(name: str, settings: Settings | None) -> float:
    """What counts as no change of a time, by what `judge_wall` calls it."""
    for meter, ending in BESIDE.items():
        if name.endswith(ending):
            case = name.removesuffix(ending)
            return (settings.limit(meter, case) if settings else LIMITS[meter]).ratio
    return (settings.limit("wall", name) if settings else LIMITS["wall"]).ratio


def wall_verdict(
    estimate: stats.Estimate, p_adjusted: float, limit: float, budget: float = ALPHA
) -> Verdict:
    """The policy's right column."""
    if p_adjusted <= budget:
        return "regressed" if estimate.ratio > 1 else "improved"
    edge = math.log1p(limit)
    inside = math.log(estimate.low) >= -edge and math.log(estimate.high) <= edge
    return "equivalent" if inside else "undecided"


def seem_changed(
    samples: Mapping[str, tuple[Sequence[float], Sequence[float]]], settings: Settings | None = None
) -> set[str]:
    """Those of some times that lie beyond their limits so far.

    Args:
        samples: as `judge_wall` takes them.
        settings: limits; the defaults without them.
    """
    return {
        name for name, (left, right) in samples.items()
        if len(left) >= stats.FEWEST
        and abs(stats.paired_ratio(left, right, CONFIDENCE).mean)
        > math.log1p(_time_limit(name, settings))
    }  # fmt: skip


def judge_case(meters: Mapping[str, Mapping[str, Any]]) -> tuple[Verdict, str]:
    """A case's verdict from its meters' verdicts, and a note where they disagree."""
    said: dict[str, Verdict] = {
        name: meters[name]["verdict"] for name in SPEAKING if name in meters
    }
    exact = {name: v for name, v in said.items() if METERS[name].exact}
    wall = said.get("wall")
    # Allocations alone do not tell that the work is the same.
    known = wall is None or "instructions" in exact
    unsure = (
        known and set(exact.values()) == {"equivalent"} and _may_be_placement(meters.get("wall"))
    )
    # Less work in more time: a slow-down that wall time alone sees, as above.
    placed = (
        known and wall == "regressed" and "improved" in exact.values()
        and _may_be_placement(meters["wall"])
    )  # fmt: skip
    # Where code lies explains no tail that is beyond its limit.
    clock = {"tail": said["tail"]} if "tail" in said else {}
    deciding = exact | clock if unsure or placed else said
    verdict = next((v for v in CHANGES if v in deciding.values()), None)
    if verdict == "regressed" and _is_paid_for(deciding, meters):
        verdict = "trade-off"
    if verdict is None:
        unsure = unsure or "undecided" in exact.values()
        same = "equivalent" if known and exact else wall or "undecided"
        verdict = "undecided" if unsure else same
    return verdict, notes.note(exact, wall, meters, unsure=unsure)


def by_the_clock_alone(meters: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a case is slower by the clock alone, so that other builds have to confirm it."""
    if judge_case(meters)[0] != "regressed" or "wall" not in meters:
        return False
    other = {"verdict": "undecided", "ratio": 1.0, "low": 1.0, "high": 1.0}
    return judge_case({**meters, "wall": {**meters["wall"], "elsewhere": other}})[0] != "regressed"


def _is_paid_for(said: Mapping[str, Verdict], meters: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether what a call takes improved, so that what regressed is only a means."""
    cost = {name: said[name] for name in COST if name in said}
    if any(word == "regressed" and name not in MEANS for name, word in said.items()):
        return False
    if cost.get("instructions") == "undecided":
        return False
    if cost.get("instructions") == "improved":
        return True
    return cost.get("wall") == "improved" and not _may_be_placement(meters["wall"])


def _may_be_placement(wall: Mapping[str, Any] | None) -> bool:
    """Whether where the code lies may be why wall time changed.

    It changed by that little, or in builds in which the code lies elsewhere it is not slower.
    """
    if wall is None or wall["verdict"] not in CHANGES:
        return False
    confirmed = wall.get("elsewhere", wall)["verdict"] == "regressed"
    if wall["verdict"] == "regressed" and not confirmed:
        return True
    return bool(wall["low"] <= 1 + ALONE and wall["high"] >= 1 / (1 + ALONE))


def judge_gate(
    cases: Sequence[Mapping[str, Any]],
    entries: Sequence[Mapping[str, Any]] = (),
    suites: Sequence[Mapping[str, Any]] = (),
    *,
    partial: bool = False,
    trade_off: TradeOff = "pass",
    decide: str = "",
) -> dict[str, Any]:
    """The gate, or a comparison, for which nobody can have accepted anything.

    Args:
        cases: the rows, with ``status``, ``verdict`` and, where somebody accepted it,
            ``accepted``.
        entries: of the file of accepted regressions, with their ``state``.
        suites: those that have a verdict as a whole, of `families.judge`.
        partial: stopped before the end.
        trade_off: whether one fails.
        decide: "all" if a case that is undecided fails.

    Returns:
        Status, exit status and one sentence.
    """
    failing = {"regressed"} | ({"trade-off"} if trade_off == "fail" else set())
    bad = any(row["verdict"] in failing and not row.get("accepted") for row in (*cases, *suites))
    failed = [c for c in cases if c["status"] not in {"measured", "not applicable"}]
    void = [entry for entry in entries if entry["state"] in accepted.ERRORS]
    measured = any(case["verdict"] in VERDICTS for case in cases)
    parts = _tallies(cases)
    if failed:
        names = ", ".join(sorted({c["status"] for c in failed}))
        parts.append(f"{len(failed)} not measured ({names})")
    absent = sum(case["status"] == "not applicable" for case in cases)
    if absent:
        parts.append(f"{absent} not applicable")
    whole = _tallies([suite for suite in suites if suite["verdict"] in MOVED])
    if whole:
        parts.append(f"of {counted(len(suites), 'suite')} as a whole {', '.join(whole)}")
    if void:
        names = ", ".join(sorted({entry["state"] for entry in void}))
        parts.append(f"{len(void)} accepted without effect ({names})")
    if partial:
        parts.append("stopped before the end")
    number = counted(len(cases), "benchmark")
    summary = f"{number}: {', '.join(parts) or 'nothing was measured'}"
    if bad:
        return {"status": "regression", "exit": REGRESSION, "summary": summary}
    if failed or void or partial or not measured:
        return {"status": "could not measure", "exit": COULD_NOT_MEASURE, "summary": summary}
    if decide == "all" and any(row["verdict"] == "undecided" for row in cases):
        return {"status": "cannot decide", "exit": CANNOT_DECIDE, "summary": summary}
    return {"status": "no regression", "exit": NO_REGRESSION, "summary": summary}


def _tallies(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many rows were called what, the worst first, and how many of those are accepted."""
    told = []
    for word in VERDICTS:
        chosen = [row for row in rows if row["verdict"] == word]
        excused = sum(bool(row.get("accepted")) for row in chosen)
        if chosen:
            told.append(f"{len(chosen)} {word}" + f" ({excused} accepted)" * bool(excused))
    return told
