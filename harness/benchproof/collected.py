"""What workers have answered: all samples of a comparison, from which every verdict is computed."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .plan import SIDES, Loops, SideName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .accepted import Entry
    from .settings import Settings
    from .suite import Case
    from .verdict import Looks

Rows = dict[str, dict[str, Any]]


class Spot(NamedTuple):
    """Where values were taken: in which build of a side, and in which of its processes.

    The processes of exact meters are numbered by the layout of their memory, those that are timed
    by their block.
    """

    build: int = 0
    process: int = 0


#: Where every count begins.
FIRST = Spot()
#: The values of each process.
Taken = dict[Spot, list[float]]


def pair(left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
    """What stands for the values of two processes that took turns.

    Their ratio is the median ratio of two values that followed each other, and their middle that of
    both medians. A machine that changes its speed in between moves few of those ratios.

    Args:
        left: one value or several, in the order in which they were taken.
        right: the same of the other side; one that took more than the other is cut.
    """
    typical = statistics.median(left), statistics.median(right)
    if min(len(left), len(right)) < 2 or min(*left, *right) <= 0:
        return typical
    middle = math.sqrt(typical[0] * typical[1])
    pairs = zip(left, right, strict=False)
    half = math.exp(statistics.median(math.log(two / one) for one, two in pairs) / 2)
    return middle / half, middle * half


@dataclass
class Collected:
    """Everything that workers have answered so far, by case.

    Attributes:
        proofs: by side, the answers of the proving worker.
        values: by meter, side and case: what each process gave a call, one number or several.
        loops: loop counts of the cases that are measured.
        prices: instructions of a call on the dearer side, for cases whose loops were planned by
            counting.
        failures: cases that a later worker could not measure, with its words.
        untimed: cases whose wall time was not taken though it was asked for, with the reason.
        blocks: how many blocks ran.
        thrown: processes of wall time that were thrown away because their clock cannot be
            believed: the block and its words.
    """

    proofs: dict[SideName, Rows] = field(default_factory=dict)
    values: dict[str, dict[SideName, dict[str, Taken]]] = field(default_factory=dict)
    loops: dict[str, Loops] = field(default_factory=dict)
    prices: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    untimed: dict[str, str] = field(default_factory=dict)
    blocks: int = 0
    thrown: dict[int, str] = field(default_factory=dict)

    def keep(
        self, meter: str, side: SideName, name: str, values: float | list[float], spot: Spot = FIRST
    ) -> None:
        """Keep what a process gave."""
        sides = self.values.setdefault(meter, {each: {} for each in SIDES})
        taken = values if isinstance(values, list) else [values]
        sides[side].setdefault(name, {})[spot] = taken

    def __iter__(self) -> Iterator[tuple[str, SideName, str, Spot, list[float]]]:
        """Meter, side, case, process and values of everything that was taken."""
        for meter, sides in self.values.items():
            for side, cases in sides.items():
                for name, taken in cases.items():
                    for spot, values in taken.items():
                        yield meter, side, name, spot, values

    def taken(self, meter: str, side: SideName, name: str) -> Taken:
        """A side's values of a case."""
        return self.values.get(meter, {}).get(side, {}).get(name, {})

    def paired(self, meter: str, name: str) -> list[Spot]:
        """The processes that gave values of a case on both sides."""
        left, right = (self.taken(meter, side, name) for side in SIDES)
        return sorted(left.keys() & right.keys())

    def numbers(self, meter: str, name: str) -> tuple[list[float], list[float]]:
        """One number a process: left and right, paired (`pair`)."""
        left, right = (self.taken(meter, side, name) for side in SIDES)
        numbers = [pair(left[spot], right[spot]) for spot in self.paired(meter, name)]
        return [each[0] for each in numbers], [each[1] for each in numbers]

    def same_code(self, name: str) -> bool:
        """Whether both sides' proving workers saw a case run the same files, byte for byte."""
        left, right = (self.proofs.get(side, {}).get(name, {}).get("code") for side in SIDES)
        return bool(left) and left == right


@dataclass(kw_only=True)
class Sampled:
    """One variant of a comparison, as far as it is measured.

    Attributes:
        name: of the variant; "" where the two sides are different ones.
        sides: both, as the document describes them; empty before they are built.
        cases: those that were chosen.
        got: what workers answered.
        looks: what looking at wall time has spent of the error budget; None if nobody looked.
        same: whether both sides are the same build, so that there was nothing to measure.
        profiles: by case, where its instructions went.
        control: of which kind it is (`controls`); empty for what was asked for.
    """

    name: str
    sides: dict[str, dict[str, Any]] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    got: Collected = field(default_factory=Collected)
    looks: Looks | None = None
    same: bool = False
    profiles: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    control: str = ""


@dataclass(frozen=True)
class Samples:
    """A whole comparison before it is judged.

    Attributes:
        about: what its document says of it beside the verdicts.
        settings: limits and error budget.
        variants: what was measured.
        entries: accepted regressions.
        known: names of all benchmarks that exist, also of those that were not chosen.
        partial: whether it was stopped before the end.
        controls: what must come out as it does, of each variant.
    """

    about: dict[str, Any]
    settings: Settings
    variants: Sequence[Sampled]
    entries: Sequence[Entry] = ()
    known: Sequence[str] = ()
    partial: bool = False
    controls: Sequence[Sampled] = ()
