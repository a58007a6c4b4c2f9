"""The results file of a comparison (JSON), and its raw wall samples (pyperf JSON)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyperf

from . import files, verdict
from .errors import told
from .meters import METERS, wall
from .plan import SIDES

if TYPE_CHECKING:
    from pathlib import Path

    from .bench import Bench
    from .build import Built
    from .settings import Settings
    from .suite import Case
    from .targets import Target
    from .verdict import Looks

#: From 2 on there are trade-offs and suites with a verdict of their own, from 3 on grades of proof
#: and benchmarks that give a value.
SCHEMA = 3
#: Behind a case's name where its processor time is judged among the wall times.
_PROCESSOR = ", processor time"
#: Why a case has no number where nothing is wrong with it.
_NOT_REACHED = ("it was not reached", "no meter finished")


def now() -> str:
    """This second, as ISO 8601 in UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def describe(target: Target, built: Built | None) -> dict[str, Any]:
    """One side, as the results file describes it; None: it needed no build to know its answer."""
    impl = built.impl if built else target.spec.impl
    return {
        "spec": target.spec.text,
        "commit": target.commit,
        "subject": target.subject,
        "dirty": target.dirty,
        "impl": impl,
        "content": target.content,
        "wheel_sha256": built.wheel_sha256 if built else None,
        "description": f"{target.description} [{impl}]" if impl else target.description,
        "why_pure": built.why_pure if built else "",
    }


def judge(
    bench: Bench,
    cases: Sequence[Case],
    wanted: Sequence[str],
    settings: Settings | None = None,
    looks: Looks | None = None,
) -> list[dict[str, Any]]:
    """The rows of a results file: every case with its status, proof, wanted meters, verdict.

    Args:
        bench: with what workers answered.
        cases: in the order of the rows.
        wanted: names of meters.
        settings: limits and error budget, if not the defaults.
        looks: what earlier looks at wall time have spent.
    """
    # All times share one error budget.
    times = wall_numbers(bench, cases) | {
        name + _PROCESSOR: pair for name, pair in processor_numbers(bench, cases).items()
    }
    judged = verdict.judge_wall(times, settings, looks=looks)
    return [_row(bench, case, judged, wanted, settings) for case in cases]


def wall_numbers(bench: Bench, cases: Sequence[Case]) -> dict[str, tuple[list[float], list[float]]]:
    """By case, one number a process: left and right, paired by block."""
    numbers = {}
    for case in cases:
        taken = bench.paired(case.name)
        left, right = (
            [wall.number(bench.got.walls[side][case.name][block]) for block in taken]
            for side in SIDES
        )
        numbers[case.name] = (left, right)
    return numbers


def processor_numbers(
    bench: Bench, cases: Sequence[Case]
) -> dict[str, tuple[list[float], list[float]]]:
    """The same of processor time, which whole commands have."""
    found = {}
    for case in cases:
        left, right = (bench.got.processor[side].get(case.name, {}) for side in SIDES)
        both = sorted(left.keys() & right.keys())
        if both:
            found[case.name] = ([left[at] for at in both], [right[at] for at in both])
    return found


def _row(
    bench: Bench,
    case: Case,
    times: Mapping[str, dict[str, Any]],
    wanted: Sequence[str],
    settings: Settings | None,
) -> dict[str, Any]:
    """One case."""
    status, why = status_of(bench, case)
    answers = [(side, bench.got.proofs.get(side, {}).get(case.name, {})) for side in SIDES]
    row: dict[str, Any] = {
        "name": case.name, "suite": case.suite, "case": case.case, "version": case.version,
        "part_of": case.part_of, "status": status, "why": why,
        "proof": {side: answer.get("proof") for side, answer in answers},
        "grade": grade_of(answers),
        "loops": asdict(bench.got.loops[case.name]) if case.name in bench.got.loops else None,
        "meters": {}, "verdict": None, "note": "",
    }  # fmt: skip
    if status != "measured":
        return row
    for meter in wanted:
        if meter == "wall" and case.name in times:
            row["meters"][meter] = times[case.name]
        if meter == "processor" and case.name + _PROCESSOR in times:
            row["meters"][meter] = times[case.name + _PROCESSOR]
        left, right = bench.got.counted(meter, case.name)
        if left and (METERS[meter].told_at_zero or any((*left, *right)) or len(wanted) == 1):
            limit = settings.limit(meter, case.name) if settings else None
            row["meters"][meter] = verdict.judge_exact(meter, left, right, limit)
            if METERS[meter].task == "value":
                row["meters"][meter]["unit"] = case.unit
    if row["meters"]:
        row["verdict"], note = verdict.judge_case(row["meters"])
        told = [note, bench.got.untimed.get(case.name)]
        if _differ(answers) and not case.answers_may_differ:
            told.append("the two sides give different answers")
        if row["verdict"] == "changed":
            told.append("whether more is better only the benchmark knows")
        row["note"] = "; ".join(filter(None, told))
    else:
        row["status"], row["why"] = "error", _NOT_REACHED[1]
    return row


def has_numbers(bench: Bench, cases: Sequence[Case]) -> bool:
    """Whether any meter has a number of both sides of any case."""
    exact = [name for name, meter in METERS.items() if meter.exact]
    return any(
        bench.paired(case.name) or any(bench.got.counted(meter, case.name)[0] for meter in exact)
        for case in cases
    )


def reached(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a run that was stopped, the rows that say something; the others were not reached."""
    return [row for row in rows if row["why"] not in _NOT_REACHED]


def status_of(bench: Bench, case: Case) -> tuple[str, str]:
    """Whether a case may be measured, and if not, why, with the side that says so."""
    answers = [(side, bench.got.proofs.get(side, {}).get(case.name, {})) for side in SIDES]
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
    if case.name in bench.got.failures:
        return "error", bench.got.failures[case.name]
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


def write_json(document: Mapping[str, Any], file: Path) -> None:
    """Write a results file as one step: a reader never sees half of it.

    Raises:
        BenchproofError: it cannot be written.
    """
    files.write_json(document, file)


def raw_files(file: Path) -> dict[str, Path]:
    """Where the raw wall samples of a results file go."""
    stem = file.name.removesuffix(".json")
    return {side: file.with_name(f"{stem}.{side}.pyperf.json.gz") for side in SIDES}


def write_raw(bench: Bench, document: Mapping[str, Any], file: Path) -> list[Path]:
    """Write both sides' wall samples as pyperf JSON: one run a process, all of its values.

    Raises:
        BenchproofError: they cannot be written.
    """
    written = []
    for side, path in zip(SIDES, raw_files(file).values(), strict=True):
        benchmarks = [
            _benchmark(bench, name, bench.got.walls[side][name], document[side])
            for name in sorted(bench.got.walls[side])
            if bench.paired(name)
        ]
        if not benchmarks:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            pyperf.BenchmarkSuite(benchmarks).dump(str(path), replace=True)
        except OSError as error:
            raise told(error) from error
        written.append(path)
    return written


def _benchmark(
    bench: Bench, name: str, taken: Mapping[int, Sequence[float]], side: Mapping[str, Any]
) -> Any:  # noqa: ANN401  (pyperf is not typed)
    """The processes of one case and side."""
    about = {
        "name": name,
        "unit": "second",
        "loops": bench.got.loops[name].wall,
        "inner_loops": 1,
        "benchproof_side": side["description"],
        "benchproof_commit": side["commit"] or "none",
        "benchproof_impl": side["impl"],
        "benchproof_wheel": side["wheel_sha256"],
    }
    if bench.core is not None:
        about["cpu_affinity"] = str(bench.core)
    runs = [
        pyperf.Run(
            taken[block],
            metadata=about | {"benchproof_block": block},
            collect_metadata=False,
        )
        for block in bench.paired(name)
    ]
    return pyperf.Benchmark(runs)
