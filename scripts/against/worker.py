"""One process of one driver: answers, rough times, values of wall time, counts.

Started as a module with a request (JSON) as its argument: ``{"driver": "ours" | "theirs" |
"limits", "task": ..., "loops": {...}, "counts": {...}}``. Prints JSON.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchproof.meters import allocations, instructions, wall
from benchproof.meters.counts import Counts

from . import operations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def main(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Do the task for each operation."""
    name = asked["driver"]
    driver: Any = getattr(import_module(f".{name}", __package__), name.capitalize())()
    all_of_them = driver.operations() if name == "limits" else operations.of(driver)
    found = [each for each in all_of_them if asked["only"] in each.name]
    return TASKS[asked["task"]](found, asked) | {"name": driver.name, "modules": driver.modules()}


def answer(found: Sequence[operations.Operation], _: Mapping[str, Any]) -> dict[str, Any]:
    """What each operation gives, by its hash, how long it takes and the processor with it."""
    digests = {
        each.name: hashlib.sha256(json.dumps(each.answer(each.call())).encode()).hexdigest()
        for each in found
    }
    rough = {each.name: wall.calibrate(each.call) for each in found}
    return {
        "digests": digests,
        "seconds": {name: seconds for name, (seconds, _) in rough.items()},
        "worked": {name: worked for name, (_, worked) in rough.items()},
    }


def time(found: Sequence[operations.Operation], asked: Mapping[str, Any]) -> dict[str, Any]:
    """One number for each operation: seconds a call."""
    loops = asked["loops"]
    numbers = {each.name: wall.number(wall.measure(each.call, loops[each.name])) for each in found}
    return {"numbers": numbers}


def count(found: Sequence[operations.Operation], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Under callgrind: the dumps of both loops of each operation."""
    counts = {name: Counts(**each) for name, each in asked["counts"].items()}
    return {
        "dumps": {each.name: instructions.measure(each.call, counts[each.name]) for each in found}
    }


def allocate(found: Sequence[operations.Operation], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Allocations of a call."""
    counts = {name: Counts(**each) for name, each in asked["counts"].items()}
    numbers = {each.name: allocations.measure(each.call, counts[each.name])[0] for each in found}
    return {"numbers": numbers}


TASKS = {"answer": answer, "time": time, "count": count, "allocate": allocate}

if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
