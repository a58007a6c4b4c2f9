"""Whole commands as cases: what a process of a side takes from its start to its end.

Instructions and system calls are counted by callgrind, in the process itself and none that it
starts. Wall time, processor time (user and system) and peak resident memory are the system's own
figures of the process and all that it waited for, in pairs of processes, the sides in turn. A first
run sees which files of the package were imported, and what was printed.
"""

import hashlib
import importlib.metadata
import itertools
import json
import os
import re
import shlex
import shutil
import sys
import sysconfig
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from . import bench as benches
from . import counting, plan
from .bench import Bench
from .collected import Spot
from .errors import SelectionError, WorkerError
from .meters import VALUES, instructions
from .plan import SIDES, Block, SideName
from .processes import Finished
from .suite import Case

SUITE, KIND = "command", "command"
#: Pairs of processes: no more than `BLOCKS`; not fewer than `FEWEST`, whatever the budget is.
BLOCKS, FEWEST = 40, 12
#: Of a process, seconds by the clock, seconds of the processor, and the most bytes.
USED = ("wall", "processor", "peakmemory")
#: Starts the command, writes `USED` of it, and ends as it does. It loads next to nothing: the peak
#: memory of a process counts what it had before it became another program.
_LAUNCH = """
import os, sys, time
out, *command = sys.argv[1:]
start = time.perf_counter()
pid = os.posix_spawnp(command[0], command, os.environ)
_, status, used = os.wait4(pid, 0)
seconds = time.perf_counter() - start
with open(out, "w") as file:
    print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, file=file)
sys.exit(os.waitstatus_to_exitcode(status))
"""
#: Imported by a Python program as it starts; notes the package's files as it ends.
_WITNESS = """
import atexit, json, os, sys
side, out = os.environ["BENCHPROOF_SIDE"], os.environ["BENCHPROOF_SEEN"]
@atexit.register
def note():
    files = {name: str(getattr(module, "__file__", None)) for name, module in
             list(sys.modules.items())}
    with open(out, "w", encoding="utf-8") as file:
        json.dump({name: os.path.relpath(path, side) for name, path in files.items()
                   if path.startswith(side + os.sep)}, file)
"""
_EVENTS = re.compile(r"^events: (.*)$", re.MULTILINE)
_TOTALS = re.compile(r"^(?:summary|totals): (.*)$", re.MULTILINE)


def case(command: str) -> Case:
    """The case of a command.

    Args:
        command: as a shell would read it, though none runs it.

    Raises:
        SelectionError: it is empty, or its quotes do not end.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SelectionError(f"--command {command!r}: {error}") from error
    if not words:
        raise SelectionError("--command needs a command")
    return Case(f"{SUITE}.{command}", f"{SUITE}.", None, "1", answers_may_differ=False, kind=KIND)


def measure(
    bench: Bench, cases: Iterable[Case], tasks: Collection[str], budget: float = 0.0
) -> None:
    """Measure the commands among some cases; nothing where there is none.

    Args:
        bench: with both sides built.
        cases: all that were chosen.
        tasks: of the meters.
        budget: seconds of wall time for each of them.
    """
    for each in (case for case in cases if case.kind == KIND):
        bench.tell.stage(f"running {each.case}")
        if not counting.prove_apart(bench, each, partial(_see, bench, each)):
            continue
        if "instructions" in tasks:
            _count(bench, each)
        if "wall" in tasks:
            _time(bench, each, budget)


def _see(bench: Bench, each: Case, side: SideName) -> dict[str, Any]:
    """Run it once: which files of the side it imports, and what it prints.

    Raises:
        WorkerError: it ends with another status than 0.
    """
    folder = bench.folder(side, f"{SUITE}-see")
    (folder / "sitecustomize.py").write_text(_WITNESS, encoding="utf-8")
    seen = folder / "seen.json"
    env = _environment(bench, side, str(folder))
    env |= {"BENCHPROOF_SIDE": bench.sides[side].folder, "BENCHPROOF_SEEN": str(seen)}
    ended = _run(bench, side, _words(bench, side, each), folder, env)
    modules = json.loads(seen.read_text(encoding="utf-8")) if seen.exists() else {}
    digest = hashlib.sha256(ended.log.read_bytes()).hexdigest()
    grade = "witnessed" if modules else "unseen"
    return {"proof": {"modules": modules, "probe": {}, "digest": digest, "grade": grade}}


def _count(bench: Bench, each: Case) -> None:
    """Count in one layout, and in more as long as a change could be an accident."""
    for spot in counting.layouts(bench, each):
        for side in SIDES:
            folder = bench.folder(side, f"{SUITE}-count-{spot.process}")
            out = folder / "cg.out"
            valgrind = ["valgrind", "--tool=callgrind", "--vgdb=no", "--quiet",
                        "--collect-systime=yes", f"--callgrind-out-file={out}"]  # fmt: skip
            if instructions.fixed_addresses():
                valgrind = ["setarch", "-R", *valgrind]
            env = _environment(bench, side, layout=spot.process)
            _run(bench, side, [*valgrind, *_words(bench, side, each)], folder, env)
            text = out.read_text(encoding="utf-8", errors="replace") if out.exists() else ""
            events, totals = _EVENTS.search(text), _TOTALS.search(text)
            if events is None or totals is None:
                bench.lacks_dump(side, each.name)
                return
            found = dict(zip(events[1].split(), map(int, totals[1].split()), strict=False))
            bench.got.keep("instructions", side, each.name, found["Ir"], spot)
            bench.got.keep("syscalls", side, each.name, found.get("sysCount", 0), spot)


def _time(bench: Bench, each: Case, budget: float) -> None:
    """Run it in pairs until the budget is used, and keep what the system says of each process."""
    end = time.monotonic() + budget
    for number, block in enumerate(itertools.islice(plan.blocks(seed=1), BLOCKS)):
        if number >= FEWEST and time.monotonic() > end:
            return
        for side in block.sides:
            folder = bench.folder(side, f"{SUITE}-time")
            out = folder / "used"
            launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(out)]
            env = _environment(bench, side, block=block)
            _run(bench, side, [*launch, *_words(bench, side, each)], folder, env)
            used = map(float, out.read_text(encoding="utf-8").split())
            keep(bench, side, each, block, dict(zip(USED, used, strict=True)))


def keep(bench: Bench, side: SideName, each: Case, block: Block, used: Mapping[str, float]) -> None:
    """Keep what a process used, by meter; the most bytes, if they are known, of a few processes."""
    for meter, value in used.items():
        if meter != "peakmemory" or (value and block.index < VALUES):
            bench.got.keep(meter, side, each.name, value, Spot(0, block.index))


def _run(
    bench: Bench, side: SideName, words: Sequence[str], folder: Path, env: dict[str, str]
) -> Finished:
    """Run a command to its end.

    Raises:
        WorkerError: it cannot be started, or ends with another status than 0.
    """
    try:
        child = bench.crew.start(words, log=folder / "log", cwd=folder, env=env)
    except OSError as error:
        raise WorkerError(f"the {side} side cannot run {words[0]}: {error.strerror}") from error
    ended = bench.ended(child)
    if ended.status:
        said = (ended.last_lines(1) or [f"it ended with status {ended.status}"])[-1]
        raise WorkerError(f"the {side} side: status {ended.status}, {said}")
    return ended


def _words(bench: Bench, side: SideName, each: Case) -> list[str]:
    """The command line: programs of the side first, then those of the packages beside it.

    Those in Python are started by the side's interpreter and not by their own first line, which can
    name none whose path has spaces or is long.
    """
    first, *others = shlex.split(each.case)
    python = bench.sides[side].python
    if first in {"python", "python3"}:
        return [python, *others]
    found = shutil.which(first, path=_environment(bench, side)["PATH"]) or first
    own = {_scripts(bench, side), Path(python).parent}
    return [*[python] * (Path(found).parent in own and _is_python(found)), found, *others]


def _is_python(program: str) -> bool:
    """Whether it is a script that an installer wrote for an interpreter."""
    with Path(program).open("rb") as file:
        first, second = file.readline(4096), file.readline(4096)
    return first.startswith(b"#!") and (b"python" in first or second.startswith(b"'''exec'"))


def _environment(
    bench: Bench, side: SideName, *first: str, block: Block | None = None, layout: int = 0
) -> dict[str, str]:
    """The environment of a command: the side is found before anything that is installed here."""
    built = bench.sides[side]
    env = benches.environment(built.variant, block, layout)
    others = [each for each in env.get("PATH", "").split(os.pathsep) if not _is_of_tool(each)]
    programs = [str(_scripts(bench, side)), str(Path(built.python).parent), *others]
    paths = [*first, built.folder]
    return env | {"PYTHONPATH": os.pathsep.join(paths), "PATH": os.pathsep.join(programs)}


def _is_of_tool(folder: str) -> bool:
    """Whether it has the programs of the tool's own environment, whose packages are no side's."""
    return sys.prefix != sys.base_prefix and Path(folder) == Path(sysconfig.get_path("scripts"))


def _scripts(bench: Bench, side: SideName) -> Path:
    """The programs that the side's wheel would install."""
    folder, built = bench.folder(side, "bin"), bench.sides[side]
    for found in importlib.metadata.distributions(path=[built.folder]):
        for point in found.entry_points.select(group="console_scripts"):
            script = folder / point.name
            if not script.exists():
                script.write_text(
                    f"#!{built.python}\nimport sys\nfrom {point.module} import {point.attr}\n"
                    f"sys.exit({point.attr}())\n",
                    encoding="utf-8",
                )
                script.chmod(0o755)
    return folder
