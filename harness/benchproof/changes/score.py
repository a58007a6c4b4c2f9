"""How good a search was, where the truth is known: recall and precision.

Something is known where somebody else measured: a commit against its parent, one benchmark, one
implementation. Changes at places of which nothing is known count neither for nor against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .model import Change


class Where(NamedTuple):
    """A benchmark's implementation at a commit's place."""

    benchmark: str
    impl: str
    place: int


@dataclass(frozen=True)
class Score:
    """What a search found of what there was.

    Attributes:
        found: real changes that it lists, at the very commit.
        missed: real ones that it does not list there.
        wrong: places that it lists, and where there is none.
    """

    found: frozenset[Where]
    missed: frozenset[Where]
    wrong: frozenset[Where]

    @property
    def recall(self) -> float:
        """The part of the real changes that were found; 1 if there are none."""
        real = len(self.found) + len(self.missed)
        return len(self.found) / real if real else 1.0

    @property
    def precision(self) -> float:
        """The part of the listed changes that are real; 1 if none is listed."""
        listed = len(self.found) + len(self.wrong)
        return len(self.found) / listed if listed else 1.0


def score(
    changes: Iterable[Change],
    real: Collection[Where],
    none: Collection[Where],
    meter: str = "instructions",
) -> Score:
    """Hold a search against what is known.

    Args:
        changes: what it lists; a change that is one of several commits counts as none.
        real: where there is a change.
        none: where there is none.
        meter: of the changes to look at.
    """
    listed = frozenset(
        Where(change.key.benchmark, change.key.impl, change.after)
        for change in changes
        if change.key.meter == meter and change.exact
    )
    known = frozenset(real)
    return Score(known & listed, known - listed, (listed & frozenset(none)) - known)
