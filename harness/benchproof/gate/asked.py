"""What a person asks a gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchproof import meters
from benchproof.targets import IMPLEMENTATIONS

if TYPE_CHECKING:
    from benchproof.targets import Implementation


@dataclass(frozen=True)
class Asked:
    """What to hold against what, and how.

    Attributes:
        base: a commit, branch or tag.
        head: the same, or "." for the working tree.
        bench: expression that chooses benchmarks.
        meters: names of meters.
        impls: implementations.
        builds: how often each side is built; None for what the project set.
        budget: seconds for wall time; None for what the project set. Exact meters always finish.
        seed: of the order of processes and cases.
        quick: stop wall time after a few blocks.
        force: measure although both sides are the same build (an A/A gate).
        committed: measure HEAD although the working tree differs from it.
        profile: say for each regression where its instructions went.
    """

    base: str
    head: str
    bench: str = ""
    meters: tuple[str, ...] = tuple(meters.METERS)
    impls: tuple[Implementation, ...] = IMPLEMENTATIONS
    builds: int | None = None
    budget: float | None = None
    seed: int = 1
    quick: bool = False
    force: bool = False
    committed: bool = False
    profile: bool = True
