"""Where a history's changes are known: by the ledger of claims; and how good a search was there.

Each claim's commit was measured against its parent, in one go and in several layouts: better
evidence than a history's, and independent of it. A figure that is reproduced, on a benchmark whose
instructions changed by enough, is a change that the search must find at that very commit; a
benchmark that the comparison called equivalent there is one at which it must find none. Changes at
places of which nothing is known count neither for nor against.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ledger import judge

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ledger.figures import Ledger
    from ledger.store import Run

    from benchproof.changes.sizes import Change
    from benchproof.history.model import History

METER = "instructions"
#: A change that the search must find.
LEAST = 0.02


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


def truth(
    ledger: Ledger, runs: Sequence[Run], history: History, least: float = LEAST
) -> tuple[set[Where], set[Where]]:
    """Where there is a change of instructions, and where there is none.

    Args:
        ledger: the claims.
        runs: what was measured for them.
        history: whose commits the places are of.
        least: the smallest change that must be found.

    Returns:
        Where a reproduced figure's benchmark changed by `least` or more; and where a measured
        benchmark was equivalent. What lies between is neither: a change too small to be asked for.
    """
    places = {commit.hash: at for at, commit in enumerate(history.commits)}
    real, none = set(), set()
    for found in judge.judge(ledger, runs, list(ledger.rows), {}):
        for impl, run in found.runs.items():
            place = places.get(run.right, 0)
            if place == 0 or places.get(run.left) != place - 1:
                continue  # the sum of several commits, or not on the line
            wanted = [
                finding.figure.benchmark
                for finding in found.findings
                if impl in finding.judged
                and finding.judged[impl].verdict in {"reproduced", "exceeded"}
            ]
            for name, ratio, verdict in _judged(run.document):
                size = max(ratio, 1 / ratio) - 1
                where = Where(name, impl, place)
                if verdict == "equivalent":
                    none.add(where)
                elif size >= least and any(re.fullmatch(each, name) for each in wanted):
                    real.add(where)
    return real, none


def _judged(document: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    """The benchmarks of a comparison whose instructions were counted: name, ratio, verdict."""
    for case in document.get("cases", ()):
        judged = case["meters"].get(METER, {})
        if case["status"] == "measured" and judged.get("ratio"):
            yield case["name"], float(judged["ratio"]), str(judged["verdict"])
