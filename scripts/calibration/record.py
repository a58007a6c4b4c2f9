"""Wall times of many processes, in blocks as the gate runs them: the raw material of `resample`.

A session is a run of blocks of two builds: the base against itself, or against a slowed one. Each
block keeps one number a process and case, with the time and the load. The two processes of a block
share a minute, and so they must in a resampled gate.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchproof import plan, results
from benchproof.meters import METERS
from benchproof.plan import SIDES
from calibration import gates
from calibration.pairs import proven

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchproof.bench import Bench
    from benchproof.suite import Case
    from calibration.kept import Kept
    from calibration.scene import Scene

EXACT = tuple(name for name, meter in METERS.items() if meter.exact)


@dataclass(frozen=True)
class Session:
    """What to record.

    Attributes:
        name: of the session; a session of that name goes on where it ended.
        head: the commit on the right.
        impl: of both sides.
        bench: the expression that chooses benchmarks; all of them without one.
        blocks: how many there should be.
        seed: of the order.
        about: what a reader must know of it, such as the sizes of slow-downs.
    """

    name: str
    head: str
    impl: str
    bench: str
    blocks: int
    seed: int
    about: dict[str, Any]


def record(scene: Scene, sessions: Sequence[Session], kept: Kept, *, chunk: int) -> None:
    """Record what is missing of some sessions, in turns, so that all of them see all hours.

    Args:
        scene: with the base.
        sessions: what to record.
        kept: gets a row a block, and one for each beginning of a chunk.
        chunk: blocks of a session that run one after the other.
    """
    have: dict[str, int] = {}
    for row in kept.rows():
        if "block" in row:
            have[row["session"]] = have.get(row["session"], 0) + 1
    chunks = []
    for first in range(0, max((each.blocks for each in sessions), default=0), chunk):
        chunks += [
            (each, first, min(first + chunk, each.blocks))
            for each in sessions
            if first < each.blocks and have.get(each.name, 0) < min(first + chunk, each.blocks)
        ]
    for session, first, end in scene.clock.steps("chunk of blocks", chunks):
        start = max(first, have.get(session.name, 0))
        pair = (scene.clone.base, session.head, session.impl)
        with proven(scene, pair, session.bench) as (bench, cases):
            kept.add(scene.stamp | _beginning(session, bench, cases, scene.clone.base))
            blocks = plan.blocks(session.seed)
            for block in blocks:
                if block.index >= end:
                    break
                if block.index < start:
                    continue
                scene.tell.stage(f"{session.name}, block {block.index + 1} of {session.blocks}")
                kept.add(_one_block(bench, block, cases, session.name))


def _beginning(session: Session, bench: Bench, cases: Sequence[Case], base: str) -> dict[str, Any]:
    """The row before the blocks of a chunk: the order of the numbers in them."""
    return {
        "session": session.name, "at": results.now(), "base": base, "head": session.head,
        "impl": session.impl, "seed": session.seed, "about": session.about,
        "wheels": [bench.sides[side].wheel_sha256[:16] for side in SIDES],
        "cases": [case.name for case in cases],
        "loops": [bench.got.loops[case.name].wall for case in cases],
    }  # fmt: skip


def _one_block(bench: Bench, block: plan.Block, cases: Sequence[Case], name: str) -> dict[str, Any]:
    """Time a block, and forget it in the bench: a session has more blocks than a gate."""
    at = time.time()
    seconds = bench.time_block(block, cases)
    row: dict[str, Any] = {
        "session": name, "block": block.index, "at": round(at, 1), "seconds": round(seconds, 3),
        "load": round(os.getloadavg()[0], 2), "first": block.sides[0],
    }  # fmt: skip
    numbers = [bench.got.numbers("wall", case.name) for case in cases]
    bench.got.values.pop("wall", None)
    for side, column in zip(SIDES, zip(*numbers, strict=True), strict=True):
        # Of four digits, a ratio could be off by a thousandth.
        row[side] = [float(f"{each[0]:.5g}") if each else None for each in column]
    return row


def exact_again(scene: Scene, impls: Sequence[str], kept: Kept, *, runs: int, bench: str) -> None:
    """Count the same wheel on both sides, again and again: exact meters must never differ."""
    have = len(kept.rows())
    todo = [(number, impl) for number in range(runs) for impl in impls][have:]
    for number, impl in scene.clock.steps("exact count", todo, have):
        ask = gates.Ask(
            scene.clone.base, scene.clone.base, bench, EXACT, impls=(impl,), seed=number
        )
        started = time.time()
        document = gates.run(ask, scene)
        kept.add(scene.stamp | {
            "number": number, "impl": impl, "base": scene.clone.base,
            **gates.kept(document, started),
        })  # fmt: skip


def about(slowed: Sequence[Any]) -> dict[str, Any]:
    """What a session keeps of slowed sites."""
    return {"sites": [asdict(each) for each in slowed]}
