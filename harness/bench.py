"""Runs workers on both sides, and keeps what they answer."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import plan, worker
from .errors import WorkerError, no_space
from .meters import instructions
from .plan import SIDES, Block, Loops, SideName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .build import Built
    from .processes import Child, Crew
    from .suite import Case

#: Of the environment, what would tell a worker about the harness's own driver or build.
_NOT_FOR_WORKERS = ("PYTHONPATH", "PYTHONSTARTUP", "DRIVER_BUILD", "DRIVER_IMPL")
#: Side names of equal length in paths: the length of a path moves the stack.
_TOKEN: dict[SideName, str] = {"left": "a", "right": "b"}
#: The seed of the counting workers: any, but always the same.
_FIXED_HASH_SEED = 0

Rows = dict[str, dict[str, Any]]


@dataclass
class Collected:
    """Everything that workers have answered so far, by case.

    Attributes:
        proofs: by side, the answers of the proving worker.
        exact: by meter, then side: a number a call.
        walls: by side, by case: block index to the values of its process.
        loops: loop counts of the cases that are measured.
        failures: cases that a later worker could not measure, with its words.
        blocks: how many blocks ran.
    """

    proofs: dict[SideName, Rows] = field(default_factory=dict)
    exact: dict[str, dict[SideName, dict[str, float]]] = field(default_factory=dict)
    walls: dict[SideName, dict[str, dict[int, list[float]]]] = field(
        default_factory=lambda: {"left": {}, "right": {}}
    )
    loops: dict[str, Loops] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    blocks: int = 0


@dataclass(frozen=True)
class Bench:
    """Two built sides, one set of suites, and a folder for what workers leave.

    Attributes:
        sides: the builds.
        suites: the folder with the benchmark definitions.
        crew: runs the workers.
        scratch: for requests and answers.
        core: for wall time, or None.
        got: what has been answered.
    """

    sides: Mapping[SideName, Built]
    suites: Path
    crew: Crew
    scratch: Path
    core: int | None
    got: Collected = field(default_factory=Collected)

    def discover(self) -> list[dict[str, Any]]:
        """The benchmarks, as the right side's worker finds them."""
        running = self._start("right", "discover")
        return self._answers(running, must_work=True)

    def prove(self, cases: Sequence[Case]) -> None:
        """Let every case prove its path on both sides, then plan its loops."""
        rows = [_row(case) for case in cases]
        for side, answers in self._both("prove", rows):
            self.got.proofs[side] = {row["name"]: row for row in answers}
        for case in cases:
            times = [self.got.proofs[side].get(case.name, {}).get("seconds") for side in SIDES]
            if times[0] and times[1]:
                self.got.loops[case.name] = plan.loops(times[0], times[1])

    def count_instructions(self, cases: Sequence[Case], layout: int = 0) -> None:
        """One process a side, side by side: another process cannot move a count.

        Counting again in another layout keeps the smaller count of each side: what a layout does
        to a count (collisions in hash tables keyed by addresses) only adds.
        """
        counts = {case.name: self.got.loops[case.name].instructions for case in cases}
        rows = [_row(case) | {"counts": vars(counts[case.name])} for case in cases]
        found = self.got.exact.setdefault("instructions", {side: {} for side in SIDES})
        for side, answers in self._both("instructions", rows, layout):
            folder = self._folder(side, "instructions", layout)
            for row in answers:
                if self._failed(row):
                    continue
                totals = instructions.read(folder, row["dumps"])
                if totals is None:
                    self.got.failures[row["name"]] = "callgrind left no dump of it"
                else:
                    number = counts[row["name"]].per_call(totals)
                    found[side][row["name"]] = min(number, found[side].get(row["name"], number))

    def count_allocations(self, cases: Sequence[Case]) -> None:
        """One process a side, side by side."""
        rows = [
            _row(case) | {"counts": vars(self.got.loops[case.name].allocations)} for case in cases
        ]
        for meter in ("allocations", "bytes"):
            self.got.exact[meter] = {side: {} for side in SIDES}
        for side, answers in self._both("allocations", rows):
            for row in answers:
                if not self._failed(row):
                    for meter in ("allocations", "bytes"):
                        self.got.exact[meter][side][row["name"]] = row[meter]

    def time_block(self, block: Block, cases: Sequence[Case]) -> float:
        """One process a side, one after the other; the seconds that both took."""
        start = time.monotonic()
        rows = [_row(case) | {"loops": self.got.loops[case.name].wall} for case in cases]
        pair: dict[SideName, list[dict[str, Any]]] = {}
        for side in block.sides:
            running = self._start(side, "wall", rows, block)
            pair[side] = self._answers(running, must_work=False)
        for side, answers in pair.items():
            for row in answers:
                if not self._failed(row):
                    taken = self.got.walls[side].setdefault(row["name"], {})
                    taken[block.index] = row["values"]
        self.got.blocks += 1
        return time.monotonic() - start

    def paired(self, name: str) -> list[int]:
        """The blocks in which both sides' processes timed a case."""
        left, right = (self.got.walls[side].get(name, {}) for side in SIDES)
        return sorted(left.keys() & right.keys())

    def _failed(self, row: Mapping[str, Any]) -> bool:
        """Note a case that a measuring worker could not measure."""
        words = row.get("error") or row.get("refused") or row.get("absent")
        if words:
            self.got.failures[row["name"]] = str(words)
        return bool(words)

    def _both(
        self, task: str, rows: Sequence[Mapping[str, Any]], layout: int = 0
    ) -> Iterator[tuple[SideName, list[dict[str, Any]]]]:
        """Run a task on both sides at the same time."""
        running = {side: self._start(side, task, rows, layout=layout) for side in SIDES}
        for side, started in running.items():
            yield side, self._answers(started, must_work=False)

    def _folder(self, side: SideName, task: str, layout: int = 0) -> Path:
        """Where a worker's request, answers and dumps lie; of equal length on both sides."""
        return self.scratch / _TOKEN[side] / f"{task}-{layout}"

    def _start(
        self,
        side: SideName,
        task: str,
        rows: Sequence[Mapping[str, Any]] = (),
        block: Block | None = None,
        layout: int = 0,
    ) -> _Running:
        """Write a request and start its worker."""
        folder = self._folder(side, task, layout)
        folder.mkdir(parents=True, exist_ok=True)
        built = self.sides[side]
        request: dict[str, Any] = {
            "side": built.folder, "impl": built.impl, "suites": str(self.suites), "task": task,
            "cases": list(rows), "out": str(folder / "answers.jsonl"),
            "harness": str(Path(__file__).resolve().parent.parent), "layout": layout,
        }  # fmt: skip
        if block is not None:
            request |= {"core": self.core, "order": block.order}
        file = folder / "request.json"
        file.write_text(json.dumps(request), encoding="utf-8")
        # -P: the worker's own folder stays off sys.path.
        command = [sys.executable, "-P", worker.__file__, str(file)]
        if task == "instructions":
            command = instructions.command(command, folder)
        (folder / "answers.jsonl").unlink(missing_ok=True)
        child = self.crew.start(
            command, log=folder / "worker.log", cwd=folder, env=environment(built.impl, block)
        )
        return _Running(side, task, folder / "answers.jsonl", child, [row["name"] for row in rows])

    def _answers(self, running: _Running, *, must_work: bool) -> list[dict[str, Any]]:
        """Wait for a worker; its answers, and an error for each case that it did not reach.

        Raises:
            WorkerError: it did not get to its first case (or its last, if it must work).
            NoSpaceError: the disk is full.
        """
        try:
            ended = self.crew.wait(running.child)
        except KeyboardInterrupt:
            # What was written until now is kept: the caller marks the result partial.
            self._keep(running)
            raise
        rows = read_lines(running.answers)
        if ended.status and any("No space left" in line for line in ended.last_lines()):
            raise no_space(self.scratch)
        words = (ended.last_lines(1) or [f"worker ended with status {ended.status}"])[-1]
        if not rows or (ended.status and must_work):
            side, built = running.side, self.sides[running.side]
            raise WorkerError(
                f"the {side} side ({built.impl}) does not run its {running.task} worker: {words}"
            )
        answers = rows[1:]
        reached = {row["name"] for row in answers if "name" in row}
        lost = [name for name in running.names if name not in reached]
        return answers + [{"name": name, "error": words} for name in lost]

    def _keep(self, running: _Running) -> None:
        """Keep an interrupted allocation worker's answers; others are worth nothing halfway."""
        if running.task != "allocations":
            return
        with contextlib.suppress(OSError, ValueError, KeyError):
            for row in read_lines(running.answers)[1:]:
                for meter in ("allocations", "bytes"):
                    self.got.exact[meter][running.side][row["name"]] = row[meter]


@dataclass(frozen=True)
class _Running:
    """A started worker and what is expected of it."""

    side: SideName
    task: str
    answers: Path
    child: Child
    names: list[str]


def environment(impl: str, block: Block | None) -> dict[str, str]:
    """A worker's environment: of the same size on both sides."""
    env = {k: v for k, v in os.environ.items() if k not in _NOT_FOR_WORKERS}
    seed = _FIXED_HASH_SEED if block is None else block.hash_seed
    padding = 0 if block is None else block.padding
    return env | {
        "DRIVER_IMPL": impl,  # both names have six letters
        "PYTHONHASHSEED": str(seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "HOTPATH_PADDING": "x" * padding,
        # Idle threads of numerical libraries take turns under valgrind, and cores elsewhere.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The complete lines of an answers file; a last one that was cut off is left out."""
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _row(case: Case) -> dict[str, Any]:
    """What a worker needs to find a case."""
    return {"name": case.name, "module": case.module, "function": case.function}
