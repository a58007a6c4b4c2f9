"""The benchmarks, found by asv's own discovery in a worker, and chosen by an expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import SelectionError
from .near import meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Of each reason for leaving benchmarks out, how many are named on a line.
_NAMED = 3


@dataclass(frozen=True, order=True)
class Case:
    """One benchmark function.

    Attributes:
        name: what asv calls it, ``routing_key.time_single_int``.
        module: the module that holds it, ``asv_benchmarks.routing_key``.
        function: its name in that module.
        version: set by hand when what it measures changes.
        answers_may_differ: whether the two sides may give different answers.
        part_of: name of the benchmark whose call contains this one's; empty for a whole.
    """

    name: str
    module: str
    function: str
    version: str
    answers_may_differ: bool
    part_of: str = ""

    @property
    def suite(self) -> str:
        """The suite: what stands before the function's name."""
        return self.name.rpartition(".")[0]

    @property
    def case(self) -> str:
        """The function's name without ``time_``."""
        return self.name.rpartition(".")[2].removeprefix("time_")


def from_rows(rows: Iterable[Mapping[str, Any]]) -> list[Case]:
    """Cases as a worker describes them, without what it only names (`left_out`)."""
    return sorted(
        Case(
            row["name"],
            row["module"],
            row["function"],
            row["version"],
            row["may_differ"],
            row.get("part_of", ""),
        )
        for row in rows
        if "excluded" not in row
    )


def left_out(
    rows: Iterable[Mapping[str, Any]], pattern: re.Pattern[str]
) -> list[dict[str, str | None]]:
    """The benchmarks that asv finds and that are not measured, as documents name them.

    Args:
        rows: as a worker describes what it found.
        pattern: only those in whose name it is found.
    """
    return [
        {"name": row["excluded"], "impl": None, "why": f"not measured: {row['why']}"}
        for row in rows
        if "excluded" in row and pattern.search(row["excluded"])
    ]


def told(excluded: Sequence[Mapping[str, str | None]]) -> str:
    """One line with the number of such benchmarks, and a few names for each reason."""
    names: dict[str, list[str]] = {}
    for each in excluded:
        names.setdefault(str(each["why"]).removeprefix("not measured: "), []).append(
            str(each["name"])
        )
    parts = []
    for why, found in names.items():
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        parts.append(f"{', '.join(found[:_NAMED])}{more} ({why})")
    number = "1 benchmark is" if len(excluded) == 1 else f"{len(excluded)} benchmarks are"
    return f"{number} found and not measured: {'; '.join(parts)}"


def expression(text: str) -> re.Pattern[str]:
    """Compile a benchmark expression.

    Raises:
        SelectionError: it is no regular expression.
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise SelectionError(f"--bench {text!r} is no regular expression: {error}") from error


def select(cases: Sequence[Case], pattern: re.Pattern[str]) -> list[Case]:
    """The cases in whose name the expression is found, as `asv run --bench` does it.

    Raises:
        SelectionError: there are none.
    """
    chosen = [case for case in cases if pattern.search(case.name)]
    if not chosen:
        suites = ", ".join(sorted({case.suite for case in cases})) or "none"
        raise SelectionError(
            f"--bench {pattern.pattern!r} matches none of {len(cases)} benchmarks "
            f"(suites: {suites}){meant(pattern.pattern, (case.name for case in cases))}"
        )
    return chosen
