"""The document of a gate: what JSON holds, and what every other form is told from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchproof import accepted, meters, provenance, results, verdict
from benchproof.errors import COULD_NOT_MEASURE, NO_REGRESSION, REGRESSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchproof.bench import Bench
    from benchproof.plan import SideName
    from benchproof.settings import Settings
    from benchproof.targets import Implementation, Target
    from benchproof.toolchain import Toolchain

    from .asked import Asked

#: From 2 on there are trade-offs and suites with a verdict of their own, from 3 on grades of proof
#: and benchmarks that give a value.
KIND, SCHEMA = "gate", 3


def begin(
    asked: Asked, sides: Mapping[SideName, Target], settings: Settings, toolchain: Toolchain
) -> dict[str, Any]:
    """What is known before anything is measured; a document by itself, of a gate without cases."""
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "created": results.now(),
        "partial": False,
        "seed": asked.seed,
        "base": _commit(asked.base, sides["left"]),
        "head": _commit(asked.head, sides["right"]),
        "sides": {},
        "impls": list(asked.impls),
        "builds": asked.builds or settings.builds,
        "provenance": provenance.gather(toolchain),
        "settings": settings.describe(),
        "meters": {
            name: {
                "measured": False,
                "why": "not asked for" if name not in asked.meters else meters.why_not(name),
                "unit": meter.unit,
                "processes": 0,
            }
            for name, meter in meters.METERS.items()
            if meter.task != "value"
        },
        "cases": [],
        "suites": [],
        "excluded": [],
        "accepted": [],
        "trouble": [],
        "error_rates": None,
        "verdict": {},
    }


def _commit(text: str, target: Target) -> dict[str, Any]:
    """One side, whatever its implementation."""
    return {
        "spec": text, "commit": target.commit, "subject": target.subject, "dirty": target.dirty,
        "content": target.content,
    }  # fmt: skip


def tell_meters(document: dict[str, Any], blocks: int) -> None:
    """Say which meters gave numbers, and why one that was asked for did not."""
    document["meters"] |= meters.gave_values(document["cases"])
    for name, about in document["meters"].items():
        shown = name if meters.METERS[name].told_at_zero else "bytes"
        counted = any({name, shown} & row["meters"].keys() for row in document["cases"])
        if counted and about["why"] != "not asked for":
            about |= {"measured": True, "why": "", "processes": blocks if name == "wall" else 1}
        elif not about["why"]:
            about["why"] = "stopped before it" if document["partial"] else "no case was measured"


def thrown(benches: Mapping[Implementation, Bench]) -> list[dict[str, str | None]]:
    """Blocks of wall time that were thrown away, as excluded by name."""
    return [
        {"name": f"wall_time.block_{block + 1}", "impl": impl, "why": f"thrown away: {why}"}
        for impl, bench in benches.items()
        for block, why in sorted(bench.got.thrown.items())
    ]


def trouble(impl: str | None, why: str) -> dict[str, str | None]:
    """Something that kept the gate from measuring what it was asked to."""
    return {"impl": impl, "why": why}


def conclude(
    cases: Sequence[Mapping[str, Any]],
    entries: Sequence[Mapping[str, Any]],
    troubles: Sequence[Mapping[str, Any]],
    excluded: Sequence[Mapping[str, Any]],
    suites: Sequence[Mapping[str, Any]] = (),
    *,
    partial: bool,
    same: bool,
    trade_off: verdict.TradeOff = "pass",
    decide: str = "",
) -> dict[str, Any]:
    """The verdict: the policy's, unless something kept the gate from measuring.

    A regression that was seen is one whatever else went wrong.

    Args:
        cases: the rows.
        entries: accepted regressions, with their states.
        troubles: what went wrong.
        excluded: what was left out by name.
        suites: those with a verdict as a whole.
        partial: stopped before the end.
        same: both sides are the same build, so that there was nothing to measure.
        trade_off: whether one fails.
        decide: "all" if a case that is undecided fails.
    """
    found = verdict.judge_gate(
        cases, entries, suites, partial=partial, trade_off=trade_off, decide=decide
    )
    if same and not cases and not partial:
        void = [entry for entry in entries if entry["state"] in accepted.ERRORS]
        words = "same build: equivalent by construction (--force measures it anyway)"
        found = {"status": "no regression", "exit": NO_REGRESSION, "summary": words}
        if void:
            names = ", ".join(sorted({entry["state"] for entry in void}))
            found["summary"] += f"; {len(void)} accepted without effect ({names})"
            found |= {"status": "could not measure", "exit": COULD_NOT_MEASURE}
    if excluded:
        found["summary"] += f"; {len(excluded)} excluded by name"
    if troubles:
        lines = dict.fromkeys(each["why"].splitlines()[0] for each in troubles)
        found["summary"] = f"{'; '.join(lines)}; {found['summary']}"
        if found["exit"] != REGRESSION:
            found |= {"status": "could not measure", "exit": COULD_NOT_MEASURE}
    return found
