"""The meters: what each one counts, in which unit, and whether it is exact.

A meter has two ends: one inside the worker, around the calls of a case, and one in the harness,
which says whether the machine has what the meter needs and reads what the worker left.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import allocations, instructions


@dataclass(frozen=True)
class Meter:
    """One column of the results.

    Attributes:
        name: as in the results file.
        unit: of the numbers in the results file.
        exact: repeats give the same number (but for the noise in docs/measuring.md), so
            one process a side is enough; else the process is the unit of a statistical test.
        task: the worker task that measures it.
        told_at_zero: whether a result names it where both sides have none.
    """

    name: str
    unit: str
    exact: bool
    task: str
    told_at_zero: bool = True


#: In the order in which they are shown.
METERS: dict[str, Meter] = {
    meter.name: meter
    for meter in (
        Meter("wall", "s", exact=False, task="wall"),
        Meter("instructions", "instructions", exact=True, task="instructions"),
        Meter("allocations", "allocations", exact=True, task="allocations"),
        Meter("bytes", "B", exact=True, task="allocations"),
        Meter("retained", "B", exact=True, task="allocations", told_at_zero=False),
    )
}


def why_not(name: str) -> str:
    """Why a meter cannot measure on this machine, or ""."""
    task = METERS[name].task
    if task == "instructions":
        return instructions.why_not()
    if task == "allocations":
        return allocations.why_not()
    return ""
