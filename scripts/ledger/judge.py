"""Ledger and measured runs become findings: a verdict for each figure, the runs of each row.

Of a sum of rows that no two commits show alone, each row is measured against its own parent on the
benchmark of the sum: ratios are multiplied, and what went away is added up. The ends of the
intervals are multiplied too, which is wider than need be.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import policy
from .figures import IMPLS, METRICS
from .store import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .figures import Figure, Impl, Ledger, Row
    from .policy import Verdict


Meters = dict[str, dict[str, Any]]


def compose(row: Row, expressions: Iterable[str], runs: Sequence[Run], impl: Impl) -> Run | None:
    """The run of a sum, made of the runs of its rows; None if none of those is kept.

    Args:
        row: the sum.
        expressions: of the benchmarks that its figures name.
        runs: of all rows, later ones count.
        impl: of the runs.

    Returns:
        A run without commits of its own. Its `why` says which row is missing; rows that were taken
        back are left out, and rows of the same build on both sides change nothing.
    """
    parts: dict[int, Run] = {}
    missing = []
    for name in row.of:
        found = [run for run in runs if name in run.rows and run.impl == impl]
        if not found:
            missing.append(f"{name}: no result is kept for it")
        elif found[-1].why:
            missing.append(f"{name}: {found[-1].why}")
        elif not found[-1].taken_back:
            parts[id(found[-1])] = found[-1]
    if not parts:
        return None
    blank = Run((row.id,), impl, "", "")
    cases = []
    for expression in dict.fromkeys(expressions):
        chosen, lacking = _cases(expression, parts.values())
        missing += lacking
        if chosen:
            cases.append(chosen[0] | {"meters": _together([case["meters"] for case in chosen])})
    if missing:
        return replace(blank, why=f"not every row of it: {missing[0]}")
    if not cases:
        return None
    documents = [part.document for part in parts.values()]
    document = documents[-1] | {"cases": cases, "composed": len(parts)}
    return replace(blank, document=document, quick=any(part.quick for part in parts.values()))


def _cases(expression: str, parts: Iterable[Run]) -> tuple[list[dict[str, Any]], list[str]]:
    """A benchmark's measured case in each run, and what is missing."""
    chosen, missing = [], []
    for part in parts:
        cases = part.document["cases"]
        case = next((each for each in cases if re.fullmatch(expression, each["name"])), None)
        if case is not None and case["status"] == "measured":
            chosen.append({key: case[key] for key in ("name", "suite", "case", "status", "why")}
                          | {"meters": case["meters"]})  # fmt: skip
        elif case is not None:
            missing.append(f"{part.rows[0]}: {case['why'] or case['status']}")
        elif cases:
            missing.append(f"{part.rows[0]}: {expression} was not measured")
    return chosen, missing


def _together(each: Sequence[Mapping[str, Any]]) -> Meters:
    """The meters that all of them have: ratios multiplied, differences added."""
    names = [name for name in each[0] if all(name in meters for meters in each)]
    return {name: _product([meters[name] for meters in each]) for name in names}


def _product(meters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One meter of all rows, as if they had been one change."""
    saved = sum(meter["left"] - meter["right"] for meter in meters)
    found = dict(meters[0]) | {"right": meters[0]["left"] - saved}
    for key in ("ratio", "low", "high"):
        factors = [meter[key] for meter in meters]
        found[key] = None if None in factors else math.prod(factors)
    return found | {key: max(meter[key] for meter in meters) for key in ("limit", "detectable")}


@dataclass(frozen=True)
class Judgement:
    """One figure in one implementation.

    Attributes:
        verdict: see `policy`.
        why: the reason, or what else is to be said, or "".
        by: the meter that gave the verdict, or "".
        meters: of its case, as the results file has them, and ``calls``; empty if not measured.
    """

    verdict: Verdict
    why: str = ""
    by: str = ""
    meters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """One figure of the ledger, judged.

    Attributes:
        figure: what is claimed.
        verdict: the one that counts.
        why: its reason, or "".
        judged: by implementation.
    """

    figure: Figure
    verdict: Verdict
    why: str
    judged: Mapping[Impl, Judgement]

    @property
    def counts(self) -> bool:
        """Whether it is in the totals."""
        return self.verdict not in policy.UNCOUNTED


@dataclass(frozen=True)
class RowFindings:
    """One row of the ledger, with what was found.

    Attributes:
        row: of the ledger.
        findings: of its figures.
        runs: its measured runs, by implementation.
        why: why there is none, or "".
    """

    row: Row
    findings: tuple[Finding, ...]
    runs: Mapping[Impl, Run]
    why: str

    @property
    def also(self) -> list[tuple[str, Impl, Mapping[str, Any]]]:
        """Measured without a figure: benchmark, implementation, meters."""
        return [
            (case["name"], impl, case["meters"])
            for impl, run in self.runs.items()
            for case in run.document.get("cases", [])
            if any(re.fullmatch(expression, case["name"]) for expression in self.row.also)
        ]


def judge(
    ledger: Ledger, runs: Sequence[Run], rows: Sequence[str], reasons: Mapping[str, str]
) -> list[RowFindings]:
    """Judge the figures of some rows.

    Args:
        ledger: what is claimed.
        runs: what was measured; of two of the same row and implementation the later one counts.
        rows: the rows to judge, in order.
        reasons: why a row has no run, where that is known.
    """
    return [_row(ledger, runs, row, reasons.get(row, "")) for row in rows]


def _row(ledger: Ledger, runs: Sequence[Run], row: str, reason: str) -> RowFindings:
    mine: dict[Impl, Run] = {}
    for impl in IMPLS:
        found = [run for run in runs if row in run.rows and run.impl == impl]
        if found:
            mine[impl] = found[-1]
    if not mine and not reason and ledger.rows[row].of:
        expressions = ledger.benchmarks([row])
        made = {impl: compose(ledger.rows[row], expressions, runs, impl) for impl in IMPLS}
        mine = {impl: run for impl, run in made.items() if run is not None}
    asked_for = ledger.benchmarks([row])
    # A row that asks for no benchmark waits for no commit.
    why = (reason or "no result is kept for it") if asked_for and not mine else ""
    findings = tuple(_finding(figure, mine, why) for figure in ledger.of_row(row))
    return RowFindings(ledger.rows[row], findings, mine, why)


def _finding(figure: Figure, runs: Mapping[Impl, Run], why: str) -> Finding:
    """A figure's verdict: of the implementation that it is about, or the worse one of both.

    What the ledger says of a figure itself goes before; what was measured is shown beside it.
    """
    if figure.ends_of:
        return Finding(figure, "judged case by case", "", {})
    found = _measured(figure, runs, why)
    if why and found.verdict == "not measured":
        return found
    if figure.table.page.technique:
        return Finding(figure, "technique, not claim", "", found.judged)
    if figure.not_exercised:
        return Finding(figure, "not exercised", figure.not_exercised, found.judged)
    return found


def _measured(figure: Figure, runs: Mapping[Impl, Run], why: str) -> Finding:
    """A figure's verdict by what was measured."""
    if figure.no_case:
        return Finding(figure, "not measurable here", figure.no_case, {})
    if figure.not_measured:
        return Finding(figure, "not measured", figure.not_measured, {})
    judged = {impl: _judgement(figure, run) for impl, run in runs.items()}
    if not judged:
        # What no machine can compare is not waiting for a commit.
        if figure.basis == "none":
            return Finding(figure, "not measurable here", policy.judge(figure, {})[0].why, {})
        return Finding(figure, "not measured", why, {})
    if figure.impl in judged:
        about = judged[figure.impl]
        return Finding(figure, about.verdict, about.why, judged)
    verdict = policy.worst(each.verdict for each in judged.values())
    about = next(each for each in judged.values() if each.verdict == verdict)
    other = f"judged as {'/'.join(judged)}, the figure is of {figure.impl}" if figure.impl else ""
    return Finding(figure, verdict, "; ".join(filter(None, (about.why, other))), judged)


def _judgement(figure: Figure, run: Run) -> Judgement:
    if run.why:
        return Judgement("not measured", run.why)
    case = next(
        (c for c in run.document["cases"] if re.fullmatch(figure.benchmark, c["name"])), None
    )
    if case is None and not run.document["cases"]:
        meters = {name: dict(_SAME) for name in METRICS[figure.metric]}
        judged, by = policy.judge(figure, meters)
        return Judgement(judged.verdict, "both sides are the same build", by, meters)
    if case is None:
        return Judgement("not measured", f"{figure.benchmark} was not among what was measured")
    if case["status"] != "measured":
        return Judgement("not measured", f"{case['status']}: {case['why']}")
    meters = {**case["meters"], **calls(case)}
    judged, by = policy.judge(figure, meters)
    parts = run.document.get("composed")
    how = f"the product of {parts} rows, each against its own parent" if parts else ""
    return Judgement(judged.verdict, "; ".join(filter(None, (judged.why, how))), by, meters)


#: What every meter says of two sides that are the same build.
_SAME = {
    "left": 1.0, "right": 1.0, "ratio": 1.0, "low": 1.0, "high": 1.0, "limit": 0.0,
    "detectable": 1.0,
}  # fmt: skip


def calls(case: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Python calls in the driver during one call of a case, from the proofs of both sides.

    Empty where a proof does not count them. Calls of builtins and of compiled code are not seen.
    """
    counts = []
    for side in ("left", "right"):
        probe = ((case.get("proof") or {}).get(side) or {}).get("probe") or {}
        if not isinstance(probe.get("python_calls"), dict):
            return {}
        counts.append(float(sum(probe["python_calls"].values())))
    left, right = counts
    ratio = right / left if left else 1.0 if not right else None
    return {"calls": {"left": left, "right": right, "ratio": ratio, "low": ratio, "high": ratio,
                      "limit": 0.0, "detectable": 1.0}}  # fmt: skip
