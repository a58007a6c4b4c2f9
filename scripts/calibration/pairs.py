"""Two commits, built and proven: for what needs less than a gate."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchproof import builds, counting, provenance, suite, targets
from benchproof.bench import Bench
from benchproof.plan import SIDES
from benchproof.processes import Crew

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchproof.suite import Case
    from calibration.scene import Scene

#: Two commits and an implementation.
Pair = tuple[str, str, str]


@contextmanager
def proven(scene: Scene, pair: Pair, pattern: str) -> Iterator[tuple[Bench, list[Case]]]:
    """A bench of a pair, and the benchmarks that an expression chooses and that can be measured.

    Raises:
        BenchproofError: a side does not build or run, or the expression chooses nothing.
    """
    here = scene.place
    base, head, impl = pair
    sides = {
        side: targets.resolve(targets.parse(f"{commit}@impl:{impl}"), here.checkout)
        for side, commit in zip(SIDES, (base, head), strict=True)
    }
    with Crew() as crew:
        made = builds.build(sides, here, crew, (0,), scene.tell)
        built = {side: each[0] for side, each in made.items()}
        bench = Bench(built, here.suites.resolve(), crew, crew.scratch, provenance.pinned_core())
        cases = suite.select(suite.from_rows(bench.discover()), suite.expression(pattern))
        bench.prove(cases)
        yield bench, counting.measurable(bench, cases)
