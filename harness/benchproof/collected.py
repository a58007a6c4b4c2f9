"""What workers have answered: all samples of a comparison, from which every verdict is computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .meters import BESIDE
from .plan import SIDES, Loops, SideName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .accepted import Entry
    from .settings import Settings
    from .suite import Case
    from .verdict import Looks

Rows = dict[str, dict[str, Any]]


class Spot(NamedTuple):
    """Where in memory a count was taken: in which build of a side, in which layout of a process."""

    build: int = 0
    layout: int = 0


#: Where every count begins.
FIRST = Spot()


@dataclass
class Collected:
    """Everything that workers have answered so far, by case.

    Attributes:
        proofs: by side, the answers of the proving worker.
        counts: by exact meter, then side, then case: a number a call for each spot.
        walls: by side, by case: block index to the values of its process.
        beside: by meter of `BESIDE`, by side, by case: block index to the seconds of its process.
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
    counts: dict[str, dict[SideName, dict[str, dict[Spot, float]]]] = field(default_factory=dict)
    walls: dict[SideName, dict[str, dict[int, list[float]]]] = field(
        default_factory=lambda: {"left": {}, "right": {}}
    )
    beside: dict[str, dict[SideName, dict[str, dict[int, float]]]] = field(
        default_factory=lambda: {meter: {"left": {}, "right": {}} for meter in BESIDE}
    )
    loops: dict[str, Loops] = field(default_factory=dict)
    prices: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    untimed: dict[str, str] = field(default_factory=dict)
    blocks: int = 0
    thrown: dict[int, str] = field(default_factory=dict)

    def count(
        self, meter: str, side: SideName, name: str, number: float, spot: Spot = FIRST
    ) -> None:
        """Keep a count of an exact meter."""
        sides = self.counts.setdefault(meter, {each: {} for each in SIDES})
        sides[side].setdefault(name, {})[spot] = number

    def counted(self, meter: str, name: str) -> tuple[list[float], list[float]]:
        """The counts of a case, left and right, paired by the spots that both sides have."""
        left, right = (self.spots(meter, side, name) for side in SIDES)
        both = sorted(left.keys() & right.keys())
        return [left[spot] for spot in both], [right[spot] for spot in both]

    def spots(self, meter: str, side: SideName, name: str) -> Mapping[Spot, float]:
        """A side's counts of a case."""
        return self.counts.get(meter, {}).get(side, {}).get(name, {})

    def same_code(self, name: str) -> bool:
        """Whether both sides' proving workers saw a case run the same files, byte for byte."""
        left, right = (self.proofs.get(side, {}).get(name, {}).get("code") for side in SIDES)
        return bool(left) and left == right

    def paired(self, name: str) -> list[int]:
        """The blocks in which both sides' processes timed a case."""
        left, right = (self.walls[side].get(name, {}) for side in SIDES)
        return sorted(left.keys() & right.keys())


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
