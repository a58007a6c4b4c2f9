"""Real A/A gates, end to end: the same commit on both sides, or one that changes only text."""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from calibration import gates, neutral

if TYPE_CHECKING:
    from calibration.clone import Clone
    from calibration.kept import Kept
    from calibration.scene import Scene

#: Neutral edits of one commit: one to three.
MOST_EDITS = 3


def same(number: int, clone: Clone, seed: int) -> tuple[str, list[str]]:
    """The base itself: the same wheel on both sides."""
    del number, seed
    return clone.base, []


def neutral_commit(number: int, clone: Clone, seed: int) -> tuple[str, list[str]]:
    """A commit of neutral edits: every kind in its turn, and others beside it."""
    rng = Random(f"{seed} {number} neutral")
    kinds = [neutral.KINDS[number % len(neutral.KINDS)]]
    kinds += rng.choices(neutral.KINDS, k=rng.randint(0, MOST_EDITS - 1))
    sources: dict[str, str] = {}
    told = []
    for kind in kinds:
        edit = neutral.edit(clone, kind, rng, sources)
        sources[edit.file] = edit.text
        told.append(f"{edit.kind} in {edit.file}: {edit.what}")
    return clone.commit(sources, f"Nothing but text, {seed}.{number}"), told


KINDS = {"same": same, "neutral": neutral_commit}


def run(
    kind: str, scene: Scene, kept: Kept, like: gates.Ask, *, runs: int, seed: int,
    scheduler: str = "",
) -> None:  # fmt: skip
    """Run the gates that are missing.

    Args:
        kind: of KINDS.
        scene: with the base.
        kept: gets a row a gate.
        like: the gate to ask for, but for its sides and seed.
        runs: gates that there should be.
        seed: of the edits and of the gates' orders.
        scheduler: address of dask's, whose workers run a gate each; "": this machine does.
    """
    clone = scene.clone
    todo = kept.missing(runs, like.meters, kind=kind, seed=seed, policy=scene.stamp["policy"])

    def draw(number: int) -> tuple[dict[str, Any], gates.Ask]:
        """What is noted of a gate before it runs; and the gate."""
        commit, edits = KINDS[kind](number, clone, seed)
        about = {"kind": kind, "seed": seed, "number": number, "asked": like.meters,
                 "base": clone.base, "commit": commit, "edits": edits}  # fmt: skip
        return about, replace(like, base=clone.base, head=commit, seed=seed * 1000 + number)

    if scheduler:
        drawn = [draw(number) for number in todo]
        for which, row in gates.spread([ask for _, ask in drawn], scene, scheduler):
            kept.add(scene.stamp | drawn[which][0] | row)
        return
    for number in scene.clock.steps(f"{kind} gate", todo, runs - len(todo)):
        about, ask = draw(number)
        started = time.time()
        kept.add(scene.stamp | about | gates.kept(gates.run(ask, scene), started))
