"""The written policy: when is a published figure reproduced?

Nanoseconds of two machines are never compared. What is compared, per figure:

=========  =====================================================================================
ratio      after / before of the page with after / before here: of times, and of whole counts
saving     before - after of the page with before - after here: counts of a part of an operation
           (three objects fewer are three objects fewer on every machine)
nothing    where the page gives only a saving of time
=========  =====================================================================================

*Gain* is before / after - 1 of a ratio ("how many more calls in the same time": 0.5 is 1.5 times as
fast), or the saving itself. *No gain* is anything within the meter's limit, as `verdict.py` stated
it when it was measured: since then 1 % of wall time and 0.3 % of instructions, before that 5 % and
1 %; nothing of allocations. Where a page gives a range, its weaker end is the lower bound and its
stronger end the upper one. A verdict is of the whole interval, never of the point in it:

====================  ==========================================================================
exceeded              the whole interval lies above 125 % (`MOST`) of the claimed gain; it is
                      said beside it what was measured for what was claimed. Objects have no
                      upper bound: one object takes one allocation or several
reproduced            the whole interval lies above 80 % (`ENOUGH`) of the claimed gain
smaller than claimed  the whole interval is a gain, and lies below 80 %
not reproduced        it lies below 80 %, and reaches down to no gain
reversed              the whole interval is a loss beyond the limit
not exercised         what is kept was measured on a case that does not run what the claim is
                      about: the ledger says why, and shows the numbers beside it
not measurable here   no case can stand for it, or there is nothing to compare, or 80 % of the
                      claimed gain lies within what every meter that applies takes for none
not measured          undecided (the interval has 80 % of the claimed gain in it), or the case was
                      not measured: no commit, no build, a proof that failed, or the ledger says
                      why nobody has
====================  ==========================================================================

Two more are shown and counted nowhere (`UNCOUNTED`): *judged case by case*, a range over figures
that have verdicts of their own, and *technique, not claim*, the figures of a page in another
language, of which only the idea was tried.

Exact meters have an interval of one point. A claim of "no change" (after = before) is reproduced
unless it got worse beyond the limit, and then it is reversed.

A claim about time is judged by wall time. Where wall time cannot tell (undecided, too small a
claim, not run) the ratio of instructions stands in and is named; where both can tell and disagree,
wall time's verdict counts and the disagreement is said.

A figure about one implementation is judged on that one. A figure whose page does not say holds for
both, so the worse verdict of the two counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from benchproof.errors import COULD_NOT_MEASURE, NO_REGRESSION, REGRESSION
from benchproof.meters import METERS
from benchproof.noise import LIMITS

from .figures import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .figures import Figure, Span

Verdict = Literal[
    "exceeded", "reproduced", "smaller than claimed", "not reproduced", "reversed",
    "not exercised", "not measured", "not measurable here",
    "judged case by case", "technique, not claim",
]  # fmt: skip
#: Worst first: of two implementations, the earlier one counts.
VERDICTS: tuple[Verdict, ...] = (
    "reversed", "not reproduced", "smaller than claimed", "reproduced", "exceeded",
    "not exercised", "not measured", "not measurable here",
)  # fmt: skip
#: Shown, and in no total.
UNCOUNTED: frozenset[Verdict] = frozenset({"judged case by case", "technique, not claim"})
#: The part of a claimed gain that has to be there, and the part above which there is more.
ENOUGH, MOST = 0.8, 1.25
#: Of a count, what is none: a fraction is a buffer that grew once.
COUNT_FLOOR = 0.05
#: Why a saving of time is not judged.
NO_RATIO = (
    "the page gives a saving of time only, and nanoseconds of another machine are not compared"
)


@dataclass(frozen=True)
class Judged:
    """What one meter says of one figure.

    Attributes:
        verdict: see the module.
        why: the reason where it is not the numbers alone, or "".
        decided: whether this meter could tell.
    """

    verdict: Verdict
    why: str = ""
    decided: bool = True


def judge(figure: Figure, meters: Mapping[str, Mapping[str, Any]]) -> tuple[Judged, str]:
    """Judge a figure by the meters of its case.

    Args:
        figure: with a benchmark.
        meters: of its case on the commit and its parent, as a results file has them.

    Returns:
        The verdict, and the meter that gave it ("" if none could).
    """
    if figure.basis == "none":
        return Judged("not measurable here", NO_RATIO, decided=False), ""
    said = {
        name: judge_meter(figure, name, meters[name])
        for name in METRICS[figure.metric] if name in meters
    }  # fmt: skip
    if not said:
        names = " and ".join(METRICS[figure.metric])
        return Judged("not measured", f"{names} was not measured", decided=False), ""
    decided = {name: judged for name, judged in said.items() if judged.decided}
    if not decided:
        # An undecided meter may decide with more time; a claim that is too small for all cannot be.
        name = next((n for n, j in said.items() if j.verdict == "not measured"), next(iter(said)))
        return said[name], ""
    by = next(iter(decided))
    notes = []
    if by != next(iter(said)):
        first = next(iter(said))
        notes.append(f"by {by}; {first}: {said[first].why}")
    elif by != METRICS[figure.metric][0]:
        notes.append(f"by {by}")
    notes += [f"{name} say: {other.verdict}" for name, other in decided.items()
              if other.verdict != decided[by].verdict]  # fmt: skip
    return Judged(decided[by].verdict, "; ".join(filter(None, [decided[by].why, *notes]))), by


def judge_meter(figure: Figure, name: str, meter: Mapping[str, Any]) -> Judged:
    """What one meter says, by saving or by ratio."""
    if figure.basis == "saving" and figure.saving is not None:
        floor = LIMITS[name].floor if name in LIMITS else COUNT_FLOOR
        least, most = figure.saving
        most = math.inf if figure.metric == "objects" else most
        return judge_saving((least, most), meter["left"] - meter["right"], floor)
    if figure.ratio is None:
        raise ValueError(f"{figure.id} has nothing to compare")
    exact = name not in METERS or METERS[name].exact
    limit = meter["detectable"] - 1 if exact else meter["limit"]
    low, high = (math.inf if meter[key] is None else meter[key] for key in ("low", "high"))
    return judge_ratio(figure.ratio, (low, high), limit)


def judge_saving(claimed: Span, saved: float, floor: float) -> Judged:
    """Compare what went away, in the meter's unit; `claimed` has its weaker end first."""
    least, most = claimed
    if least == 0:
        return Judged("reproduced" if saved >= -floor else "reversed")
    if least * ENOUGH <= floor:
        return Judged("not measurable here", "the claimed saving is within the meter's noise",
                      decided=False)  # fmt: skip
    if saved < -floor:
        return Judged("reversed")
    return Judged(_band(saved, (floor, least * ENOUGH, most * MOST)))


def judge_ratio(claimed: Span, measured: Span, limit: float) -> Judged:
    """Compare after / before.

    Args:
        claimed: the page's, its stronger end first.
        measured: the ends of our interval.
        limit: the change of the ratio that counts as none, as 0.05.
    """
    most, least = (gain_of(ratio) for ratio in claimed)
    high, low = (gain_of(ratio) for ratio in measured)
    if high < gain_of(1 + limit):
        return Judged("reversed")
    if least == 0:
        return Judged("reproduced")
    if least * ENOUGH <= limit:
        return Judged("not measurable here", f"the claimed gain of {least:.1%} is below "
                      f"what this meter tells apart ({limit:.1%})", decided=False)  # fmt: skip
    enough = least * ENOUGH
    if low < enough <= high:
        return Judged("not measured", f"undecided: the interval reaches from less than "
                      f"{ENOUGH:.0%} of the claimed gain to more", decided=False)  # fmt: skip
    return Judged(_band(low, (limit, enough, most * MOST)))


def _band(gain: float, bounds: tuple[float, float, float]) -> Verdict:
    """Where a gain lies, between no gain, enough of the claimed one, and more than that."""
    limit, enough, most = bounds
    if gain <= limit:
        return "not reproduced"
    if gain < enough:
        return "smaller than claimed"
    return "exceeded" if gain > most else "reproduced"


def gain_of(ratio: float) -> float:
    """How many more calls fit into the same time, less one: 0 for no change."""
    return math.inf if ratio == 0 else 1 / ratio - 1


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict that counts where several implementations are asked."""
    return min(verdicts, key=VERDICTS.index)


def exit_status(verdicts: Iterable[Verdict]) -> int:
    """Of the command: 1 for a claim that did not hold, 2 if one was not measured, else 0.

    A claim that no machine could measure here by its nature does not fail a run, nor does one whose
    case does not exercise it: the ledger says why. A claim that holds in part (smaller than
    claimed) does not either: its ratio is shown.
    """
    found = set(verdicts)
    if found & {"reversed", "not reproduced"}:
        return REGRESSION
    return COULD_NOT_MEASURE if "not measured" in found or not found else NO_REGRESSION
