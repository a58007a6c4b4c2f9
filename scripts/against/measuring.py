"""How the sides are measured: the same answer first, then counts, then blocks of processes.

Every block has one process of each side, in random order, on one core: what the machine does to
one of them it does to its neighbours, and compiled code lies elsewhere in memory in each block. A
process gives one number for each operation, and a ratio is that of processes of one block
(`benchproof.stats`), as the gate has it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchproof import placement, stats
from benchproof.meters import allocations, instructions, wall
from benchproof.meters.counts import price_of

from .sides import ROOT, Side, SideError

if TYPE_CHECKING:
    from benchproof.meters.counts import Counts

#: Of each printed interval, for itself alone.
CONFIDENCE = 0.99

Tell = Callable[[str], None]


def agree(sides: Sequence[Side], tell: Tell) -> dict[str, dict[str, Any]]:
    """Let every side answer once; what they said.

    Raises:
        SideError: a side answers something else than the first.
    """
    said = {}
    for side in sides:
        tell(f"asking {side.name}")
        said[side.name] = side.run(side.command("answer"))
    first = said[sides[0].name]["digests"]
    for side in sides:
        digests = said[side.name]["digests"]
        asked = first.keys() & digests.keys() if side.is_partial else first.keys()
        wrong = [key for key in first if key in asked and digests.get(key) != first[key]]
        if wrong:
            raise SideError(f"{side.name} gives another answer: {', '.join(wrong)}")
    return said


def count(sides: Sequence[Side], said: dict[str, dict[str, Any]], tell: Tell) -> dict[str, Any]:
    """Instructions and allocations of a call, by side and operation."""
    found: dict[str, Any] = {}
    for side in sides:
        worked = said[side.name]["worked"]
        prices = {name: price_of(each) for name, each in worked.items()}
        found[side.name] = {}
        if not instructions.why_not():
            tell(f"counting instructions of {side.name}")
            counts = {name: instructions.plan(each) for name, each in prices.items()}
            found[side.name]["instructions"] = _counted(side, counts)
        if not allocations.why_not():
            tell(f"counting allocations of {side.name}")
            planned = {name: asdict(allocations.plan(each)) for name, each in prices.items()}
            command = side.command("allocate", counts=planned)
            found[side.name]["allocations"] = side.run(command, PYTHONHASHSEED="0")["numbers"]
    return found


def _counted(side: Side, counts: dict[str, Counts]) -> dict[str, float]:
    with TemporaryDirectory(prefix="against-") as scratch:
        folder = Path(scratch)
        asked = {name: asdict(each) for name, each in counts.items()}
        command = instructions.command(side.command("count", counts=asked), folder)
        dumps = side.run(command, PYTHONHASHSEED="0")["dumps"]
        read = {name: instructions.read(folder, each) for name, each in dumps.items()}
    return {name: counts[name].per_call(each) for name, each in read.items() if each}


def time(
    sides: Sequence[Side],
    said: dict[str, dict[str, Any]],
    blocks: int,
    core: int | None,
    tell: Tell,
    seed: int = 1,
) -> dict[str, dict[str, list[float]]]:
    """Seconds a call: by side and operation, a number for each block."""
    loops = {
        side.name: {name: wall.loops_for(each) for name, each in said[side.name]["seconds"].items()}
        for side in sides
    }
    drawn = random.Random(seed)
    found: dict[str, dict[str, list[float]]] = {side.name: {} for side in sides}
    others = {side.environment.get("PYTHONPATH", "") for side in sides} - {""}
    files = placement.compiled([str(ROOT / "driver"), *others])
    for block in range(blocks):
        tell(f"timing, block {block + 1} of {blocks}")
        placement.renew(files)
        hashes = str(drawn.randrange(1, 2**32))
        for side in drawn.sample(list(sides), len(sides)):
            command = side.command("time", loops=loops[side.name])
            numbers = side.run(command, core, PYTHONHASHSEED=hashes)["numbers"]
            for name, number in numbers.items():
                found[side.name].setdefault(name, []).append(number)
    return found


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> stats.Estimate:
    """How many times as long theirs takes, from paired processes."""
    return stats.paired_ratio(ours, theirs, CONFIDENCE)
