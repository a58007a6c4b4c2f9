"""What workers have answered so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .plan import SIDES, Loops, SideName

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        processor: by side, by whole command: block index to seconds of the processor.
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
    processor: dict[SideName, dict[str, dict[int, float]]] = field(
        default_factory=lambda: {"left": {}, "right": {}}
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
