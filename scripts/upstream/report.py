"""What came out of the suite, for each test: kept as JSON, told as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

from upstream.reasons import reason_for

#: What has to pass here of what passes there.
FEWEST = 0.95

#: Driver -> test -> outcome and, unless it passed, the last line of why.
Outcomes: TypeAlias = dict[str, dict[str, list[str]]]


def load(path: Path) -> Outcomes:
    """What was kept, or nothing."""
    empty: Outcomes = {"scylla": {}, "compat": {}}
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else empty


def merge(outcomes: Outcomes, driver: str, noted: Iterable[tuple[str, str, str]]) -> None:
    """Replace the outcomes of modules that ran; a failure at any stage of a test is its outcome."""
    notes = list(noted)
    modules = {_module(test) for test, _, _ in notes}
    ran = {test for test, _, _ in notes}
    kept = outcomes[driver]
    for test in [test for test in kept if test in ran or (test in modules and "::" not in test)]:
        del kept[test]
    for test, outcome, reason in notes:
        if test not in kept or outcome == "failed":
            kept[test] = [outcome, reason]


def share(outcomes: Outcomes) -> float:
    """What passes here of what passes there."""
    there = _passed(outcomes["scylla"])
    return len(there & _passed(outcomes["compat"])) / len(there) if there else 0.0


def told(outcomes: Outcomes) -> str:
    """A table of modules, and what fails here."""
    return "\n".join(_lines(outcomes)) + "\n"


def _lines(outcomes: Outcomes) -> Iterator[str]:
    there, here = _passed(outcomes["scylla"]), _passed(outcomes["compat"])
    both = there & here
    all_there, all_both = Counter(map(_module, there)), Counter(map(_module, both))
    yield "# The suite of scylla-driver, through that driver and through this one"
    yield ""
    yield "Written by `scripts/upstream-suite`. Counted is what passes there."
    yield ""
    yield "| module | passes there | of that, passes here |"
    yield "|---|--:|--:|"
    for module in sorted(all_there):
        yield f"| {module.removeprefix('tests/')} | {all_there[module]} | {all_both[module]} |"
    yield f"| all | {len(there)} | {len(both)} ({share(outcomes):.1%}) |"
    yield ""
    yield "| fails here | why |"
    yield "|---|---|"
    for test in sorted(there - both):
        outcome, said = outcomes["compat"].get(test, ["did not run", ""])
        why = reason_for(test) or f"`{(said or outcome).replace('|', '/').replace('`', '')}`"
        yield f"| {test.removeprefix('tests/')} | {why} |"


def _passed(outcomes: dict[str, list[str]]) -> set[str]:
    return {test for test, (outcome, _) in outcomes.items() if outcome == "passed"}


def _module(test: str) -> str:
    return test.partition("::")[0]
