"""What the ledger of claims knows of changes: the truth that a search of the history is held to.

Each claim's commit was measured against its parent, in one go and in several layouts: better
evidence than a history's, and independent of it. A figure that is reproduced, on a benchmark whose
instructions changed by enough, is a change that the search must find at that very commit; a
benchmark that the comparison called equivalent there is one at which it must find none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchproof.claims import judge

from .score import Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from benchproof.claims.ledger import Ledger
    from benchproof.claims.store import Run
    from benchproof.history.model import History

METER = "instructions"
#: A change that the search must find.
LEAST = 0.02


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
                if impl in finding.judged and finding.judged[impl].verdict == "reproduced"
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
