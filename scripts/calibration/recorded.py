"""Recorded sessions, read back: blocks in their order, by case, with who ran first."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof.plan import SIDES, SideName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: By case, the numbers of the left and of the right processes, paired by block.
Samples = dict[str, tuple[list[float], list[float]]]


@dataclass(frozen=True)
class Recording:
    """A session.

    Attributes:
        name: of the session.
        impl: of both sides.
        about: as it was recorded.
        blocks: in the order in which they ran, each with ``first`` and by side the numbers by case.
    """

    name: str
    impl: str
    about: dict[str, Any]
    blocks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def cases(self) -> list[str]:
        """The cases that any block timed."""
        return sorted({name for block in self.blocks for name in block["left"]})

    @property
    def seconds(self) -> float:
        """Of a block, as a median."""
        return float(statistics.median(block["seconds"] for block in self.blocks))

    def samples(self, start: int, length: int) -> Samples:
        """A run of blocks as it was recorded."""
        chosen = self.blocks[start : start + length]
        return _paired((block["left"], block["right"]) for block in chosen)

    def outside(self, start: int, length: int) -> Samples:
        """All blocks but those of a run."""
        chosen = [*self.blocks[:start], *self.blocks[start + length :]]
        return _paired((block["left"], block["right"]) for block in chosen)

    def numbers(self, start: int, length: int) -> list[dict[str, dict[str, float]]]:
        """By block of a run, the numbers of both sides."""
        chosen = self.blocks[start : start + length]
        return [{side: block[side] for side in SIDES} for block in chosen]

    def relabelled(
        self, start: int, sides: Sequence[SideName]
    ) -> list[dict[str, dict[str, float]]]:
        """Blocks of one build, with other labels: both sides are the same, so who was left is a
        matter of the draw. The draw is the gate's own: who of a block ran first.

        Args:
            start: index of the first block; after the last one comes the first.
            sides: for each, the side that the process that ran first now stands for.
        """  # noqa: D205  (one sentence)
        chosen = (self.blocks[start:] + self.blocks[:start])[: len(sides)]
        other = dict(zip(SIDES, SIDES[::-1], strict=True))
        return [
            {side: block[block["first"]], other[side]: block[other[block["first"]]]}
            for block, side in zip(chosen, sides, strict=True)
        ]


def _paired(pairs: Iterable[tuple[Mapping[str, float], Mapping[str, float]]]) -> Samples:
    """Numbers by case, of the blocks in which both sides have one."""
    found: Samples = {}
    for left, right in pairs:
        for name in left.keys() & right.keys():
            lefts, rights = found.setdefault(name, ([], []))
            lefts.append(left[name])
            rights.append(right[name])
    return dict(sorted(found.items()))


def read(rows: Iterable[Mapping[str, Any]]) -> list[Recording]:
    """The sessions of a file of recorded rows."""
    found: dict[str, Recording] = {}
    order: dict[str, list[str]] = {}
    for row in rows:
        name = row["session"]
        if "block" not in row:
            order[name] = row["cases"]
            found.setdefault(name, Recording(name, row["impl"], row["about"]))
            continue
        numbers = {
            side: {
                case: value for case, value in zip(order[name], row[side], strict=True)
                if value is not None
            }
            for side in SIDES
        }  # fmt: skip
        found[name].blocks.append(dict(row) | numbers)
    return [each for each in found.values() if each.blocks]
