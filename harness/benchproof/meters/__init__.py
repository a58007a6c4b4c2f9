"""The meters: what each one counts, in which unit, and whether it is exact.

A meter has two ends: one inside the worker, around the calls of a case, and one in the harness,
which says whether the machine has what the meter needs and reads what the worker left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchproof.render import units

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
        title: of its column in a terminal.
        label: what it is called in a sentence.
        write: a number of it, for people.
        task: the worker task that measures it.
        exact: repeats give the same number (but for the noise in docs/meters.md), so
            one process a side is enough; else the process is the unit of a statistical test.
        told_at_zero: whether a result names it where both sides have none.
        less_is_better: whether that is known.
        kinds: of benchmarks that it can measure (`asv_suite.KINDS`).
    """

    name: str
    unit: str
    title: str
    label: str
    write: Callable[[float], str]
    task: str
    exact: bool = True
    told_at_zero: bool = True
    less_is_better: bool = True
    kinds: tuple[str, ...] = ("time",)

    @property
    def repeated(self) -> str:
        """What several numbers of a side are of, if it is exact."""
        return "processes" if self.task == "value" else "layouts"


#: In the order in which they are shown.
METERS: dict[str, Meter] = {
    meter.name: meter
    for meter in (
        Meter("wall", "s", "time", "wall time", units.seconds, "wall", exact=False,
              kinds=("time", "timeraw", "command")),
        Meter("instructions", "instructions", "instr", "instructions", units.count, "instructions",
              kinds=("time", "command")),
        Meter("allocations", "allocations", "allocs", "allocations", units.count, "allocations"),
        Meter("bytes", "B", "bytes", "bytes allocated", units.size, "allocations"),
        Meter("retained", "B", "lives on", "bytes that live on", units.size, "allocations",
              told_at_zero=False),
        Meter("memory", "B", "size", "size of the object", units.size, "value", kinds=("memory",)),
        Meter("peakmemory", "B", "peak", "peak memory", units.size, "value",
              kinds=("peakmemory", "command")),
        Meter("tail", "s", "p99", "time of the slowest calls", units.seconds, "tail", exact=False),
        Meter("processor", "s", "cpu", "processor time", units.seconds, "process", exact=False,
              kinds=("command",)),
        Meter("syscalls", "system calls", "calls", "system calls", units.count, "process",
              kinds=("command",)),
        Meter("track", "", "value", "tracked value", units.count, "value", less_is_better=False,
              kinds=("track",)),
    )
}  # fmt: skip
#: What cannot be noise. A tracked value is judged like a count, but may be anything: a time, too.
EXACT = tuple(name for name, meter in METERS.items() if meter.exact and name != "track")
#: In the order in which they speak: the exact meters, then the clocks.
SPEAKING = tuple(sorted(METERS, key=lambda name: not METERS[name].exact))


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
    from . import allocations, instructions  # noqa: PLC0415  (a worker that times starts sooner)

    task = METERS[name].task
    if task == "instructions":
        return instructions.why_not()
    if task == "allocations":
        return allocations.why_not()
    return ""
