"""Measures what the ledger asks for: each row's cases, on its commit and the one before."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchproof import compare, listing, suite
from benchproof.errors import BenchproofError, StoppedError
from benchproof.lanes import Named
from benchproof.plan import SIDES

from .store import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchproof.compare import Outcome, Place, Request
    from benchproof.progress import Teller

    from .carried import Carried
    from .figures import Impl, Ledger

#: Seconds of measuring for one commit in one implementation, unless a person says otherwise.
BUDGET, QUICK_BUDGET = 60.0, 10.0
#: What an implementation is called in progress and tables.
NAMES = {"python": "pure", "cython": "compiled"}


@dataclass(frozen=True)
class Step:
    """One comparison that is to be made.

    Attributes:
        rows: that share the two commits.
        carried: the two commits.
        impl: the implementation of both sides.
        benchmarks: the names of the cases.
    """

    rows: tuple[str, ...]
    carried: Carried
    impl: Impl
    benchmarks: tuple[str, ...]


def known_benchmarks(place: Place, tell: Teller) -> list[str]:
    """The benchmarks of the suites, as asv finds them beside HEAD's driver.

    Raises:
        BenchproofError: HEAD does not build, or its worker does not run.
    """
    rows = listing.found(place, "HEAD@impl:python", tell)
    return [case.name for case in suite.from_rows(rows)]


def plan(
    ledger: Ledger, carried: Mapping[str, Carried], names: Mapping[str, str], impls: Sequence[Impl]
) -> list[Step]:
    """The comparisons that some rows need: one for each pair of commits and implementation.

    The rows of a sum that is measured row by row get the benchmarks of the sum, too.

    Args:
        ledger: with the rows.
        carried: where each of the chosen rows is.
        names: expression to benchmark.
        impls: implementations to measure.
    """
    wanted = {row: set(ledger.benchmarks([row])) for row in carried}
    for row, where in carried.items():
        for part in where.apart:
            wanted[part] |= wanted[row]
    groups: dict[tuple[str, str], list[str]] = {}
    for row, where in carried.items():
        if wanted[row] and not where.why and not where.apart:
            groups.setdefault((where.left, where.right), []).append(row)
    return [
        Step(tuple(rows), carried[rows[0]], impl,
             tuple(sorted({names[each] for row in rows for each in wanted[row]})))
        for rows in groups.values()
        for impl in impls
    ]  # fmt: skip


def run(steps: Sequence[Step], request: Request, place: Place, tell: Teller) -> Iterator[Run]:
    """Make the comparisons one after the other; a failed one gives a run with its reason.

    Ctrl-C ends after what was measured so far.

    Args:
        steps: what to compare.
        request: meters, seed, whether quick, and the wall time of all steps together.
        place: the checkout, its suites and its builds.
        tell: hears of it.
    """
    each = request.budget / max(1, len(steps))
    for at, step in enumerate(steps, 1):
        name = f"{', '.join(step.rows)} {NAMES[step.impl]}"
        asked = replace(
            request,
            left=f"{step.carried.left[:12]}@impl:{step.impl}",
            right=f"{step.carried.right[:12]}@impl:{step.impl}",
            bench=f"^(?:{'|'.join(map(re.escape, step.benchmarks))})$",
            budget=each,
            committed=True,
            todays=True,
            title=f"{', '.join(step.rows)}: {step.carried.subject}",
        )
        blank = Run(step.rows, step.impl, step.carried.left, step.carried.right,
                    step.carried.taken_back, request.quick)  # fmt: skip
        try:
            outcome = compare.compare(asked, place, Named(tell, f"{at}/{len(steps)} {name}"))
        except (StoppedError, KeyboardInterrupt):
            tell.line("stopped: what was measured so far is judged")
            return
        except BenchproofError as error:
            tell.line(f"{name}: {error}")
            yield replace(blank, why=str(error).splitlines()[0])
            continue
        yield replace(blank, document=outcome.document, raw=_raw(outcome))
        if outcome.document.get("partial"):
            tell.line("stopped: what was measured so far is judged")
            return


def _raw(outcome: Outcome) -> dict[str, Any]:
    """Every wall value, to five digits: by case, side, block."""
    if outcome.bench is None:
        return {}
    found: dict[str, Any] = {}
    for meter, side, name, spot, values in outcome.bench.got:
        if meter == "wall":
            sides = found.setdefault(name, {each: {} for each in SIDES})
            sides[side][str(spot.process)] = [float(f"{value:.5g}") for value in values]
    return found
