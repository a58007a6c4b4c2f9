"""Runs workers on two sides, or on one alone, and keeps what they answer."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from . import dependencies, noise, pairing, placement, plan, variants, worker
from .collected import FIRST, Collected, Rows, Spot
from .errors import WorkerError, check_space, few, no_space
from .meters import VALUES, allocations, instructions
from .meters.counts import price_of
from .plan import SIDES, Block, SideName
from .progress import Teller

if TYPE_CHECKING:
    from .build import Built
    from .pairing import Said
    from .processes import Child, Crew, Finished
    from .settings import Settings
    from .suite import Case
    from .variants import Variant

#: Of the environment, what would tell a worker about the harness's own modules.
_NOT_FOR_WORKERS = ("PYTHONPATH", "PYTHONSTARTUP")
#: What a worker needs of an environment; the rest would move the stack with each terminal.
_NEEDED = ("LD_LIBRARY_PATH", "VALGRIND_LIB", "TMPDIR", "SYSTEMROOT")
_EVERYWHERE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
#: Side names of equal length in paths: the length of a path moves the stack.
_TOKEN: dict[SideName, str] = {"left": "a", "right": "b"}
#: The seed of the counting workers: any, but always the same. Another layout has the next one, so
#: that other names collide in dictionaries.
_FIXED_HASH_SEED = 0


#: The most cases that one pair of processes counts, where there could be several: each has to
#: start first, which takes seconds under valgrind.
LEAST = 16
#: Pairs of processes that count, where one side is compiled and the other is not: the cheaper one
#: waits for the other, and a core with it. Counts depend on it, so it does not follow the machine.
LANES = 2

#: In a worker's folder: what it says.
ANSWERS = "answers.jsonl"
#: Told the name of a case when it is done on both sides.
Heard = Callable[[str], None]
#: A case's name, what both sides say of it, and the folders of their workers.
Told = tuple[str, "Said", dict[SideName, Path]]


#: Seconds without an answer after which it is said, and said again, which case is being run.
SLOW = 20.0
#: What a task of the worker does, where that is not measuring.
_DOING = {"prove": "proving"}


def nobody(_: str) -> None:
    """Hear nothing."""


def _defaults() -> Settings:
    """What is in force where nobody says otherwise."""
    from .settings import DEFAULTS  # noqa: PLC0415  (scipy is slow to import, for a list of names)

    return DEFAULTS


@dataclass(frozen=True)
class Bench:
    """Two built sides or one, one set of suites, and a folder for what workers leave.

    Attributes:
        sides: the builds; what is held against nothing else is the right one.
        suites: the folder with the benchmark definitions.
        crew: runs the workers.
        scratch: for requests and answers.
        core: for wall time, or None.
        got: what has been answered.
        others: further builds of the same sides, laid out differently; for counting only.
        layouts: that have to agree on a change of instructions.
        extra: turns of extra work in front of every call of the right side, for a control.
        settings: limits, which say what a change is.
        tell: hears what is measured.
        after: seconds that follow, for who waits.
        suited: all cases of the suites, where numbers of different days are to be compared. Then a
            case must not feel who runs it, nor which others were asked for: each is proved and
            counted in a fork of one process, whose environment is the same in every terminal, and
            which has loaded what all of these need. None: one process for all that was asked for.
    """

    sides: Mapping[SideName, Built]
    suites: Path
    crew: Crew
    scratch: Path
    core: int | None
    got: Collected = field(default_factory=Collected)
    others: Mapping[SideName, Sequence[Built]] = field(default_factory=dict)
    layouts: int = noise.LAYOUTS
    extra: int = 0
    settings: Settings = field(default_factory=_defaults)
    tell: Teller = field(default_factory=Teller)
    after: float = 0.0
    suited: Sequence[Case] | None = None

    @property
    def _names(self) -> list[SideName]:
        """The sides that there are."""
        return [side for side in SIDES if side in self.sides]

    @property
    def builds(self) -> int:
        """How many builds each side has."""
        return 1 + min((len(each) for each in self.others.values()), default=0)

    @property
    def alike(self) -> bool:
        """Whether both sides are compiled, or neither is."""
        return len({each.kind for each in self.sides.values()}) == 1

    @property
    def alike_around(self) -> bool:
        """Whether interpreter, variant and what the package depends on are the same."""
        left, right = (
            (each.python, each.variant, each.packages) for each in self.sides.values()
        )  # fmt: skip
        return left == right

    def discover(self, side: SideName = "right") -> list[dict[str, Any]]:
        """The benchmarks, as a side's worker finds them.

        Raises:
            WorkerError: they cannot be listed.
        """
        return self._answers(self._start(side, "discover"), must_work=True)

    def prove(self, cases: Sequence[Case], heard: Heard = nobody) -> None:
        """Let every case prove its path on each side, then plan its loops.

        Those of the exact meters are a first guess, from processor time: counting instructions
        plans them anew.
        """
        self.got.proofs |= {side: {} for side in self._names}
        for name, said, _ in self._all("prove", [case.row for case in cases]):
            for side, row in said.items():
                self.got.proofs[side][name] = row
            if all("seconds" in row for row in said.values()):
                seconds, worked = (
                    max(row[key] for row in said.values()) for key in ("seconds", "worked")
                )
                number = max(row.get("number", 0) for row in said.values())
                self.got.loops[name] = plan.loops(seconds, price_of(worked), number)
                if number:  # its loops are as they must be, whatever a call costs
                    self.got.prices[name] = price_of(worked)
            heard(name)

    def count_instructions(
        self, cases: Sequence[Case], spot: Spot = FIRST, heard: Heard = nobody
    ) -> None:
        """Count on each side, side by side: another process cannot move a count.

        The first count of a case settles how often it is called on all sides from then on.
        """
        rows = [
            case.row | ({"counts": vars(self.got.loops[case.name].instructions)}
                          if self.suited is not None or case.name in self.got.prices else {})
            for case in cases
        ]  # fmt: skip
        lanes = 1 if self.alike or len(rows) <= LEAST else LANES
        for side, row, folder in self._measured("instructions", rows, spot, heard, lanes):
            if "dumps" in row:
                self._take(side, row, folder, spot)

    def price(self, cases: Sequence[Case]) -> None:
        """Count single calls of cases, to know what one costs, where there are forks."""
        rows = [case.row for case in cases]
        for _, row, folder in self._measured("instructions", rows, FIRST):
            price = instructions.read_price(folder, row.get("first", ()))
            if price is not None:
                self.got.prices[row["name"]] = price

    def _take(self, side: SideName, row: Mapping[str, Any], folder: Path, spot: Spot) -> None:
        """Keep what the dumps of a case say.

        Raises:
            NoSpaceError: the disk is full.
        """
        name = row["name"]
        totals = instructions.read(folder, row["dumps"])
        if totals is None:
            self.lacks_dump(side, name)
        else:
            number = self.got.loops[name].instructions.per_call(totals)
            self.got.keep("instructions", side, name, number, spot)

    def lacks_dump(self, side: SideName, name: str) -> None:
        """Have a case failed whose dumps are not all there.

        Raises:
            NoSpaceError: the disk is full.
        """
        check_space(self.scratch)
        self._fails(side, name, "callgrind left no dump of it")

    def _fails(self, side: SideName, name: str, words: str) -> None:
        """Note why a case has no number; of two sides, on which."""
        self.got.failures.setdefault(name, f"{side}: {words}" if len(self.sides) > 1 else words)

    def count_allocations(
        self, cases: Sequence[Case], spot: Spot = FIRST, heard: Heard = nobody
    ) -> None:
        """One process a side, side by side."""
        rows = [
            case.row | {"counts": vars(self.got.loops[case.name].allocations)} for case in cases
        ]
        for side, row, _ in self._measured("allocations", rows, spot, heard):
            for meter in allocations.METERS:
                self.got.keep(meter, side, row["name"], row[meter], spot)

    def take_values(self, meter: str, cases: Sequence[Case]) -> None:
        """Ask benchmarks for the value that each gives, in a few processes a side."""
        rows = [case.row for case in cases]
        for spot in (Spot(0, layout) for layout in range(VALUES)):
            for side, row, _ in self._measured("value", rows, spot):
                self.got.keep(meter, side, row["name"], row["value"], spot)

    def time_block(self, block: Block, cases: Sequence[Case]) -> float:
        """One process a side, which take turns; the seconds that they took.

        Their compiled code lies elsewhere in memory than in other blocks. A block with a process
        whose clock cannot be believed is thrown away, and noted.
        """
        start = time.monotonic()
        rows = [case.row | {"loops": self.got.loops[case.name].wall} for case in cases]
        placement.renew(self._code)
        running = {}
        with contextlib.ExitStack() as opened:
            for side, end in zip(block.sides, socket.socketpair(), strict=True):
                # Closed here once both have theirs: then each hears when the other one ends.
                opened.callback(end.close)
                if side in self.sides:
                    talk = end.fileno() if len(self.sides) > 1 else None
                    running[side] = self._start(side, "wall", rows, block, talk=talk)
        pair = {side: self._answers(each, must_work=False) for side, each in running.items()}
        doubts = [
            f"{side}: {row['clock']}" for side in pair for row in pair[side] if "clock" in row
        ]
        if doubts:
            self.got.thrown[block.index] = doubts[0]
            pair = {}
        for side, answers in pair.items():
            for row in answers:
                if not self._failed(side, row):
                    for meter, key in (("wall", "values"), ("tail", "tail")):
                        if key in row:
                            self.got.keep(meter, side, row["name"], row[key], Spot(0, block.index))
        self.got.blocks += 1
        return time.monotonic() - start

    @cached_property
    def _code(self) -> list[Path]:
        """The compiled files that the sides do not share."""
        packages = {each.packages for each in self.sides.values()}
        differ = packages - {""} if len(packages) > 1 else set()
        return placement.compiled({each.folder for each in self.sides.values()} | differ)

    def ask(
        self, task: str, cases: Sequence[Case], extra: Sequence[Mapping[str, Any]]
    ) -> dict[SideName, Rows]:
        """Run any other task of the worker on each side; its answers by side and case."""
        rows = [case.row | dict(more) for case, more in zip(cases, extra, strict=True)]
        answers: dict[SideName, Rows] = {side: {} for side in self._names}
        for name, said, _ in self._all(task, rows):
            for side, row in said.items():
                answers[side][name] = row
        return answers

    def dumps(self, side: SideName, name: str) -> list[Path]:
        """Callgrind's dumps of the larger loop of a case, in every round and layout."""
        found = []
        for folder in sorted(self._folder(side, "instructions").parent.glob("instructions-*")):
            for row in read_lines(folder / ANSWERS):
                if row.get("name") == name:
                    found += [folder / f"cg.out.{many}" for _, many in row.get("dumps", ())]
        return found

    def _failed(self, side: SideName, row: Mapping[str, Any]) -> bool:
        """Note a case that a measuring worker could not measure."""
        words = row.get("error") or row.get("refused") or row.get("absent")
        if words:
            self._fails(side, row["name"], words)
        return bool(words)

    def _measured(
        self, task: str, rows: Sequence[Mapping[str, Any]], spot: Spot, heard: Heard = nobody,
        lanes: int = 1,
    ) -> Iterator[tuple[SideName, dict[str, Any], Path]]:  # fmt: skip
        """What each side measured of each case, and the folder of who did; the rest is noted."""
        for name, said, folders in self._all(task, rows, spot, lanes):
            for side, row in said.items():
                if not self._failed(side, row):
                    yield side, row, folders[side]
            heard(name)

    def _all(
        self, task: str, rows: Sequence[Mapping[str, Any]], spot: Spot = FIRST, lanes: int = 1
    ) -> Iterator[Told]:
        """Run a task on all sides at the same time; what they say of each case, as it comes.

        Args:
            task: of the worker.
            rows: what it is asked of each case.
            spot: which builds, and which layout.
            lanes: among how many processes a side the cases are dealt out.

        Yields:
            A case's name, the answers of the sides and the folders of their workers.

        Raises:
            BenchproofError: a worker does not run.
        """
        heard: SimpleQueue[Told | BaseException | None] = SimpleQueue()

        def lane(number: int) -> None:
            try:
                for each in self._lane(task, rows[number::lanes], spot, number):
                    heard.put(each)
                heard.put(None)
            except BaseException as error:  # noqa: BLE001  (raised again where it is read)
                heard.put(error)

        for number in range(lanes):
            # They end with their workers, which the crew ends whatever happens here.
            Thread(target=lane, args=(number,), daemon=True).start()
        left, since, running = [row["name"] for row in rows], time.monotonic(), lanes
        while running:
            try:
                each = heard.get(timeout=SLOW)
            except Empty:
                # Each lane takes its cases in order: those at the front are being run.
                if left:
                    doing, seconds = _DOING.get(task, "measuring"), time.monotonic() - since
                    self.tell.stage(f"still {doing} {few(left[:running])}, {seconds:.0f} s")
                continue
            since = time.monotonic()
            if isinstance(each, BaseException):
                raise each
            if each is None:
                running -= 1
            else:
                left.remove(each[0])
                yield each

    def _lane(
        self, task: str, rows: Sequence[Mapping[str, Any]], spot: Spot, number: int
    ) -> Iterator[Told]:
        """What one process of each side says, case by case."""
        names = [row["name"] for row in rows]
        folders = {side: self._folder(side, task, spot, number) for side in self._names}
        ends, running = {side: pairing.End() for side in folders}, {}
        with contextlib.ExitStack() as opened:
            for end in ends.values():
                opened.callback(end.close)
            for side, end in ends.items():
                with end.theirs:
                    running[side] = self._start(
                        side, task, rows, spot=spot, lane=number, talk=end.theirs.fileno()
                    )
            answers = pairing.Answers(folders, self.got.loops, self.got.prices)
            lost: list[tuple[str, Said]] = []
            for name, said in pairing.converse(ends, names, answers):
                if len(said) == len(ends):
                    yield name, said, folders
                else:
                    lost.append((name, said))
            ended = {
                side: {row["name"]: row for row in self._answers(each, must_work=False)}
                for side, each in running.items()
            }
            for name, said in lost:
                yield name, {side: said.get(side) or ended[side][name] for side in ends}, folders

    def folder(self, side: SideName, name: str) -> Path:
        """Where a process finds and leaves files: of equal length on both sides."""
        folder = self.scratch / _TOKEN[side] / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _folder(self, side: SideName, task: str, spot: Spot = FIRST, lane: int = 0) -> Path:
        """Where a worker's request, answers and dumps lie."""
        return self.folder(side, f"{task}-{spot.build}-{spot.process}-{lane}")

    def built(self, side: SideName, build: int) -> Built:
        """A side's build."""
        return self.sides[side] if build == 0 else self.others[side][build - 1]

    def _start(
        self,
        side: SideName,
        task: str,
        rows: Sequence[Mapping[str, Any]] = (),
        block: Block | None = None,
        spot: Spot = FIRST,
        lane: int = 0,
        talk: int | None = None,
    ) -> _Running:
        """Write a request and start its worker."""
        folder = self._folder(side, task, spot, lane)
        built = self.built(side, spot.build)
        request: dict[str, Any] = {
            **built.told, "suites": str(self.suites), "task": task, "cases": list(rows),
            "layout": spot.process, "talk": talk, "proof": built.proof,
            "cache": str(self.folder(side, "cache")),
        }  # fmt: skip
        if self.extra:
            # Both sides call through the same function, and their requests are of one length.
            request |= {"extra": [0, self.extra], "which": SIDES.index(side)}
        suited = self.suited if block is None else None
        if suited is not None:
            request["suited"] = [case.row for case in suited]
        if block is not None:
            first = int(side == block.sides[0])
            request |= {"core": self.core, "order": block.order, "first": first}
        env = environment(built.variant, block, spot.process, anywhere=suited is not None)
        child = start(self.crew, request, folder, env, python=built.python)
        return _Running(side, task, folder / ANSWERS, child, [row["name"] for row in rows])

    def ended(self, child: Child) -> Finished:
        """Wait for a process.

        Raises:
            WorkerError: it was made to end.
        """
        ended = self.crew.wait(child)
        if self.crew.stopped:
            raise WorkerError("stopped before the end")
        return ended

    def _answers(self, running: _Running, *, must_work: bool) -> list[dict[str, Any]]:
        """Wait for a worker; its answers, and an error for each case that it did not reach.

        Raises:
            WorkerError: it did not get to its first case (or its last, if it must work), or ended
                badly after its last.
            NoSpaceError: the disk is full.
        """
        ended = self.ended(running.child)
        if ended.status:
            check_space(self.scratch)
        rows = read_lines(running.answers)
        words = (ended.last_lines(1) or [f"the worker ended with status {ended.status}"])[-1]
        if ended.status < 0:
            words = f"the worker was killed by {signal.Signals(-ended.status).name}"
        headed = any("header" in row for row in rows)
        answers = [row for row in rows if "header" not in row]
        if any("No space left" in row.get("error", "") for row in answers):
            raise no_space(self.scratch)
        reached = {row["name"] for row in answers if "name" in row}
        lost = [name for name in running.names if name not in reached]
        # One that ends badly after its last answer is not believed either.
        if not headed or (ended.status and (must_work or not lost)):
            side, built = running.side, self.sides[running.side]
            raise WorkerError(
                f"the {side} side ({built.impl or built.kind}) does not run its {running.task} "
                f"worker: {words}"
            )
        return answers + [{"name": name, "error": words} for name in lost]


@dataclass(frozen=True)
class _Running:
    """A started worker and what is expected of it."""

    side: SideName
    task: str
    answers: Path
    child: Child
    names: list[str]


def start(
    crew: Crew,
    request: dict[str, Any],
    folder: Path,
    env: Mapping[str, str],
    *,
    python: str = sys.executable,
) -> Child:
    """Write a request, and start the worker that answers it.

    Args:
        crew: runs it.
        request: what it is asked; where it answers, and finds this package, is added.
        folder: for the request, `ANSWERS`, dumps and the worker's log; made.
        env: its environment.
        python: the interpreter.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ANSWERS).unlink(missing_ok=True)
    tools = [str(Path(__file__).resolve().parents[1]), *dependencies.beside()]
    request |= {"out": str(folder / ANSWERS), "tools": tools}
    file = folder / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    # -P: the worker's own folder stays off sys.path.
    command = [python, "-P", worker.__file__, str(file)]
    if request["task"] == "instructions":
        command = instructions.command(command, folder, forks="suited" in request)
    # The worker's own PATH may be another one.
    command[0] = shutil.which(command[0]) or command[0]
    return crew.start(
        command, log=folder / "worker.log", cwd=folder, env=env, talk=request.get("talk")
    )


def environment(
    variant: Variant, block: Block | None, layout: int = 0, *, anywhere: bool = False
) -> dict[str, str]:
    """A worker's environment: of the same size on both sides.

    Args:
        variant: with its variables.
        block: of wall time.
        layout: of an exact meter.
        anywhere: whether it is the same in every terminal; else it is what this process has.
    """
    env = {k: v for k, v in os.environ.items() if k not in _NOT_FOR_WORKERS}
    if anywhere:
        env = {k: v for k, v in env.items() if k in _NEEDED} | _EVERYWHERE
    seed = _FIXED_HASH_SEED + layout if block is None else block.hash_seed
    padding = variant.slack + (0 if block is None else block.padding)
    return variants.environment(variant, env) | {
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
