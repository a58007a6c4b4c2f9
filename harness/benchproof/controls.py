"""Controls of a gate: the same build twice, and a slow-down of known size, through the same meters.

A verdict is worth what the gate could have said instead. So each variant counts one of its
benchmarks twice more in the candidate's build: against itself, which must be equivalent, and
against itself with extra work in front of every call, which must be a regression. Where one of them
comes out otherwise, the gate could not measure.

A third kind has no outcome of its own: cases that the clock alone calls slower are timed again in
builds whose code lies elsewhere in memory (`verdict.by_the_clock_alone`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .collected import Collected
from .settings import Settings
from .suite import Case

#: What a control must come out as, by its kind.
MUST = {"same build": "equivalent", "slowed down": "regressed"}
#: Times of builds whose code lies elsewhere.
ELSEWHERE = "code elsewhere"
#: Instructions of a turn of the extra work (`worker.slowed`) on CPython 3.11, roughly. The size
#: that is told is what was counted, and not this.
TURN = 120
#: The slow-down that is wanted, in limits of the case; turns that make it fine enough.
WANTED, FINE = 2.0, 4


def choose(got: Collected, cases: Sequence[Case], settings: Settings) -> tuple[Case, int] | None:
    """A case for both controls, and the turns of extra work that slow it down by two limits.

    The cheapest in which a turn is a small part of that, else the dearest; None if none was
    counted as a function is.
    """
    priced = sorted(
        (got.prices[case.name], case) for case in cases
        if case.kind == "time" and case.name in got.prices and case.name not in got.failures
    )  # fmt: skip

    def turns(price: float, case: Case) -> float:
        return WANTED * settings.limit("instructions", case.name).ratio * price / TURN

    if not priced:
        return None
    price, case = next((each for each in priced if turns(*each) >= FINE), priced[-1])
    return case, max(1, round(turns(price, case)))


def judged(kind: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """What became of a control, for the document.

    Args:
        kind: of the control.
        row: its case, judged as every other.
    """
    about = row["meters"].get("instructions", {})
    return {
        "kind": kind, "impl": row["impl"], "name": row["name"], "verdict": row["verdict"],
        "ratio": about.get("ratio"), "held": row["verdict"] == MUST[kind], "why": row["why"],
    }  # fmt: skip


def trouble(found: Sequence[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    """The controls that did not come out as they must, as what kept a gate from measuring."""
    return [
        {"impl": each["impl"],
         "why": f"a control failed: {each['name']}, {each['kind']}, must be {MUST[each['kind']]} "
                f"and is {each['verdict'] or 'without a verdict'}{': ' * bool(each['why'])}"
                f"{each['why']}"}
        for each in found if not each["held"]
    ]  # fmt: skip
