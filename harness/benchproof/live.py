"""Says what the exact meters found, suite by suite, as soon as both sides of one are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import verdict
from .render import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .bench import Bench
    from .progress import Teller
    from .settings import Settings
    from .suite import Case

#: Of the names of benchmarks, what a line holds.
_WIDTH = 44


class Rows:
    """The rows of a bench's first count of instructions."""

    def __init__(
        self, bench: Bench, cases: Sequence[Case], settings: Settings, tell: Teller
    ) -> None:
        """Nothing is counted yet."""
        self._bench, self._settings, self._tell = bench, settings, tell
        self._cases = {case.name: case for case in cases}
        self._left: dict[str, set[str]] = {}
        for case in cases:
            self._left.setdefault(case.suite, set()).add(case.name)

    def done(self, name: str) -> None:
        """A case is counted on both sides: if it was its suite's last, say all of them."""
        suite = self._cases[name].suite
        left = self._left[suite]
        left.discard(name)
        if left:
            return
        rows = [row for case in self._cases.values() if case.suite == suite
                if (row := self._row(case))]  # fmt: skip
        number = sum(case.suite == suite for case in self._cases.values())
        same = number - len(rows)
        same_words = f", {same} of {number} as before" if same else ""
        self._tell.line(f"{suite}: instructions a call{same_words}")
        for row in rows:
            self._tell.line(row)

    def _row(self, case: Case) -> str:
        """What a case's first count says, if it is more than its limit."""
        if case.name in self._bench.got.failures:
            return f"  {case.case:<{_WIDTH}} {self._bench.got.failures[case.name]}"
        left, right = self._bench.got.numbers("instructions", case.name)
        if not left:
            return f"  {case.case:<{_WIDTH}} not counted"
        limit = self._settings.limit("instructions", case.name)
        judged = verdict.judge_exact("instructions", left[:1], right[:1], limit)
        if judged["verdict"] == "equivalent":
            return ""
        change = units.change(judged["ratio"])
        return f"  {case.case:<{_WIDTH}} {change:>9}  {left[0]:>13,.0f} > {right[0]:,.0f}"
