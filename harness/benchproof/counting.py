"""Runs the exact meters: every case once in each build, changes again in other layouts of memory.

Where something happens to lie decides which keys of a hash table collide, and so how many
instructions the same code takes. An unrelated edit moves it. So a count is repeated where memory
is laid out otherwise (`Spot`) before a change is believed, and the policy judges all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import results, verdict
from .collected import FIRST, Spot

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .bench import Bench
    from .progress import Teller
    from .settings import Settings
    from .suite import Case

#: Layouts of memory in which a change of instructions must show to be believed, unless it is larger
#: than any accident: once a method cache's collision moved vectors by 27 %.
LAYOUTS, ACCIDENT = 3, 0.5
#: The most layouts, for cases in which they disagree.
MOST_LAYOUTS = 8


def exact(
    bench: Bench,
    cases: Sequence[Case],
    tasks: Collection[str],
    tell: Teller,
    settings: Settings | None = None,
    spots: Sequence[Spot] = (FIRST,),
) -> None:
    """Count what was asked for.

    Args:
        bench: with both sides built and their cases proven.
        cases: all that were chosen; those whose proof failed are left out.
        tasks: of "instructions" and "allocations".
        tell: hears of it.
        settings: the limits, which say what a change is.
        spots: where instructions are counted whatever they say.
    """
    ready = measurable(bench, cases)
    if "instructions" in tasks and ready:
        for number, spot in enumerate(spots, 1):
            which = f", {number} of {len(spots)}" if len(spots) > 1 else ""
            tell.stage(f"counting instructions of {len(ready)} benchmarks{which}")
            bench.count_instructions(ready, spot)
        count_again(bench, ready, tell, settings, len(spots))
    ready = measurable(bench, cases)
    if "allocations" in tasks and ready:
        tell.stage(f"counting allocations of {len(ready)} benchmarks")
        bench.count_allocations(ready)


def count_again(
    bench: Bench,
    cases: Sequence[Case],
    tell: Teller,
    settings: Settings | None = None,
    counted: int = 1,
) -> None:
    """Count changes again in other layouts, before they are believed."""
    for layout in range(counted, MOST_LAYOUTS):
        doubtful = [case for case in cases if is_doubtful(bench, case, settings)]
        if not doubtful:
            return
        tell.stage(f"counting {len(doubtful)} changes again in layout {layout + 1}")
        bench.count_instructions(doubtful, Spot(layout % bench.builds, layout))


def is_doubtful(bench: Bench, case: Case, settings: Settings | None = None) -> bool:
    """Whether an accident of layout could explain what the counts of a case say."""
    if case.name in bench.got.failures:
        return False
    left, right = bench.got.counted("instructions", case.name)
    if not left or not min(left):
        return False
    limit = settings.limit("instructions", case.name) if settings else None
    judged = verdict.judge_exact("instructions", left, right, limit)
    if judged["verdict"] == "undecided":
        return len(left) < MOST_LAYOUTS
    changed = judged["verdict"] != "equivalent"
    return changed and len(left) < LAYOUTS and abs(min(right) / min(left) - 1) < ACCIDENT


def measurable(bench: Bench, cases: Sequence[Case]) -> list[Case]:
    """The functions that passed their proofs on both sides, with the same answer."""
    return [
        case for case in cases
        if case.module and results.status_of(bench, case)[0] == "measured"
    ]  # fmt: skip
