"""Runs in a process of its own, with one side's driver: prove the path, run one meter.

Started by path, with a request file as its only argument; writes one JSON object a line, so that
what was measured before an interruption is kept. The side's folder is first on `sys.path`, the rest
is the environment of the side; of the tool's own only what measures is found (`OfTool`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import json
import math
import os
import random
import signal
import sys
import traceback
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from benchproof.asv_suite import Ready

COMPILED = tuple(EXTENSION_SUFFIXES)
#: What measures, and what memray imports: found beside the tool, the latter once memray is loaded.
OF_TOOL = frozenset({"asv_runner", "benchproof", "memray", "pympler"})
OF_MEMRAY = frozenset({"rich", "typing_extensions"})
#: Seconds that a case in a fork may take, as in asv.conf.json; under valgrind so often as long.
TIMEOUT, SLOWER = 120, 10


class Refused:
    """Ends the process where the package is imported: a list of benchmarks without it is no list.

    An error would not do: a suite may catch it, and define other benchmarks.
    """

    def __init__(self, package: str) -> None:
        """The package's name, with dots where it lies in a namespace."""
        self._name = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        """The import system's question."""
        del path, target
        if f"{name}.".startswith(f"{self._name}."):
            os._exit(1)


class OfTool:
    """Finds what measures where the tool is installed, behind all that the side's environment has.

    On `sys.path` that folder would supply everything else in it, too.
    """

    def __init__(self, folders: Sequence[str]) -> None:
        """The folders of the tool and of the packages that it needs."""
        self._folders = folders

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import system's question."""
        wanted = name in OF_TOOL or (name in OF_MEMRAY and "memray" in sys.modules)
        return PathFinder.find_spec(name, self._folders, target) if wanted and not path else None


class WrongDriverError(Exception):
    """The driver that was imported is not the side's."""


#: What `unsettle` made: alive as long as the process.
_ballast: list[object] = []


def unsettle(layout: int) -> None:
    """Shift what the driver's objects and types will be: their addresses and version tags.

    The interpreter's method cache and every dictionary keyed by types or functions hash these, so
    that an unrelated edit can make two of them collide for the life of a process. Another layout
    makes others collide.
    """
    for number in range(97 * layout):
        kind = type(f"Ballast{number}", (), {"weight": number})
        _ballast.extend((kind, kind().weight, str(number) * 5))


def enter(request: Mapping[str, Any]) -> dict[str, str]:
    """Put the side first, import its driver, and prove that it is the one.

    Raises:
        WrongDriverError: another driver, or another variant, was imported.
    """
    unsettle(request.get("layout", 0))
    side = Path(request["side"])
    sys.path.insert(0, str(side))
    # What a benchmark starts finds the same packages, and their programs.
    programs = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    os.environ |= {"PYTHONPATH": str(side), "PATH": os.pathsep.join(programs)}
    driver = importlib.import_module(package_of(side))
    # A namespace package is no file, but folders.
    file = driver.__file__ or next(iter(driver.__path__))
    if not of_pytest(request):
        find_suites(request)
    # A package need not name its variant; its files are proved case by case.
    impl = getattr(driver, "IMPL", None)
    if not Path(file).is_relative_to(side):
        raise WrongDriverError(f"imported {file}, which is not below {side}")
    if impl in request.get("others", ()):
        raise WrongDriverError(f"runs as {impl}, and {request['impl']} was asked for")
    return {"driver": file, "impl": request["impl"]}


def package_of(side: Path) -> str:
    """The name of the package that a side holds, as it was noted when it was built."""
    try:
        return str(json.loads(Path(side, "side.json").read_bytes())["package"])
    except (OSError, KeyError):
        return "driver"


def find_suites(request: Mapping[str, Any]) -> None:
    """Let the suites be imported from their own folder and no other, by asv's own finder."""
    kinds = {row.get("kind") for row in request.get("cases", ())}
    described = request["task"] in {"list", "discover"}
    memory = "memory" in kinds or described
    if not memory:
        # Only mem_ benchmarks need it, and it loads numpy, in each of many processes.
        sys.modules["pympler"] = None  # type: ignore[assignment]
    with only_asv_plugins():
        from asv_runner import _aux, discovery  # noqa: F401, PLC0415  (found once the side is first)
        from asv_runner.benchmarks import _base  # noqa: PLC0415

    if not described:
        # A benchmark's version is a hash of its tokens, which takes longer than most set-ups.
        _base.get_source_code = lambda _: ""
    if not memory:
        del sys.modules["pympler"]
    _aux.update_sys_path(request["suites"])


@contextlib.contextmanager
def only_asv_plugins() -> Iterator[None]:
    """Let asv_runner see no installed distribution but its plugins.

    It reads the metadata of all to find those whose name begins with `asv_bench`, which takes
    longer than everything else that a worker imports. The name of their folder tells as much.
    """
    from importlib import metadata  # noqa: PLC0415  (only asv_runner needs it)

    everything = metadata.distributions
    # What is in no folder has to be asked.
    plugins = [
        each for each in everything()
        if Path(str(getattr(each, "_path", "asv_bench"))).name.lower().startswith("asv_bench")
    ]  # fmt: skip
    metadata.distributions = lambda: iter(plugins)  # type: ignore[assignment]
    try:
        yield
    finally:
        metadata.distributions = everything


def of_pytest(request: Mapping[str, Any]) -> bool:
    """Whether pytest runs the benchmarks: a name tells, and before there are names their files."""
    from benchproof import pytest_files  # noqa: PLC0415  (found once the side is on sys.path)

    if request["task"] in {"list", "discover"}:
        return bool(pytest_files.benchmarks(Path(request["suites"])))
    return any("::" in row["name"] for row in request.get("cases", ()))


def check_proof(proof: Mapping[str, Any], side: Path, kind: str) -> dict[str, Any]:
    """What a case says that it ran, held against what the side holds.

    Raises:
        AssertionError: a file lies outside of the side, or is not of the kind.
    """
    package = side.joinpath(*package_of(side).split("."))
    # A compiled form stands beside a module, or in a folder that mirrors the package.
    places = [package, *package.glob("_*/")]
    for name, file in proof["modules"].items():
        if not Path(file).resolve().is_relative_to(side.resolve()):
            raise AssertionError(f"{name} ran from {file}, which is not this side's")
        compiled = str(file).endswith(COMPILED)
        forms = [place.joinpath(*name.split(".")) for place in places]
        has_both = any(
            form.with_name(form.name + suffix).exists() for form in forms for suffix in COMPILED
        )
        if compiled and kind == "pure":
            raise AssertionError(f"{name} ran compiled in a pure Python side")
        if has_both and not compiled and kind == "compiled":
            raise AssertionError(f"{name} ran in Python, though the side has it compiled")
    return {
        "modules": {n: str(Path(f).resolve().relative_to(side.resolve()))
                    for n, f in proof["modules"].items()},
        "probe": proof.get("probe", {}),
        "digest": str(proof["digest"]),
        "grade": "proved",
    }  # fmt: skip


#: Longer than any answer.
_LONGEST_ANSWER = 4096


def tell(descriptor: int, message: Mapping[str, Any]) -> None:
    """Say a line of JSON to the harness, which hears the workers of both sides (`pairing`)."""
    rest = (json.dumps(message) + "\n").encode()
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def ask(descriptor: int, message: Mapping[str, Any]) -> Any:  # noqa: ANN401  (what JSON holds)
    """Say something and wait for the answer; None where there is nobody to give one.

    In one read, so that waiting is the same work however long it takes.
    """
    tell(descriptor, message)
    return json.loads(os.read(descriptor, _LONGEST_ANSWER) or b"null")


def prove(request: Mapping[str, Any], row: Mapping[str, Any], made: Ready) -> dict[str, Any]:
    """Run a case's own proof, or see what it runs; then time a call roughly.

    By a clock, and what the processor did: of a case that is not timed there is nothing of that.

    Raises:
        AssertionError: there is less of a proof than the project demands.
    """
    from benchproof import asv_suite, witness  # noqa: PLC0415  (found once the side is on sys.path)
    from benchproof.meters import wall  # noqa: PLC0415

    side, own = Path(request["side"]), getattr(made.benchmark.func, "prove", None)
    kind, answer = row.get("kind", "time"), {"name": row["name"], "number": made.number}
    if own is not None:
        proof = check_proof(own(), side, request.get("kind", ""))
    elif request.get("proof") == "proved":
        raise AssertionError("the case has no prove(): nothing shows what it measures")
    elif kind == "timeraw":
        proof = {"grade": "unseen", "modules": {}, "probe": {}, "digest": ""}
    else:
        proof = witness.see(made, side, package_of(side))
    if request.get("proof") == "witnessed" and proof["grade"] == "unseen":
        raise AssertionError(f"nothing of {package_of(side)} was seen to run")
    answer["proof"] = proof
    if kind == "timeraw":
        (seconds,) = asv_suite.raw_values(made, 1)
        return answer | {"seconds": seconds, "worked": seconds}
    if kind == "time":
        seconds, worked = wall.calibrate(made.call, made.number, made.renew)
        ran = witness.code(made, side, package_of(side))
        return answer | {"seconds": seconds, "worked": worked, "code": ran}
    return answer


def time_it(request: Mapping[str, Any], row: Mapping[str, Any], made: Ready) -> dict[str, Any]:
    """Take this process's wall times of a case, or say why its clock cannot be believed."""
    from benchproof import asv_suite  # noqa: PLC0415
    from benchproof.meters import wall  # noqa: PLC0415

    turns, answer = request["turns"], {"name": row["name"]}
    try:
        if row.get("kind") == "timeraw":
            for _ in turns.take(1):
                answer["values"] = asv_suite.raw_values(made, wall.FEWEST_VALUES)
        else:
            answer["values"] = wall.measure(made.call, row["loops"], made.renew, made.repeat, turns)
        for _ in turns.take(1) if row.get("tail") else ():
            answer["tail"] = wall.tail(made.call, row["loops"], made.renew)
    except wall.ClockError as error:
        return {"name": row["name"], "clock": str(error)}
    return answer


def count_instructions(
    request: Mapping[str, Any], row: Mapping[str, Any], made: Ready
) -> dict[str, Any]:
    """Leave callgrind's dumps of a case: of one call, where nobody says how often to call it."""
    from benchproof.meters import instructions  # noqa: PLC0415
    from benchproof.meters.counts import Counts  # noqa: PLC0415

    # In forks nobody answers: what was counted on other days was counted in as many rounds.
    talk = 0 if "suited" in request else request.get("talk") or 0
    name, counts = row["name"], row.get("counts")

    def dearer(left: Sequence[instructions.Mark]) -> bool:
        nonlocal counts
        counts = ask(talk, {"first": left})
        return counts is True

    def again(left: Sequence[tuple[instructions.Mark, instructions.Mark]]) -> bool:
        return bool(ask(talk, {"dumps": left}))

    if counts is None:
        first = instructions.first(made.call, dearer if talk else None, made.renew)
        if counts is None:
            return {"name": name, "first": first}
    dumps = instructions.measure(made.call, Counts(**counts), again if talk else None, made.renew)
    return {"name": name, "dumps": dumps}


def count_allocations(_: Mapping[str, Any], row: Mapping[str, Any], made: Ready) -> dict[str, Any]:
    """Record a case's allocations."""
    from benchproof.meters import allocations  # noqa: PLC0415
    from benchproof.meters.counts import Counts  # noqa: PLC0415

    numbers = allocations.measure(made.call, Counts(**row["counts"]), made.renew)
    return {"name": row["name"], **dict(zip(allocations.METERS, numbers, strict=True))}


def profile(_: Mapping[str, Any], row: Mapping[str, Any], made: Ready) -> dict[str, Any]:
    """Count a case's bytecodes and its calls into C, by Python function."""
    from benchproof.profile import tracer  # noqa: PLC0415

    return {"name": row["name"], **tracer.measure(made.call, row["calls"])}


def trace_lines(request: Mapping[str, Any], row: Mapping[str, Any], made: Ready) -> dict[str, Any]:
    """The lines of the side's files that a call runs."""
    from benchproof.profile import tracer  # noqa: PLC0415

    return {"name": row["name"], "lines": tracer.lines(made.call, Path(request["side"]))}


def tell_value(_: Mapping[str, Any], row: Mapping[str, Any], made: Ready) -> dict[str, Any]:
    """The number that a `track_`, `mem_` or `peakmem_` benchmark gives."""
    value = made.benchmark.do_run()
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"it gave {value!r}, which is no number")
    return {"name": row["name"], "value": value}


TASKS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], Ready], dict[str, Any]]] = {
    "prove": prove,
    "wall": time_it,
    "instructions": count_instructions,
    "allocations": count_allocations,
    "profile": profile,
    "lines": trace_lines,
    "value": tell_value,
}


def slowed(made: Ready, turns: int) -> Ready:
    """The same case with extra work in front of each call, for a control."""
    call = made.call

    def slower() -> Any:  # noqa: ANN401  (what the case gives)
        for _ in range(turns):
            pass
        return call()

    return dataclasses.replace(made, call=slower)


def measure(request: Mapping[str, Any], row: Mapping[str, Any], made: Ready) -> dict[str, Any]:
    """Run the request's task on a case that is set up."""
    if "extra" in request:
        made = slowed(made, request["extra"][request["which"]])
    try:
        return TASKS[request["task"]](request, row, made)
    except AssertionError as error:
        if request["task"] != "prove":
            raise
        return {"name": row["name"], "refused": str(error) or last_words()}


def one(request: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Run the request's task on one case; what goes wrong becomes the answer."""
    from benchproof import asv_suite  # noqa: PLC0415  (found once the side is on sys.path)

    try:
        with asv_suite.ready(request, row) as made:
            return measure(request, row, made)
    except asv_suite.Skipped as error:
        return {"name": row["name"], "absent": str(error)}
    except Exception:  # noqa: BLE001  (any failure of a case is that case's answer)
        return {"name": row["name"], "error": last_words()}


def apart(answer: Callable[[], Mapping[str, Any]], name: str) -> dict[str, Any]:
    """What a fork of this process answers about a case, or how it died instead."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            with open(write, "w", encoding="utf-8") as out:  # noqa: PTH123  (a descriptor)
                out.write(json.dumps(answer()))
            status = 0
        finally:
            # Nothing else of what this process has open may be flushed or closed twice.
            os._exit(status)
    os.close(write)
    with open(read, encoding="utf-8") as words:  # noqa: PTH123
        said = words.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if not code:
        found: dict[str, Any] = json.loads(said)
        return found
    how = f"its process ended with {'signal' if code < 0 else 'status'} {abs(code)}"
    return {"name": name, "error": "it gave no answer in time" if -code == signal.SIGALRM else how}


def last_words() -> str:
    """The exception being handled, with the place that it came from, on one line."""
    kind, error, trace = sys.exc_info()
    frames = traceback.extract_tb(trace)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{kind.__name__ if kind else ''}: {error}{where}"


def with_turns(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request, with this side's end of taking turns if it times cases."""
    if request["task"] != "wall":
        return request
    from benchproof.meters.turns import Turns  # noqa: PLC0415  (found once the side is first)

    return {**request, "turns": Turns(request.get("talk"), first=bool(request.get("first", 1)))}


def has_done(request: Mapping[str, Any], row: Mapping[str, Any]) -> None:
    """Tell whoever waits for it that a case is done: the other side, or the harness."""
    if "turns" in request:
        request["turns"].end()
    elif request.get("talk"):
        tell(request["talk"], row)


def serve(request: Mapping[str, Any], out: TextIO) -> None:
    """Answer a request, a line at a time."""

    def say(row: Mapping[str, Any]) -> None:
        out.write(json.dumps(row) + "\n")
        out.flush()
        if "name" in row:
            has_done(request, row)

    if "suited" in request:
        serve_in_forks(request, say)
        return
    if request["task"] == "list":
        sys.meta_path.insert(0, Refused(request["package"]))
        if of_pytest(request):  # tests import what they test
            sys.exit(1)
        find_suites(request)
    else:
        say({"header": enter(request) | {"python": sys.version.split()[0]}})
    if request["task"] == "allocations":
        require("memray")
    request = with_turns(request)
    if request.get("core") is not None:
        os.sched_setaffinity(0, {request["core"]})
    if request["task"] in {"list", "discover"}:
        discover(request, say)
        return
    cases = list(request["cases"])
    if "order" in request:
        random.Random(request["order"]).shuffle(cases)  # noqa: S311  (an order, not a secret)
    if of_pytest(request):
        from benchproof import pytest_suite, witness  # noqa: PLC0415

        side = Path(request["side"])
        watch = partial(witness.watching, side=side, package=package_of(side))
        proves = request["task"] == "prove"
        pytest_suite.run(request, cases, partial(measure, request), say, watch if proves else None)
        return
    for row in cases:
        # Peak memory is a process's, and a value may depend on what ran before it.
        alone = request["task"] == "value"
        say(apart(partial(one, request, row), row["name"]) if alone else one(request, row))


def serve_in_forks(request: Mapping[str, Any], say: Callable[[Mapping[str, Any]], None]) -> None:
    """Answer each case in a fork of this process: the canary before the package is there.

    Numbers of different days are compared, so a case must not feel which others were asked for.
    All begin in the same state: of a process that has imported the package and the suites, and has
    set up the first case of each suite, which reads what all of that suite share. Under valgrind
    the start is also paid once.
    """
    from benchproof.meters import instructions  # noqa: PLC0415

    counts = request["task"] == "instructions"

    def forked(row: Mapping[str, Any]) -> dict[str, Any]:
        signal.alarm(TIMEOUT * (SLOWER if counts else 1))
        if counts:
            instructions.forked()
        return one(request, row)

    if counts:
        instructions.settle()
    if request["task"] == "allocations":
        with contextlib.suppress(ImportError):
            importlib.import_module("memray")
    for own in (True, False):
        if not own:
            say({"header": enter(request) | {"python": sys.version.split()[0]}})
            preload(request)
        gc.collect()
        gc.freeze()
        for row in request["cases"]:
            if (row.get("kind") == "canary") is own:
                say(apart(partial(forked, row), row["name"]))


def preload(request: Mapping[str, Any]) -> None:
    """Import the suites and the package's modules that they name; set up one case of each suite.

    What fails here fails again in the fork of the case whose it is, and is told there.
    """
    from benchproof import asv_suite  # noqa: PLC0415  (found once the side is on sys.path)

    first: dict[str, Mapping[str, Any]] = {}
    needed: set[str] = set()
    for row in request["suited"]:
        with contextlib.suppress(Exception):
            needed |= set(getattr(asv_suite.find(request["suites"], row).func, "modules", ()))
            first.setdefault(row["benchmark"].rpartition(".")[0], row)
    package = package_of(Path(request["side"]))
    for name in sorted(needed):
        with contextlib.suppress(Exception):
            importlib.import_module(f"{package}.{name}")
    for row in first.values():
        with contextlib.suppress(Exception), asv_suite.ready(request, row):
            pass


def require(name: str) -> None:
    """End where an interpreter lacks what a meter needs.

    Raises:
        SystemExit: it is not installed, or not for this interpreter.
    """
    try:
        importlib.import_module(name)
    except ImportError as error:
        sys.exit(f"{name} is not installed for {sys.executable}: install it there ({error})")


def discover(request: Mapping[str, Any], say: Callable[[Mapping[str, Any]], None]) -> None:
    """Describe what there is to measure, by the loader of those who wrote it."""
    if of_pytest(request):
        require("pytest")
        from benchproof import pytest_suite  # noqa: PLC0415  (needs pytest)

        pytest_suite.discover(request, say)
        return
    from benchproof import asv_suite  # noqa: PLC0415

    for row in asv_suite.discover(request["suites"]):
        say(row)


def main(path: str) -> int:
    """Serve the request in a file; the exit status."""
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    sys.meta_path.append(OfTool(request["tools"]))
    with Path(request["out"]).open("w", encoding="utf-8") as out:
        serve(request, out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
