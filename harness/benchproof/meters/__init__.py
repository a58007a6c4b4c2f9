"""The meters: what each one counts, in which unit, and whether it is exact.

A meter has two ends: one inside the worker, around the calls of a case, and one in the harness,
which says whether the machine has what the meter needs and reads what the worker left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import allocations, instructions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Processes a side of a benchmark that gives a value.
VALUES = 3
#: Tasks of the meters that every document names.
ALWAYS = frozenset({"wall", "instructions", "allocations"})


@dataclass(frozen=True)
class Meter:
    """One column of the results.

    Attributes:
        name: as in the results file.
        unit: of the numbers in the results file.
        exact: repeats give the same number (but for the noise in docs/meters.md), so
            one process a side is enough; else the process is the unit of a statistical test.
        task: the worker task that measures it.
        told_at_zero: whether a result names it where both sides have none.
        less_is_better: whether that is known.
        kinds: of benchmarks that it can measure (`asv_suite.KINDS`).
    """

    name: str
    unit: str
    exact: bool
    task: str
    told_at_zero: bool = True
    less_is_better: bool = True
    kinds: tuple[str, ...] = ("time",)


#: In the order in which they are shown.
METERS: dict[str, Meter] = {
    meter.name: meter
    for meter in (
        Meter("wall", "s", exact=False, task="wall", kinds=("time", "timeraw", "command")),
        Meter(
            "instructions",
            "instructions",
            exact=True,
            task="instructions",
            kinds=("time", "command"),
        ),
        Meter("allocations", "allocations", exact=True, task="allocations"),
        Meter("bytes", "B", exact=True, task="allocations"),
        Meter("retained", "B", exact=True, task="allocations", told_at_zero=False),
        Meter("memory", "B", exact=True, task="value", kinds=("memory",)),
        Meter("peakmemory", "B", exact=True, task="value", kinds=("peakmemory", "command")),
        Meter("tail", "s", exact=False, task="tail", kinds=("time",)),
        Meter("processor", "s", exact=False, task="process", kinds=("command",)),
        Meter("syscalls", "system calls", exact=True, task="process", kinds=("command",)),
        Meter("track", "", exact=True, task="value", less_is_better=False, kinds=("track",)),
    )
}


def of(kind: str) -> tuple[str, ...]:
    """The meters that can measure a kind of benchmark."""
    return tuple(name for name, meter in METERS.items() if kind in meter.kinds)


def gave_values(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The meters of values and whole commands, as a document names those that it has.

    Args:
        rows: of the document.
    """
    names = {name for row in rows for name in row["meters"]}
    return {
        name: {"measured": True, "why": "", "unit": meter.unit, "processes": VALUES}
        for name, meter in METERS.items()
        if meter.task not in ALWAYS and name in names
    }


def why_not(name: str) -> str:
    """Why a meter cannot measure on this machine, or ""."""
    task = METERS[name].task
    if task == "instructions":
        return instructions.why_not()
    if task == "allocations":
        return allocations.why_not()
    return ""
