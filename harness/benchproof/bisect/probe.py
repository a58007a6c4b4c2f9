"""Builds a commit and counts one benchmark in it: one worker proves, one counts.

Only that build runs, not the other side of a comparison; the loops are the same for all builds, so
that their numbers can be held against each other.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchproof import plan, targets, worker
from benchproof.bench import environment, read_lines
from benchproof.errors import (
    BisectError,
    BuildError,
    NoSpaceError,
    TargetError,
    WorkerError,
    no_space,
)
from benchproof.meters import METERS, instructions
from benchproof.meters.counts import price_of

from .narrow import Lost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchproof.build import Builder, Built
    from benchproof.plan import Loops
    from benchproof.processes import Crew
    from benchproof.suite import Case
    from benchproof.targets import Implementation

#: Layouts of memory in which a count must show that it is high: what a layout does only adds.
LAYOUTS = 3
#: A change that is larger than this is no accident of layout.
ACCIDENT = 0.5


@dataclass
class Prober:
    """Measures one benchmark, build by build.

    Attributes:
        builder: with its cache.
        crew: runs the workers.
        suites: folder of the benchmark definitions.
        scratch: for requests and answers.
        impl: implementation of the builds.
        meter: an exact one.
        builds: contents that were built, or found built, or did not build.
        loops: the loop counts of all builds; set before the first count.
    """

    builder: Builder
    crew: Crew
    suites: Path
    scratch: Path
    impl: Implementation
    meter: str
    builds: set[str] = field(default_factory=set)
    loops: Loops | None = None
    _runs: int = 0
    _number: int = 0

    def build(self, commit: str) -> Built:
        """Build a commit, or find it built.

        Raises:
            BuildError: it does not build.
            TargetError: it has no driver.
            NoSpaceError: the disk is full.
        """
        spec = targets.parse(f"{commit[:12]}@impl:{self.impl}")
        target = targets.resolve(spec, self.builder.checkout)
        self.builds.add(target.content)
        return self.builder.build(target)

    def discover(self, built: Built) -> list[dict[str, Any]]:
        """The benchmarks, as a build's worker finds them.

        Raises:
            WorkerError: it does not run.
        """
        rows, words = self._run(built, "discover", ())
        if not rows:
            raise WorkerError(f"the benchmarks cannot be listed: {words}")
        return rows[1:]

    def prove(self, built: Built, case: Case) -> Lost | None:
        """Let a case prove its path; why it could not."""
        answer = self._ask(built, "prove", case.row)
        if isinstance(answer, Lost):
            return answer
        self._number = answer.get("number", 0)
        return None

    def price(self, built: Built, case: Case) -> float | Lost:
        """What a call costs in instructions: counted, where they are the meter."""
        task = METERS[self.meter].task
        answer = self._ask(built, task if task == "instructions" else "prove", case.row)
        if isinstance(answer, Lost):
            return answer
        if task != "instructions":
            return price_of(float(answer["worked"]))
        price = instructions.read_price(Path(answer["folder"]), answer["first"])
        return Lost("callgrind left no dump of it") if price is None else price

    def plan(self, prices: tuple[float, float]) -> None:
        """Settle the loop counts of all builds from what a call costs at both ends."""
        self.loops = plan.loops(1.0, max(prices), self._number)

    def value(self, built: Built, case: Case, *, layouts: int = 1) -> float | Lost:
        """What one call costs: the least over some layouts of memory.

        Raises:
            NoSpaceError: the disk is full.
        """
        found = []
        for layout in range(layouts if self.meter == "instructions" else 1):
            count = self._count(built, case, layout)
            if isinstance(count, Lost):
                return count
            found.append(count)
        return min(found)

    def believed(self, built: Built, case: Case, ends: tuple[float, float]) -> float | Lost:
        """The same, in more layouts only where the first one says what an accident could have made.

        Args:
            built: the build.
            case: the benchmark.
            ends: values of both ends of the range.
        """
        count = self.value(built, case)
        if isinstance(count, Lost) or self.meter != "instructions":
            return count
        low, high = min(ends), max(ends)
        if count - low < (high - low) / 4 or (low and high / low - 1 > ACCIDENT):
            return count
        again = self.value(built, case, layouts=LAYOUTS)
        return again if isinstance(again, Lost) else min(count, again)

    def _count(self, built: Built, case: Case, layout: int) -> float | Lost:
        """One worker's count."""
        if self.loops is None:
            raise BisectError("loops must be planned before anything is counted")
        task = METERS[self.meter].task
        counts = self.loops.instructions if task == "instructions" else self.loops.allocations
        answer = self._ask(built, task, case.row | {"counts": vars(counts)}, layout)
        if isinstance(answer, Lost):
            return answer
        if task != "instructions":
            return float(answer[self.meter])
        totals = instructions.read(Path(answer["folder"]), answer["dumps"])
        return Lost("callgrind left no dump of it") if totals is None else counts.per_call(totals)

    def _ask(
        self, built: Built, task: str, row: Mapping[str, Any], layout: int = 0
    ) -> dict[str, Any] | Lost:
        """One worker's answer about one case."""
        rows, words = self._run(built, task, (row,), layout)
        answer = next((each for each in rows[1:] if each.get("name") == row["name"]), None)
        if answer is None:
            return Lost(f"its {task} worker does not answer: {words}")
        for key in ("absent", "refused", "error"):
            if key in answer:
                return Lost(str(answer[key]))
        return answer

    def _run(
        self, built: Built, task: str, rows: tuple[Mapping[str, Any], ...], layout: int = 0
    ) -> tuple[list[dict[str, Any]], str]:
        """Run a worker; what it wrote, and its last words."""
        # Names of equal length: the length of a path moves the stack.
        folder = self.scratch / f"{self._runs:05d}"
        self._runs += 1
        folder.mkdir()
        request = {
            "side": built.folder, "impl": built.impl, "suites": str(self.suites), "task": task,
            "cases": list(rows), "out": str(folder / "answers.jsonl"),
            "harness": str(Path(worker.__file__).resolve().parent.parent), "layout": layout,
            "proof": built.proof, "cache": str(self.scratch / f"cache-{built.key}"),
        }  # fmt: skip
        file = folder / "request.json"
        file.write_text(json.dumps(request), encoding="utf-8")
        command = [sys.executable, "-P", worker.__file__, str(file)]
        if task == "instructions":
            command = instructions.command(command, folder)
        child = self.crew.start(
            command, log=folder / "worker.log", cwd=folder, env=environment(built.impl, None)
        )
        ended = self.crew.wait(child)
        if ended.status and any("No space left" in line for line in ended.last_lines()):
            raise no_space(self.scratch)
        answers = [row | {"folder": str(folder)} for row in read_lines(folder / "answers.jsonl")]
        return answers, (ended.last_lines(1) or [f"status {ended.status}"])[-1]


def or_lost(prober: Prober, commit: str) -> Built | Lost:
    """Build a commit of which nobody knows that it builds.

    Raises:
        NoSpaceError: the disk is full.
    """
    try:
        return prober.build(commit)
    except NoSpaceError:
        raise
    except (BuildError, TargetError) as error:
        return Lost(str(error))
