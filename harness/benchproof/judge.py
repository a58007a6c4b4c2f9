"""The judge: from the samples of a comparison to its document; it measures nothing, reads no clock.

The document is what JSON holds, and what every other form is told from (docs/gate.md,
schema.json).
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from . import accepted, analysers, controls, families, meters, suite, verdict
from .errors import COULD_NOT_MEASURE, NO_REGRESSION, REGRESSION
from .meters import METERS
from .plan import SIDES
from .settings import BEYOND_PLACE
from .unmeasured import Unmeasured

if TYPE_CHECKING:
    from .collected import Collected, Sampled, Samples
    from .suite import Case

#: From 4 on it is one for all variants and all commands; before, `compare` wrote one for each
#: implementation, and `gate` its own kind. From 3 on there are grades of proof and benchmarks that
#: give a value, from 2 on trade-offs and suites with a verdict of their own.
KIND, SCHEMA = "comparison", 4
#: Why a case has no number where nothing is wrong with it.
_NOT_REACHED = ("it was not reached", "no meter finished")
#: What is noted of a case whose answers were compared by the tool, and are not the same.
DIFFERENT = "the two sides give different answers"
#: What a meter says that nobody asked for.
NOT_ASKED_FOR = "not asked for"


def document(samples: Samples) -> dict[str, Any]:
    """Judge a comparison."""
    settings = samples.settings
    rows = [row for each in samples.variants for row in cases_of(samples, each)]
    today, known = dt.date.fromisoformat(samples.about["created"][:10]), _acceptable(samples.known)
    # What somebody accepted of a case is no part of its suite.
    accepted.apply(samples.entries, rows, today, known)
    whole = families.judge(rows, settings)
    held = [
        controls.judged(each.control, row) for each in samples.controls
        if each.control in controls.MUST for row in cases_of(samples, each)
    ]  # fmt: skip
    found = samples.about | {
        "partial": samples.partial,
        "sides": {each.name: each.sides for each in samples.variants if each.sides},
        "settings": settings.describe(),
        "cases": rows,
        "suites": whole,
        "accepted": accepted.apply(samples.entries, [*rows, *whole], today, known),
        "excluded": [*samples.about["excluded"], *_thrown(samples)],
        "controls": held,
        "trouble": [*samples.about["trouble"], *controls.trouble(held)],
    }
    if len(samples.variants) == 1:
        found |= samples.variants[0].sides
    found["meters"] = _meters(samples, rows)
    times = {each.name: times_of(each.got, each.cases) for each in samples.variants}
    found["warnings"] = analysers.warnings(samples, times)
    found["verdict"] = _conclude(samples, found)
    return found


def _acceptable(known: Sequence[str]) -> set[str]:
    """What an entry of accepted.toml may name: benchmarks, and suites judged as a whole."""
    suites = Counter(suite.parts(re.split(r"[(\[]", name)[0])[0] for name in known)
    return {*known, *(name for name, number in suites.items() if number >= families.FEWEST)}


def _thrown(samples: Samples) -> list[dict[str, str | None]]:
    """Blocks of wall time that were thrown away, as excluded by name."""
    return [
        {"name": f"wall_time.block_{block + 1}", "impl": each.name, "why": f"thrown away: {why}"}
        for each in samples.variants
        for block, why in sorted(each.got.thrown.items())
    ]


def _meters(samples: Samples, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Which meters gave numbers, and why one that was asked for did not."""
    found = {name: dict(about) for name, about in samples.about["meters"].items()}
    blocks = max((each.got.blocks for each in samples.variants), default=0)
    for name, about in found.items():
        shown = name if METERS[name].told_at_zero else "bytes"
        counted = any({name, shown} & row["meters"].keys() for row in rows)
        if counted and about["why"] != NOT_ASKED_FOR:
            about |= {"measured": True, "why": "", "processes": blocks if name == "wall" else 1}
        elif not about["why"]:
            untimed = name == "wall" and any(each.got.untimed for each in samples.variants)
            about["why"] = (
                "stopped before it" if samples.partial
                else "nothing to decide: both sides do the same work by every exact meter"
                if untimed else "no case was measured"
            )  # fmt: skip
    return found | meters.gave_values(rows)


def _conclude(samples: Samples, found: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict: the policy's, unless something kept the comparison from measuring.

    A regression that was seen is one whatever else went wrong.
    """
    settings, entries = samples.settings, found["accepted"]
    said = verdict.judge_gate(
        found["cases"], entries, found["suites"], partial=samples.partial,
        trade_off=settings.trade_off, decide=settings.decide,
    )  # fmt: skip
    same = all(each.same for each in samples.variants)
    if same and not found["cases"] and not samples.partial:
        void = [entry for entry in entries if entry["state"] in accepted.ERRORS]
        words = "same build: equivalent by construction (--force measures it anyway)"
        said = {"status": "no regression", "exit": NO_REGRESSION, "summary": words}
        if void:
            names = ", ".join(sorted({entry["state"] for entry in void}))
            said["summary"] += f"; {len(void)} accepted without effect ({names})"
            said |= {"status": "could not measure", "exit": COULD_NOT_MEASURE}
    if found["excluded"]:
        said["summary"] += f"; {len(found['excluded'])} excluded by name"
    if found["trouble"]:
        lines = dict.fromkeys(each["why"].splitlines()[0] for each in found["trouble"])
        said["summary"] = f"{'; '.join(lines)}; {said['summary']}"
        if said["exit"] != REGRESSION:
            said |= {"status": "could not measure", "exit": COULD_NOT_MEASURE}
    return Unmeasured(**found["unmeasured"]).qualify(said)


def cases_of(samples: Samples, each: Sampled) -> list[dict[str, Any]]:
    """The rows of a variant: every case with its status, proof, meters, verdict."""
    # All times share one error budget.
    times = times_of(each.got, each.cases, ("wall", *verdict.BESIDE))
    judged = verdict.judge_wall(times, samples.settings, looks=each.looks)
    for again in samples.controls:
        if (again.control, again.name) == (controls.ELSEWHERE, each.name):
            numbers = times_of(again.got, again.cases)
            other = verdict.judge_wall(numbers, BEYOND_PLACE, looks=again.looks)
            for name in judged.keys() & other.keys():
                judged[name]["elsewhere"] = other[name]
    rows = [_row(samples, each, case, judged) for case in each.cases]
    # Of one that was stopped, those that say something.
    return [row for row in rows if not samples.partial or row["why"] not in _NOT_REACHED]


def times_of(
    got: Collected, cases: Sequence[Case], meters: Iterable[str] = ("wall",)
) -> dict[str, tuple[list[float], list[float]]]:
    """By case, as `verdict.judge_wall` calls it, one number a process: left and right, paired."""
    return {
        case.name + verdict.BESIDE.get(meter, ""): numbers
        for meter in meters for case in cases
        if (numbers := got.numbers(meter, case.name))[0]
    }  # fmt: skip


def _row(
    samples: Samples, each: Sampled, case: Case, times: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """One case."""
    got, asked = each.got, samples.about["asked"]
    status, why = status_of(got, case)
    answers = _answers(got, case)
    row: dict[str, Any] = {
        "name": case.name, "suite": case.suite, "case": case.case, "version": case.version,
        "pretty_name": case.pretty_name, "part_of": case.part_of, "impl": each.name,
        "status": status, "why": why,
        "proof": {side: answer.get("proof") for side, answer in answers},
        "grade": grade_of(answers),
        "loops": asdict(got.loops[case.name]) if case.name in got.loops else None,
        "meters": {}, "verdict": None, "note": "", "accepted": None,
        "profile": each.profiles.get(case.name),
    }  # fmt: skip
    if status != "measured":
        return row
    for meter, about in METERS.items():
        if meter not in asked and about.task in meters.ALWAYS:
            continue
        if not about.exact:
            if timed := times.get(case.name + verdict.BESIDE.get(meter, "")):
                row["meters"][meter] = timed
            continue
        left, right = got.numbers(meter, case.name)
        if left and (about.told_at_zero or any((*left, *right)) or len(asked) == 1):
            limit = samples.settings.limit(meter, case.name)
            row["meters"][meter] = verdict.judge_exact(meter, left, right, limit)
            if about.task == "value":
                row["meters"][meter]["unit"] = case.unit
    if row["meters"]:
        row["verdict"], note = verdict.judge_case(row["meters"])
        told = [note, got.untimed.get(case.name)]
        if _differ(answers) and not case.answers_may_differ:
            told.append(DIFFERENT)
        if row["verdict"] == "changed":
            told.append("whether more is better only the benchmark knows")
        row["note"] = "; ".join(filter(None, told))
    else:
        row["status"], row["why"] = "error", _NOT_REACHED[1]
    return row


def _answers(got: Collected, case: Case) -> Answers:
    """What both sides' proving workers said of a case."""
    return [(side, got.proofs.get(side, {}).get(case.name, {})) for side in SIDES]


def has_numbers(got: Collected, cases: Sequence[Case]) -> bool:
    """Whether any meter has a number of both sides of any case."""
    return any(got.paired(meter, case.name) for case in cases for meter in METERS)


def status_of(got: Collected, case: Case) -> tuple[str, str]:
    """Whether a case may be measured, and if not, why, with the side that says so."""
    answers = _answers(got, case)
    for key, status in (("absent", "not applicable"), ("refused", "proof failed"),
                        ("error", "error")):  # fmt: skip
        for side, answer in answers:
            if key in answer:
                return status, f"{side}: {answer[key]}"
    if not all("proof" in answer for _, answer in answers):
        return "error", _NOT_REACHED[0]
    if grade_of(answers) == "proved" and _differ(answers) and not case.answers_may_differ:
        digests = [answer["proof"]["digest"][:12] for _, answer in answers]
        return "different answers", f"digests {digests[0]} and {digests[1]}"
    if case.name in got.failures:
        return "error", got.failures[case.name]
    return "measured", ""


#: What is known of the files that a case ran, the least first: nothing, what the tool saw, what
#: the case's own `prove` says.
GRADES = ("unseen", "witnessed", "proved")
Answers = Sequence[tuple[str, Mapping[str, Any]]]


def grade_of(answers: Answers) -> str | None:
    """The lesser grade of both sides' proofs; None where one has none."""
    grades = [(answer.get("proof") or {}).get("grade", "") for _, answer in answers]
    return min(grades, key=GRADES.index) if all(each in GRADES for each in grades) else None


def _differ(answers: Answers) -> bool:
    """Whether both sides answered, and not the same."""
    left, right = ((answer.get("proof") or {}).get("digest") for _, answer in answers)
    return bool(left and right and left != right)
