"""What was measured, as a document, and what is asked of it: ratios, medians, the cheapest way."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from benchproof import provenance, results, stats, toolchain

from . import bare, cases
from .members import AGAIN, OURS, WAYS

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Of each printed interval, for itself alone.
CONFIDENCE = 0.99
#: One-minute load before a run, a core, from which its elapsed times are not told.
BUSY = 0.25


def document(**measured: Any) -> dict[str, Any]:  # noqa: ANN401  (JSON)
    """Everything that was measured, raw, with the machine that it was measured on."""
    about = {"created": results.now(), "provenance": provenance.gather(toolchain.find())}
    return {**about, **measured}


def names(board: Mapping[str, Any], way: str) -> list[str]:
    """Everybody on the board, this driver first."""
    known = [*board["members"].get(way, ()), *board["missing"][way]]
    order = [name for of_way in board["members"].values() for name in of_way]
    return sorted(set(known) - {AGAIN}, key=lambda name: (name != OURS, order.index(name)))


def is_quiet(board: Mapping[str, Any]) -> bool:
    """Whether the machine did nothing else, so that elapsed times can be told."""
    quiet: bool = board["load"] < BUSY * board["provenance"]["cores"]
    return quiet


class Numbers:
    """The numbers of one node."""

    def __init__(self, of_node: Mapping[str, Any]) -> None:
        """Of a node in a document."""
        self._numbers, self._checked = of_node["numbers"], of_node["checked"]

    def of(self, way: str, name: str, case: str, meter: str) -> list[float]:
        """A number of each block; empty where there is none."""
        found: list[float] = self._numbers.get(way, {}).get(name, {}).get(case, {}).get(meter, [])
        return found

    def median(self, way: str, name: str, case: str, meter: str) -> float | None:
        """Their median."""
        found = self.of(way, name, case, meter)
        return statistics.median(found) if found else None

    def why_not(self, way: str, name: str, case: str) -> str:
        """What a driver said instead of an answer; empty if it answered."""
        said: str = self._checked.get(way, {}).get(name, {}).get("failed", {}).get(case, "")
        return said

    def ratio(self, way: str, name: str, case: str, meter: str) -> stats.Estimate | None:
        """How many times as much as this driver in the same way; None without numbers."""
        return _paired(self.of(way, OURS, case, meter), self.of(way, name, case, meter))

    def cheapest(self, name: str, case: str) -> str | None:
        """The way in which a driver takes the least processor time."""
        found = {way: self.median(way, name, case, "processor") for way in WAYS}
        told = {way: number for way, number in found.items() if number is not None}
        return min(told, key=lambda way: told[way]) if told else None

    def beside(self, name: str, case: str) -> stats.Estimate | None:
        """How many times as much processor time, each in its cheapest way."""
        ours, theirs = self.cheapest(OURS, case), self.cheapest(name, case)
        if not ours or not theirs:
            return None
        mine = self.of(ours, OURS, case, "processor")
        # Beside itself: the same way once more.
        return _paired(mine, self.of(theirs if name != AGAIN else ours, name, case, "processor"))

    def of_socket(self, name: str, case: str) -> stats.Estimate | None:
        """How many times as much processor time as a bare socket, in a driver's cheapest way."""
        way = self.cheapest(name, case)
        return _paired(
            self.of(bare.WAY, bare.NAME, case, "processor"),
            self.of(way, name, case, "processor") if way else [],
        )


def _paired(ours: list[float], theirs: list[float]) -> stats.Estimate | None:
    return stats.paired_ratio(ours, theirs, CONFIDENCE) if ours and theirs else None


def case_names() -> list[str]:
    """In the order of tables."""
    return [case.name for case in cases.CASES]
