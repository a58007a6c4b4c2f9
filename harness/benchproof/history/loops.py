"""How often each case is called by each exact meter: chosen once, kept beside the results.

Counts a call still depend a little on the number of calls: what grows once in a loop (a buffer, a
table) is shared by all of its calls. Loop counts that were planned anew for each commit would
differ between commits, and so would the counts. So they are planned when a case is first seen, from
what one call costs in instructions and never from a clock, and belong to the history from then on
(``loops.jsonl``), for each implementation its own.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from benchproof import files, plan
from benchproof.meters import allocations, wall
from benchproof.meters.counts import Counts, warm_for

from .model import CANARY
from .writing import notes

LOOPS = "loops.jsonl"
#: Instructions of the larger loop, and the most calls of it: a call of a microsecond needs many,
#: or one event in a loop (a pool that begins) is a percent.
TARGET, MOST = 1_200_000, 1024
#: The smaller loop is this part of the larger: what the two have in common cancels all the same.
PART = 8
#: Calls from which on the meter counts several rounds; it asks that the smaller loop has three.
FEW = 3
#: The most calls before counting.
WARM = 256


#: Of the canary: it takes a tenth of a millisecond everywhere, nearly.
CANARY_LOOPS = plan.Loops(10, Counts(16, 3, 16), Counts(4, 2, 4))


class Loops:
    """The plan of a folder of results."""

    def __init__(self, results: Path) -> None:
        """Read what was planned before."""
        self._file = results / LOOPS
        self._known: dict[tuple[str, str], plan.Loops] = {}
        for each in notes(self._file):
            try:
                counted = (Counts(*each[meter]) for meter in ("instructions", "allocations"))
                self._known[each["benchmark"], each["impl"]] = plan.Loops(each["wall"], *counted)
            except (KeyError, TypeError):
                continue

    def known(self, benchmark: str, impl: str) -> plan.Loops:
        """The plan of a case.

        Raises:
            KeyError: it was never seen.
        """
        return CANARY_LOOPS if benchmark == CANARY else self._known[benchmark, impl]

    def lacks(self, benchmark: str, impl: str) -> bool:
        """Whether a case has no plan yet."""
        return benchmark != CANARY and (benchmark, impl) not in self._known

    def take(
        self, benchmark: str, impl: str, seconds: float, price: float, number: int = 0
    ) -> plan.Loops:
        """The plan of a case; made from what a call takes and costs if there is none."""
        made = plan.loops(seconds, price, number) if number else planned(seconds, price)
        return self._known.setdefault((benchmark, impl), made)

    def join(self, other: Loops) -> bool:
        """Take what another process planned; whether all that it counted is by this plan."""
        return all(
            vars(self._known.setdefault(key, made)) | {"wall": 0} == vars(made) | {"wall": 0}
            for key, made in list(other._known.items())
        )

    def keep(self) -> None:
        """Write what is planned now.

        Raises:
            BenchproofError: it cannot be written.
        """
        lines = [
            json.dumps({
                "benchmark": benchmark, "impl": impl, "wall": each.wall,
                "instructions": list(vars(each.instructions).values()),
                "allocations": list(vars(each.allocations).values()),
            })
            for (benchmark, impl), each in sorted(self._known.items())
        ]  # fmt: skip
        files.write("".join(f"{line}\n" for line in lines), self._file)


def planned(seconds: float, price: float) -> plan.Loops:
    """Loop counts for a call that takes some seconds and costs some instructions."""
    many = 2 ** max(1, min(round(math.log2(TARGET / max(price, 1))), round(math.log2(MOST))))
    few = max(many // PART, FEW) if many > 2 * FEW else 1
    warm = max(min(many, WARM), warm_for(price))
    return plan.Loops(wall.loops_for(seconds), Counts(warm, few, many), allocations.plan(price))
