"""Import time as a case: what a fresh interpreter spends on importing the measured package.

Benchmarks call what was imported long ago, so that none of them feels a table that is now built at
import. This case needs nothing of the project: `import.<package>`, in a suite of its own. A process
a side and layout imports the package, then the modules that the measured benchmarks ran on both
sides, between two marks that callgrind understands: the interpreter's own start is not in the
number. Byte code is there beforehand, hash seed and addresses are fixed, the collector is off. What
the interpreter loads at its start costs nothing.

The count is exact and decides. Wall time (a process a value, sides in turn) is taken only where the
count is missing or moved, `BLOCKS` times. Of an import that a person named it is always taken, with
the processor time of the import and the peak memory of the process, as of a whole command.
"""

import itertools
import json
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from . import bench as benches
from . import counting, plan, programs
from .bench import Bench
from .collected import FIRST, Spot
from .errors import WorkerError
from .meters import instructions
from .plan import SIDES, Block, SideName
from .processes import Child
from .suite import Case

#: The kind is that of an import that a person named.
SUITE, KIND = "import", "import"
#: Pairs of processes for wall time: enough for a change of some per cent beside a hundred others.
BLOCKS = 24
#: Which of the child's two dumps is the import; the first lets the linker find both marks.
_DUMP = 2
#: Run as it is, so that a worker's own imports take nothing away from the package's.
_CHILD = """
import gc, os, sys, time
side, folder, core = sys.argv[1:]
with open(os.path.join(folder, "names"), encoding="utf-8") as file:
    names = file.read().split()
sys.path.insert(0, side)
if core:
    os.sched_setaffinity(0, {int(core)})
gc.collect()
gc.freeze()
gc.disable()
os.getppid()
os.getpgrp()
before = set(sys.modules)
worked = time.process_time()
start = time.perf_counter()
os.getppid()
for name in names:
    __import__(name)
os.getpgrp()
seconds = time.perf_counter() - start
worked = time.process_time() - worked
# getrusage would count the process that started this one. Without /proc there is no peak.
peak = 0
if os.path.exists("/proc/self/status"):
    with open("/proc/self/status", encoding="utf-8") as file:
        peak = sum(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))
import json
module = sys.modules[names[0]]
own = [each for each in set(sys.modules) - before if (each + ".").startswith(names[0] + ".")]
with open(os.path.join(folder, "answer.json"), "w", encoding="utf-8") as file:
    json.dump({"used": {"wall": seconds, "processor": worked, "peakmemory": peak},
               "file": module.__file__, "modules": len(own),
               "impl": getattr(module, "IMPL", None)}, file)
"""


def case(package: str, kind: str = KIND) -> Case:
    """The case of a package.

    Args:
        package: the name by which it is imported.
        kind: "time" for what is beside a project's benchmarks.
    """
    return Case(f"{SUITE}.{package}", "", None, "1", answers_may_differ=True, kind=kind)


def is_one(each: Case) -> bool:
    """Whether a case is an import, and no function of a suite."""
    return each.name.startswith(f"{SUITE}.") and not each.benchmark


def functions(cases: Iterable[Case]) -> list[Case]:
    """The cases that workers can run."""
    return [each for each in cases if not is_one(each) and each.kind != "command"]


def measure(bench: Bench, cases: Sequence[Case], tasks: Collection[str]) -> None:
    """Measure the imports among some cases; nothing where there is none.

    Args:
        bench: with both sides built.
        cases: all that were chosen.
        tasks: of the meters.
    """
    for each in filter(is_one, cases):
        bench.tell.stage(f"importing the package, {_package(each)}")
        if not counting.prove_apart(bench, each, partial(_see, bench, each)):
            continue
        if "instructions" in tasks:
            _count(bench, each)
        counted = counting.judged(bench, each)
        moved = counted is None or counted["verdict"] != "equivalent"
        if "wall" in tasks and (moved or each.kind == KIND):
            for block in itertools.islice(plan.blocks(seed=1), BLOCKS):
                _time(bench, each, block)


def modules(bench: Bench, side: SideName, each: Case) -> list[str]:
    """The package, and the modules that benchmarks proved to have run on both sides.

    Args:
        bench: with the proofs of the functions.
        side: whose files they are: the same module is another file in another implementation.
        each: the import.
    """
    ran = [
        {
            (name, module): file
            for name, row in bench.got.proofs.get(one, {}).items()
            for module, file in row.get("proof", {}).get("modules", {}).items()
        }
        for one in (side, *SIDES)
    ]
    found = {key: ran[0][key] for key in ran[1].keys() & ran[2].keys()}
    package, folder = _package(each), Path(bench.sides[side].folder)
    named = sorted({_importable(folder, package, key[1], file) for key, file in found.items()})
    return list(dict.fromkeys([package, *named]))


def _package(each: Case) -> str:
    """The package that is imported: of a namespace, its name has dots."""
    return each.name.removeprefix(f"{SUITE}.")


def _importable(side: Path, package: str, module: str, file: str) -> str:
    """How users import what ran from a file.

    A compiled module may be loaded by the module of the same name in Python, and expect that: then
    it is this one that is imported.

    Args:
        side: the folder.
        package: its name.
        module: the benchmark's name for it, relative to the package.
        file: relative to the side.
    """
    name = f"{package}.{module}"
    if Path(file).suffix != ".py" and side.joinpath(*name.split(".")).with_suffix(".py").exists():
        return name
    dotted = ".".join((*Path(file).parent.parts, Path(file).name.partition(".")[0]))
    return dotted.removesuffix(".__init__")


def _see(bench: Bench, each: Case, which: SideName) -> dict[str, Any]:
    """Import once, so that byte code is there, and hold what came against what the side holds."""
    answer, built = _answer(bench, which, *_start(bench, which, each, "proof")), bench.sides[which]
    side = Path(built.folder).resolve()
    file = Path(answer["file"] or "").resolve()
    if not file.is_relative_to(side):
        return {"refused": f"imported {file.name} from elsewhere"}
    if answer["impl"] in built.variant.others:
        return {"refused": f"runs as {answer['impl']}, and {built.impl} was asked for"}
    return {
        "proof": {
            "modules": {file.parent.name: str(file.relative_to(side))},
            "probe": {"modules": answer["modules"]},
            "digest": "import",
        },
        "seconds": answer["used"]["wall"],
    }


def _count(bench: Bench, each: Case) -> None:
    """Count in one layout, and in more as long as a change could be an accident."""
    for spot in counting.layouts(bench, each):
        started = {side: _start(bench, side, each, "count", spot=spot) for side in SIDES}
        for side, running in started.items():
            _answer(bench, side, *running)
            totals = instructions.read(running[1].parent, [(1, _DUMP)])
            if totals is None:
                bench.lacks_dump(side, each.name)
                return
            bench.got.keep("instructions", side, each.name, totals[1], spot)


def _time(bench: Bench, each: Case, block: Block) -> None:
    """One process a side, one after the other."""
    for side in block.sides:
        used = _answer(bench, side, *_start(bench, side, each, "time", block))["used"]
        kept = used if each.kind == KIND else {"wall": used["wall"]}
        programs.keep(bench, side, each, block, kept)


def _start(
    bench: Bench, side: SideName, each: Case, how: str, block: Block | None = None,
    spot: Spot = FIRST,
) -> tuple[Child, Path]:  # fmt: skip
    """Start an import; the child, and the file for its answer."""
    built = bench.built(side, spot.build)
    folder = bench.folder(side, f"{SUITE}-{how}-{spot.process}")
    core = str(bench.core) if block is not None and bench.core is not None else ""
    # No argument: its length would move the stack, and callgrind copies it into a dump's head.
    (folder / "names").write_text("\n".join(modules(bench, side, each)), encoding="utf-8")
    command = [built.python, "-P", "-c", _CHILD, built.folder, str(folder), core]
    env = benches.environment(built.variant, block, spot.process)
    if how == "proof":
        env.pop("PYTHONDONTWRITEBYTECODE")
    if how == "count":
        command = instructions.command(command, folder, from_start=True)
    child = bench.crew.start(command, log=folder / "log", cwd=folder, env=env)
    return child, folder / "answer.json"


def _answer(bench: Bench, side: SideName, child: Child, out: Path) -> dict[str, Any]:
    """Wait for an import; what it says.

    Raises:
        WorkerError: it ended badly.
    """
    ended = bench.ended(child)
    if ended.status or not out.exists():
        words = (ended.last_lines(1) or [f"it ended with status {ended.status}"])[-1]
        raise WorkerError(f"the {side} side cannot be imported: {words}")
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found
