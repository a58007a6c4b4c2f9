"""The benchmarks, found by asv's or pytest's own discovery, and chosen by an expression."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from . import meters
from .errors import SelectionError, few, meant

#: Meters of the benchmarks that every command measures; the others give values, once a side.
TIMED = meters.of("time")


@dataclass(frozen=True, order=True)
class Case:
    """One benchmark, with one combination of its parameters.

    Attributes:
        name: what asv calls it, ``routing_key.time_single_int`` or ``sizes.Sort.time_it(10, 'a')``,
            or pytest: ``tests/test_it.py::test_sort[10]``.
        benchmark: the same without parameters; empty for what is no function of a suite.
        index: of the combination, as asv counts them; None without parameters.
        version: set by hand when what it measures changes, else asv's hash of its source.
        answers_may_differ: whether the two sides may give different answers.
        part_of: name of the benchmark whose call contains this one's; empty for a whole.
        kind: time, timeraw, memory, peakmemory or track.
        unit: of the values that it gives, if it does.
        tail: whether its slowest calls are timed, too.
        pretty_name: what its project calls it for people; empty if it does not.
    """

    name: str
    benchmark: str
    index: int | None
    version: str
    answers_may_differ: bool
    part_of: str = ""
    kind: str = "time"
    unit: str = ""
    tail: bool = False
    pretty_name: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Case":
        """The case that a row describes, among whatever else it says."""
        return cls(**{each.name: row[each.name] for each in fields(cls) if each.name in row})

    @property
    def suite(self) -> str:
        """The suite: what stands before the function's name."""
        return parts(self.benchmark or self.name)[0]

    @property
    def case(self) -> str:
        """The function's name without ``time_``, and the parameters."""
        return self.name[len(self.suite) :].lstrip(".:").removeprefix("time_")

    @property
    def row(self) -> dict[str, Any]:
        """What a worker needs to find it."""
        about: dict[str, Any] = {"name": self.name, "benchmark": self.benchmark}
        if self.index is not None:
            about["index"] = self.index
        if self.tail:
            about["tail"] = True
        return about if self.kind == "time" else about | {"kind": self.kind}


def parts(name: str) -> tuple[str, str]:
    """The suite and the function of a name without parameters: of asv, or a pytest id."""
    suite, _, function = name.rpartition("::" if "::" in name else ".")
    return suite, function


def from_rows(rows: Iterable[Mapping[str, Any]], wanted: Collection[str] = TIMED) -> list[Case]:
    """Cases as a worker describes them, without those that are only named (`left_out`).

    Args:
        rows: as a worker describes what it found.
        wanted: meters, of which a case must have one.
    """
    return sorted(
        Case.of(row) for row in rows
        if "excluded" not in row and set(meters.of(row["kind"])) & set(wanted)
    )  # fmt: skip


def left_out(
    rows: Iterable[Mapping[str, Any]], pattern: re.Pattern[str], wanted: Collection[str] = TIMED
) -> list[dict[str, str | None]]:
    """The benchmarks that are found and not measured, as documents name them.

    A module that does not import is always among them: nobody knows the names in it.

    Args:
        rows: as a worker describes what it found.
        pattern: only those in whose name it is found.
        wanted: meters, of which a case must have one.
    """
    found = []
    for row in rows:
        name = row.get("excluded") or row["name"]
        why = row.get("why", "")
        if not why and not set(meters.of(row["kind"])) & set(wanted):
            why = f"only {' or '.join(meters.of(row['kind']))} could measure it"
        if why and (row.get("broken") or pattern.search(name)):
            found.append({"name": name, "impl": None, "why": f"not measured: {why}"})
    return found


def told(excluded: Sequence[Mapping[str, str | None]]) -> str:
    """One line with the number of such benchmarks, and a few names for each reason."""
    names: dict[str, list[str]] = {}
    for each in excluded:
        why = str(each["why"]).removeprefix("not measured: ")
        names.setdefault(why, []).append(str(each["name"]))
    parts = [f"{few(found)} ({why})" for why, found in names.items()]
    number = "1 benchmark is" if len(excluded) == 1 else f"{len(excluded)} benchmarks are"
    return f"{number} found and not measured: {'; '.join(parts)}"


def expression(text: str, option: str = "--bench") -> re.Pattern[str]:
    """Compile a benchmark expression, as an option gave it.

    Raises:
        SelectionError: it is no regular expression.
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise SelectionError(f"{option} {text!r} is no regular expression: {error}") from error


def select(cases: Sequence[Case], pattern: re.Pattern[str]) -> list[Case]:
    """The cases in whose name the expression is found, as `asv run --bench` does it.

    Raises:
        SelectionError: there are none.
    """
    chosen = [case for case in cases if pattern.search(case.name)]
    if not pattern.pattern and not any(case.benchmark for case in chosen):
        raise SelectionError(
            "no benchmark was found that can be measured (benchproof list says what was found)"
        )
    if not chosen:
        suites = ", ".join(sorted({case.suite for case in cases})) or "none"
        raise SelectionError(
            f"--bench {pattern.pattern!r} matches none of {len(cases)} benchmarks "
            f"(suites: {suites}){meant(pattern.pattern, (case.name for case in cases))}"
        )
    return chosen
