"""Runs workers on both sides, and keeps what they answer."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import plan, worker
from .collected import FIRST, Collected, Rows, Spot
from .errors import WorkerError, is_full, no_space
from .meters import allocations, instructions
from .plan import SIDES, Block, SideName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .build import Built
    from .processes import Child, Crew
    from .suite import Case

#: Of the environment, what would tell a worker about the harness's own driver or build.
_NOT_FOR_WORKERS = ("PYTHONPATH", "PYTHONSTARTUP", "DRIVER_BUILD", "DRIVER_IMPL")
#: Side names of equal length in paths: the length of a path moves the stack.
_TOKEN: dict[SideName, str] = {"left": "a", "right": "b"}
#: The seed of the counting workers: any, but always the same. Another layout has the next one, so
#: that other names collide in dictionaries.
_FIXED_HASH_SEED = 0


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
        others: further builds of the same sides, laid out differently; for counting only.
    """

    sides: Mapping[SideName, Built]
    suites: Path
    crew: Crew
    scratch: Path
    core: int | None
    got: Collected = field(default_factory=Collected)
    others: Mapping[SideName, Sequence[Built]] = field(default_factory=dict)

    @property
    def builds(self) -> int:
        """How many builds each side has."""
        return 1 + min((len(each) for each in self.others.values()), default=0)

    def discover(self, side: SideName = "right") -> list[dict[str, Any]]:
        """The benchmarks, as a side's worker finds them.

        Raises:
            WorkerError: they cannot be listed.
        """
        return self._answers(self._start(side, "discover"), must_work=True)

    def prove(self, cases: Sequence[Case]) -> None:
        """Let every case prove its path on both sides, then plan its loops."""
        rows = [_row(case) for case in cases]
        for side, answers in self._both("prove", rows):
            self.got.proofs[side] = {row["name"]: row for row in answers}
        for case in cases:
            times = [self.got.proofs[side].get(case.name, {}).get("seconds") for side in SIDES]
            if times[0] and times[1]:
                self.got.loops[case.name] = plan.loops(times[0], times[1])

    def count_instructions(self, cases: Sequence[Case], spot: Spot = FIRST) -> None:
        """One process a side, side by side: another process cannot move a count."""
        counts = {case.name: self.got.loops[case.name].instructions for case in cases}
        rows = [_row(case) | {"counts": vars(counts[case.name])} for case in cases]
        for side, answers in self._both("instructions", rows, spot):
            folder = self._folder(side, "instructions", spot)
            for row in answers:
                if self._failed(side, row):
                    continue
                totals = instructions.read(folder, row["dumps"])
                if totals is None and is_full(self.scratch):
                    raise no_space(self.scratch)
                if totals is None:
                    self.got.failures[row["name"]] = f"{side}: callgrind left no dump of it"
                else:
                    number = counts[row["name"]].per_call(totals)
                    self.got.count("instructions", side, row["name"], number, spot)

    def count_allocations(self, cases: Sequence[Case]) -> None:
        """One process a side, side by side."""
        rows = [
            _row(case) | {"counts": vars(self.got.loops[case.name].allocations)} for case in cases
        ]
        for side, answers in self._both("allocations", rows):
            for row in answers:
                if not self._failed(side, row):
                    for meter in allocations.METERS:
                        self.got.count(meter, side, row["name"], row[meter])

    def time_block(self, block: Block, cases: Sequence[Case]) -> float:
        """One process a side, one after the other; the seconds that both took.

        A block with a process whose clock cannot be believed is thrown away, and noted.
        """
        start = time.monotonic()
        rows = [_row(case) | {"loops": self.got.loops[case.name].wall} for case in cases]
        pair: dict[SideName, list[dict[str, Any]]] = {}
        for side in block.sides:
            running = self._start(side, "wall", rows, block)
            pair[side] = self._answers(running, must_work=False)
        doubts = [
            f"{side}: {row['clock']}" for side in SIDES for row in pair[side] if "clock" in row
        ]
        if doubts:
            self.got.thrown[block.index] = doubts[0]
            pair = {}
        for side, answers in pair.items():
            for row in answers:
                if not self._failed(side, row):
                    taken = self.got.walls[side].setdefault(row["name"], {})
                    taken[block.index] = row["values"]
        self.got.blocks += 1
        return time.monotonic() - start

    def ask(
        self, task: str, cases: Sequence[Case], extra: Sequence[Mapping[str, Any]]
    ) -> dict[SideName, Rows]:
        """Run any other task of the worker on both sides; its answers by side and case."""
        rows = [_row(case) | dict(more) for case, more in zip(cases, extra, strict=True)]
        return {
            side: {row["name"]: row for row in answers} for side, answers in self._both(task, rows)
        }

    def dumps(self, side: SideName, name: str) -> list[Path]:
        """Callgrind's dumps of the larger loop of a case, in every round and layout."""
        found = []
        for folder in sorted(self._folder(side, "instructions").parent.glob("instructions-*")):
            for row in read_lines(folder / "answers.jsonl"):
                if row.get("name") == name:
                    found += [folder / f"cg.out.{many}" for _, many in row.get("dumps", ())]
        return found

    def paired(self, name: str) -> list[int]:
        """The blocks in which both sides' processes timed a case."""
        left, right = (self.got.walls[side].get(name, {}) for side in SIDES)
        return sorted(left.keys() & right.keys())

    def _failed(self, side: SideName, row: Mapping[str, Any]) -> bool:
        """Note a case that a measuring worker could not measure."""
        words = row.get("error") or row.get("refused") or row.get("absent")
        if words:
            self.got.failures[row["name"]] = f"{side}: {words}"
        return bool(words)

    def _both(
        self, task: str, rows: Sequence[Mapping[str, Any]], spot: Spot = FIRST
    ) -> Iterator[tuple[SideName, list[dict[str, Any]]]]:
        """Run a task on both sides at the same time."""
        running = {side: self._start(side, task, rows, spot=spot) for side in SIDES}
        for side, started in running.items():
            yield side, self._answers(started, must_work=False)

    def _folder(self, side: SideName, task: str, spot: Spot = FIRST) -> Path:
        """Where a worker's request, answers and dumps lie; of equal length on both sides."""
        return self.scratch / _TOKEN[side] / f"{task}-{spot.build}-{spot.layout}"

    def _built(self, side: SideName, build: int) -> Built:
        """A side's build."""
        return self.sides[side] if build == 0 else self.others[side][build - 1]

    def _start(
        self,
        side: SideName,
        task: str,
        rows: Sequence[Mapping[str, Any]] = (),
        block: Block | None = None,
        spot: Spot = FIRST,
    ) -> _Running:
        """Write a request and start its worker."""
        folder = self._folder(side, task, spot)
        folder.mkdir(parents=True, exist_ok=True)
        built = self._built(side, spot.build)
        request: dict[str, Any] = {
            "side": built.folder, "impl": built.impl, "suites": str(self.suites), "task": task,
            "cases": list(rows), "out": str(folder / "answers.jsonl"),
            "harness": str(Path(__file__).resolve().parent.parent), "layout": spot.layout,
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
            command, log=folder / "worker.log", cwd=folder,
            env=environment(built.impl, block, spot.layout),
        )  # fmt: skip
        return _Running(side, task, folder / "answers.jsonl", child, [row["name"] for row in rows])

    def _answers(self, running: _Running, *, must_work: bool) -> list[dict[str, Any]]:
        """Wait for a worker; its answers, and an error for each case that it did not reach.

        Raises:
            WorkerError: it did not get to its first case (or its last, if it must work), or ended
                badly after its last.
            NoSpaceError: the disk is full.
        """
        try:
            ended = self.crew.wait(running.child)
        except KeyboardInterrupt:
            # What was written until now is kept: the caller marks the result partial.
            self._keep(running)
            raise
        if self.crew.stopped:
            raise WorkerError("stopped before the end")
        if ended.status and is_full(self.scratch):
            raise no_space(self.scratch)
        rows = read_lines(running.answers)
        words = (ended.last_lines(1) or [f"the worker ended with status {ended.status}"])[-1]
        if ended.status < 0:
            words = f"the worker was killed by {signal.Signals(-ended.status).name}"
        answers = rows[1:]
        if any("No space left" in row.get("error", "") for row in answers):
            raise no_space(self.scratch)
        reached = {row["name"] for row in answers if "name" in row}
        lost = [name for name in running.names if name not in reached]
        # One that ends badly after its last answer is not believed either.
        if not rows or (ended.status and (must_work or not lost)):
            side, built = running.side, self.sides[running.side]
            raise WorkerError(
                f"the {side} side ({built.impl}) does not run its {running.task} worker: {words}"
            )
        return answers + [{"name": name, "error": words} for name in lost]

    def _keep(self, running: _Running) -> None:
        """Keep an interrupted allocation worker's answers; others are worth nothing halfway."""
        if running.task != "allocations":
            return
        with contextlib.suppress(OSError, ValueError, KeyError):
            for row in read_lines(running.answers)[1:]:
                for meter in allocations.METERS:
                    self.got.count(meter, running.side, row["name"], row[meter])


@dataclass(frozen=True)
class _Running:
    """A started worker and what is expected of it."""

    side: SideName
    task: str
    answers: Path
    child: Child
    names: list[str]


def environment(impl: str, block: Block | None, layout: int = 0) -> dict[str, str]:
    """A worker's environment: of the same size on both sides."""
    env = {k: v for k, v in os.environ.items() if k not in _NOT_FOR_WORKERS}
    seed = _FIXED_HASH_SEED + layout if block is None else block.hash_seed
    padding = 0 if block is None else block.padding
    return env | {
        "DRIVER_IMPL": impl,  # both names have six letters
        "PYTHONHASHSEED": str(seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "BENCHPROOF_PADDING": "x" * padding,
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
