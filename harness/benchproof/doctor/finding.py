"""What the doctor finds: a fact about this machine, what it costs, what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "degraded", "missing"]

#: What a finding can affect beside meters: everything, or one half of `benchproof run`.
MAIN_JOB = "everything"
COMPILED = "compiled against pure"
COMMITS = "commit against commit"


@dataclass(frozen=True)
class Finding:
    """One fact.

    Attributes:
        name: What was looked at.
        state: ``ok``; ``degraded`` (it measures, but worse than it could); ``missing``.
        detail: What was found.
        remedy: What to do about it; empty if there is nothing to do.
        affects: Meters (``wall``, ``instructions``, ``allocations``, ``bytes``) or parts of
            `benchproof run` that suffer; empty if ``state`` is ``ok``.
    """

    name: str
    state: State
    detail: str
    remedy: str = ""
    affects: tuple[str, ...] = ()

    @property
    def stops_the_main_job(self) -> bool:
        """Whether ``benchproof run`` can't run because of this."""
        return self.state == "missing" and MAIN_JOB in self.affects


def ok(name: str, detail: str) -> Finding:
    """Nothing to do."""
    return Finding(name, "ok", detail)


def degraded(name: str, detail: str, remedy: str, *affects: str) -> Finding:
    """It measures, but worse than it could."""
    return Finding(name, "degraded", detail, remedy, affects)


def missing(name: str, detail: str, remedy: str, *affects: str) -> Finding:
    """It does not measure."""
    return Finding(name, "missing", detail, remedy, affects)
