"""Both builds of a comparison, as processes of other tools get them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchproof.bench import Bench, environment
from calibration import gates
from calibration.others import one_case
from calibration.pairs import Pair, proven

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchproof.suite import Case
    from calibration.scene import Scene


@dataclass(frozen=True)
class Sides:
    """Two builds, and the cases that are measured.

    Attributes:
        bench: with both sides built and their cases proven.
        cases: by name.
    """

    bench: Bench
    cases: dict[str, Case]

    def request(self, side: Any, task: str, names: Sequence[str]) -> dict[str, Any]:  # noqa: ANN401
        """What `one_case` needs."""
        built = self.bench.sides[side]
        return {
            "task": task, "side": built.folder, "impl": built.impl,
            "suites": str(self.bench.suites), "harness": str(HARNESS),
            "cases": [
                {**self.cases[name].row,
                 "calls": self.bench.got.loops[name].instructions.many}
                for name in names
            ],
        }  # fmt: skip

    def environment(self, side: Any) -> dict[str, str]:  # noqa: ANN401  (a literal of `plan`)
        """That of the gate's own counting workers."""
        return environment(self.bench.sides[side].variant, None)


HARNESS = Path(one_case.__file__).resolve().parents[3]
SCRIPT = Path(one_case.__file__).resolve()


@contextmanager
def both(scene: Scene, pair: Pair, names: Sequence[str]) -> Iterator[Sides]:
    """Both sides, built (or found built) and proven."""
    with proven(scene, pair, gates.pattern(names)) as (bench, cases):
        yield Sides(bench, {case.name: case for case in cases})
