"""A sum of rows that no two commits show alone: what each row did on its own, taken together.

Between the first row of a page and the last there may be commits of other pages. Then each row is
measured against its own parent on the benchmark of the sum, ratios are multiplied, and what went
away is added up. The ends of the intervals are multiplied too, which is wider than need be.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .store import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .ledger import Impl, Row

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
