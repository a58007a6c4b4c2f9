"""Measure one commit in one variant: build it, prove its cases, count.

What makes counts of separate runs comparable: fixed loop counts (`loops`), hash seed, addresses and
environment; paths of the same length; and each case in a fork of the same process (`forked`), so
that it does not matter which others were asked for.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof import bench, builds, files
from benchproof.errors import BuildError, TargetError, WorkerError, check_space
from benchproof.meters import METERS, instructions
from benchproof.meters.counts import price_of

from . import forked
from .model import CANARY
from .writing import ABSENT, FAILED, Value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from benchproof.build import Built
    from benchproof.compare import Place
    from benchproof.processes import Crew
    from benchproof.suite import Case
    from benchproof.variants import Variant

    from .loops import Loops

#: What workers need of the environment; the rest would move the stack with each terminal.
_NEEDED = ("LD_LIBRARY_PATH", "VALGRIND_LIB", "TMPDIR", "SYSTEMROOT")
_FOLDERS = re.compile(r"(?<![\w/])/(?:[^\s/:'\"()]+/)+")
#: Of a reason that is kept.
_LONGEST = 200
#: How the dumps of a forked worker are called.
_DUMPS = "cg.out.%p"
CANARY_ROW = {"name": CANARY, "module": "benchproof.history.canary"}

#: Tasks of a worker that count, with the meters of each.
_TASKS = {"allocations": ("allocations", "bytes"), "instructions": ("instructions",)}

#: In the place of a meter, where only the proof of a benchmark's path is asked for.
PROOF = "proof"

#: In the place of a task: what one call costs, which needs no loop counts.
PRICE = "price"

#: A benchmark and a meter.
Key = tuple[str, str]


def count_numbers(values: Mapping[Key, Value]) -> int:
    """How many of some values are numbers of benchmarks; the canary's are of none."""
    return sum(
        name != CANARY and each.value is not None and not each.absent
        for (name, _), each in values.items()
    )


@dataclass
class Measured:
    """What was found out about a commit in an implementation.

    Attributes:
        values: by benchmark and meter.
        why: by benchmark, why it has no number.
        host: the name of the machine that measured it, if it is not this one.
    """

    values: dict[Key, Value] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    host: str = ""

    def none_of(self, keys: Iterable[Key], value: Value, why: str) -> Measured:
        """Nothing could be measured, for one reason."""
        self.values |= dict.fromkeys(keys, value)
        self.why[""] = clean(why)
        return self


@dataclass(frozen=True)
class Asked:
    """What is to be found out.

    Attributes:
        commit: hash.
        impl: a variant; "" of a project that names none.
        keys: benchmarks (the canary may be among them) and meters.
    """

    commit: str
    impl: str
    keys: frozenset[Key]

    def names(self, meters: Collection[str] = ()) -> set[str]:
        """The benchmarks of which some meters (or any) are asked for."""
        return {name for name, meter in self.keys if not meters or meter in meters}


@dataclass(frozen=True)
class Measurer:
    """Measures commits of a place.

    Attributes:
        place: the checkout, its suites, its builds.
        cases: all that the suites have.
        loops: the plan.
        crew: runs the workers.
    """

    place: Place
    cases: Sequence[Case]
    loops: Loops
    crew: Crew

    def measure(self, asked: Asked, layout: int = 0) -> Measured:
        """Count what is asked for, in one of several layouts of memory.

        Raises:
            NoSpaceError: the disk is full.
        """
        with files.scratch(self.crew.scratch) as scratch:
            built, found = self.prepare(asked, scratch / "prove")
            if built is None:
                return found
            try:
                self._count(asked, built, scratch, found, layout)
            except WorkerError as error:
                return found.none_of(asked.keys, FAILED, str(error))
        for name, meter in asked.keys:
            if (name, meter) not in found.values:
                found.values[name, meter] = FAILED
                found.why.setdefault(name, "it was not reached")
        return found

    def prove(self, asked: Asked) -> Measured:
        """Only look whether the benchmarks run: the value of one that does is 1.

        Raises:
            NoSpaceError: the disk is full.
        """
        with files.scratch(self.crew.scratch) as folder:
            _, found = self.prepare(asked, folder / "prove")
        return found

    def prepare(self, asked: Asked, folder: Path) -> tuple[Built | None, Measured]:
        """Build, and let every case prove its path; no build where there is nothing to measure.

        Raises:
            NoSpaceError: the disk is full.
        """
        found = Measured()
        try:
            built = build(self.place, self.crew, asked.commit, asked.impl)
            if built.impl != asked.impl:
                return None, found.none_of(asked.keys, ABSENT, built.why_pure)
            request = self._request(asked, built, asked.names(), "prove")
            env = environment(built.variant)
            answers = run(self.crew, request, folder, env)
        except TargetError as error:
            return None, found.none_of(asked.keys, ABSENT, str(error))
        except (BuildError, WorkerError) as error:
            return None, found.none_of(asked.keys, FAILED, str(error))
        for row in answers:
            name = row["name"]
            if "proof" in row:
                found.values |= {key: Value(1) for key in asked.keys if key == (name, PROOF)}
                continue
            value = ABSENT if "absent" in row else FAILED
            found.values |= {key: value for key in asked.keys if key[0] == name}
            found.why[name] = clean(_words(row))
        self._plan(asked, built, answers, folder.with_name(folder.name + "-price"))
        return built, found

    def _plan(
        self, asked: Asked, built: Built, answers: Sequence[Mapping[str, Any]], folder: Path
    ) -> None:
        """Plan the loops of cases that were never seen: by counting a call, where that can be.

        Raises:
            NoSpaceError: the disk is full.
        """
        new = {
            row["name"]: row
            for row in answers
            if "proof" in row and self.loops.lacks(row["name"], asked.impl)
        }
        prices = {name: price_of(row["worked"]) for name, row in new.items()}
        if asked.names(METERS) and new and not instructions.why_not():
            request = self._request(asked, built, new, PRICE) | {"task": "instructions"}
            env = environment(built.variant)
            with contextlib.suppress(WorkerError):
                for each in run(self.crew, request, folder, env):
                    if "first" in each:
                        price = instructions.read_price(_own(folder, each), each["first"])
                        prices[each["name"]] = price or prices[each["name"]]
        for name, row in new.items():
            self.loops.take(name, asked.impl, row["seconds"], prices[name], row.get("number", 0))

    def _count(
        self, asked: Asked, built: Built, scratch: Path, found: Measured, layout: int
    ) -> None:
        """Use the exact meters on what has proved its path."""
        # As in a comparison, each layout has a hash seed of its own.
        env = environment(built.variant) | {"PYTHONHASHSEED": str(layout)}
        for task, own in _TASKS.items():
            names = asked.names(own) - found.why.keys()
            if not names:
                continue
            request = self._request(asked, built, names, task) | {"layout": layout}
            for row in run(self.crew, request, scratch / task, env):
                if "dumps" in row:
                    counts = self.loops.known(row["name"], asked.impl).instructions
                    totals = _totals(scratch / task, row)
                    if totals is None:
                        row["error"] = "callgrind left no dump of it"
                    else:
                        row["instructions"] = counts.per_call(totals)
                self._put(asked, found, row, own)

    def _put(
        self, asked: Asked, found: Measured, row: Mapping[str, Any], meters: Sequence[str]
    ) -> None:
        """Take a case's numbers, or why there are none."""
        for meter in meters:
            if (row["name"], meter) in asked.keys:
                number = row.get(meter)
                found.values[row["name"], meter] = FAILED if number is None else Value(number)
                if number is None:
                    found.why[row["name"]] = clean(_words(row))

    def _request(
        self, asked: Asked, built: Built, names: Collection[str], task: str
    ) -> dict[str, Any]:
        """What a forked worker is asked."""

        def row(about: Mapping[str, Any]) -> dict[str, Any]:
            if task in {"prove", PRICE}:
                return dict(about)
            return {**about, task: vars(getattr(self.loops.known(about["name"], asked.impl), task))}

        rows = [each.row for each in self.cases]
        return {
            **built.told, "suites": str(self.place.suites.resolve()),
            "task": task, "all": rows, "proof": built.proof,
            "cases": [row(each) for each in rows if each["name"] in names],
            "canaries": [row(CANARY_ROW)] if CANARY in names else [],
        }  # fmt: skip


def build(place: Place, crew: Crew, commit: str, impl: str) -> Built:
    """Build a commit, or find it built.

    Raises:
        TargetError: it has no driver.
        BuildError: it does not build.
        NoSpaceError: the disk is full.
    """
    # What a side without a name becomes where it can; a side that cannot is told apart.
    mark = "" if impl == place.checkout.variants[0].name else f"@impl:{impl}"
    return builds.one(commit + mark, place, crew)


def run(
    crew: Crew,
    request: dict[str, Any],
    folder: Path,
    env: Mapping[str, str],
    script: str = forked.__file__,
) -> list[dict[str, Any]]:
    """Run a worker; the answers of its cases.

    Args:
        crew: runs it.
        request: what it is asked.
        folder: for request, answers and dumps; made.
        env: its environment.
        script: the worker; a forked one if none is named.

    Raises:
        WorkerError: it did not get to its first case.
        NoSpaceError: the disk is full.
    """
    child = bench.start(crew, request, folder, env, script=script, dumps=_DUMPS)
    ended = crew.wait(child)
    if ended.status:
        check_space(folder)
    answers = bench.read_lines(folder / bench.ANSWERS)
    if ended.status and not any("header" in row for row in answers):
        words = (ended.last_lines(1) or [f"worker ended with status {ended.status}"])[-1]
        raise WorkerError(f"{request['impl'] or 'the package'} does not run: {words}")
    named = [row for row in answers if "name" in row or "excluded" in row]
    reached = {row.get("name") for row in named}
    lost = [row["name"] for row in request.get("cases", ()) if row["name"] not in reached]
    words = f"the worker ended with status {ended.status}"
    return named + [{"name": name, "error": words} for name in lost]


def environment(variant: Variant) -> dict[str, str]:
    """A worker's environment: the same in every terminal."""
    kept = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    return kept | {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        **variant.run,
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def clean(words: str) -> str:
    """The first line of a reason, without the folders of this machine: it is kept in files."""
    line = words.strip().splitlines()[0] if words.strip() else "no reason was given"
    return _FOLDERS.sub("", line)[:_LONGEST]


def _words(row: Mapping[str, Any]) -> str:
    """Why a case has no number."""
    return str(row.get("absent") or row.get("refused") or row.get("error") or "it gave no number")


def _totals(folder: Path, row: Mapping[str, Any]) -> tuple[int, int] | None:
    """The least of both loops, from the dumps of a case's process.

    Raises:
        NoSpaceError: not all are there, and the disk is full.
    """
    own = _own(folder, row)
    try:
        totals = instructions.read(own, row["dumps"])
        if totals is None:
            check_space(own)
        return totals
    finally:
        shutil.rmtree(own)


def _own(folder: Path, row: Mapping[str, Any]) -> Path:
    """A folder with the dumps of a case's process alone."""
    own = folder / str(row["pid"])
    own.mkdir()
    for dump in folder.glob(f"cg.out.{row['pid']}.*"):
        dump.rename(own / f"cg.out.{dump.suffix[1:]}")
    return own
