"""A bare instruction count: callgrind around one loop of each case, one process, a fixed limit.

As a project does it that has ten lines for it: the start of the interpreter is left out, the hash
seed and the addresses are fixed, but there is no second loop count, no second layout, and no round
with other boundaries.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from benchproof.errors import WorkerError
from benchproof.meters import instructions
from benchproof.plan import SIDES
from calibration.others import one_case
from calibration.others.sides import SCRIPT, both

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchproof.plan import SideName
    from calibration.others.sides import Sides
    from calibration.pairs import Pair
    from calibration.scene import Scene

#: A change of more than this is one: what such scripts use, and what the gate uses.
LIMITS = {"1 %": 0.01, "0.3 %": 0.003}
SETTINGS = "callgrind around one loop, hash seed and addresses fixed"


def measure(scene: Scene, pair: Pair, names: Sequence[str]) -> list[dict[str, Any]]:
    """Count both sides; by case, both counts.

    Raises:
        WorkerError: a side could not be counted.
    """
    with both(scene, pair, names) as sides:
        scene.tell.stage(f"bare count of {len(sides.cases)} benchmarks")
        counted = {side: _count(sides, side) for side in SIDES}
    left, right = (counted[side] for side in SIDES)
    return [
        {"target": name, "impl": pair[2], "left": left[name], "right": right[name]}
        for name in left.keys() & right.keys()
    ]  # fmt: skip


def says(row: dict[str, Any]) -> dict[str, str]:
    """The verdict of a counted case, by limit."""
    change = row["right"] / row["left"] - 1
    return {
        rule: "regressed" if change > limit else "improved" if change < -limit else "equivalent"
        for rule, limit in LIMITS.items()
    }


def _count(sides: Sides, side: SideName) -> dict[str, float]:
    """Instructions a call of each case on one side."""
    names = list(sides.cases)
    request = sides.request(side, "count", names)
    folder: Path = sides.bench.scratch / f"bare-{'ab'[side == 'right']}"
    folder.mkdir(parents=True)
    python = [sys.executable, "-P", str(SCRIPT)]
    child = sides.bench.crew.start(
        instructions.command(python, folder, from_start=True),
        log=folder / "worker.log", cwd=folder,
        env=sides.environment(side) | {one_case.REQUEST: json.dumps(request)},
    )  # fmt: skip
    ended = sides.bench.crew.wait(child)
    if ended.status:
        raise WorkerError(f"the bare count of the {side} side failed: {ended.last_lines(1)}")
    calls = {row["name"]: row["calls"] for row in request["cases"]}
    totals = {name: instructions.read_dump(folder, index) for index, name in enumerate(names, 1)}
    return {name: total / calls[name] for name, total in totals.items() if total is not None}
