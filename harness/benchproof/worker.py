"""Runs in a process of its own, with one side's driver: prove the path, run one meter.

Started by path, with a request file as its only argument; writes one JSON object a line, so that
what was measured before an interruption is kept. The side's folder is first on `sys.path`.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import json
import os
import random
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

COMPILED = tuple(importlib.machinery.EXTENSION_SUFFIXES)


class OnlyFrom:
    """Finds one top-level package in one folder, as asv does for benchmark suites."""

    def __init__(self, package: Path) -> None:
        """The package's own folder."""
        self._name, self._places = package.name, [str(package.parent)]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import system's question."""
        if name != self._name or path is not None:
            return None
        return importlib.machinery.PathFinder.find_spec(name, self._places, target)


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
        WrongDriverError: another driver, or another implementation, was imported.
    """
    unsettle(request.get("layout", 0))
    side = Path(request["side"])
    # Last, and only for `benchproof.meters`: the harness's folder may hold a driver too.
    others = [request["packages"]] if request.get("packages") else []
    sys.path[:] = [str(side), *others, *(p for p in sys.path if p), request["harness"]]
    sys.meta_path.insert(0, OnlyFrom(Path(request["suites"])))
    driver = importlib.import_module(package_of(side))
    file = str(driver.__file__)
    # A package that has one implementation need not name it; its files are proved case by case.
    impl = getattr(driver, "IMPL", request["impl"])
    if not Path(file).is_relative_to(side):
        raise WrongDriverError(f"imported {file}, which is not below {side}")
    if impl != request["impl"]:
        raise WrongDriverError(f"runs as {impl}, and {request['impl']} was asked for")
    return {"driver": file, "impl": impl}


def package_of(side: Path) -> str:
    """The name of the package that a side holds, as it was noted when it was built."""
    try:
        return str(json.loads(Path(side, "side.json").read_bytes())["package"])
    except (OSError, KeyError):
        return "driver"


def discover(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Describe every timing function that asv finds, and name whatever else it finds."""
    from asv_runner.discovery import disc_benchmarks  # noqa: PLC0415  (slow to import)

    for benchmark in disc_benchmarks(request["suites"]):
        function = benchmark.func
        module = sys.modules[function.__module__]
        name = next((k for k, v in vars(module).items() if v is function), None)
        why = why_not_measured(benchmark, name)
        if why:
            yield {"excluded": benchmark.name, "why": why}
        else:
            yield {
                "name": benchmark.name,
                "module": function.__module__,
                "function": name,
                "version": str(benchmark.version),
                "may_differ": bool(getattr(function, "answers_may_differ", False)),
                "part_of": _whole(benchmark.name, getattr(function, "part_of", "")),
            }


def why_not_measured(benchmark: Any, name: str | None) -> str:  # noqa: ANN401  (asv is not typed)
    """Why a benchmark that asv runs is not measured here, or "".

    Args:
        benchmark: as asv's discovery gives it.
        name: of its function in its module, if it is a function there.
    """
    if type(benchmark).__name__ == "TimerawBenchmark":
        return "a timeraw_ benchmark: its statement runs once in a fresh process, and only asv can"
    if benchmark.type != "time":
        return f"a {benchmark.type} benchmark: only time_ functions are measured"
    if benchmark.params:
        return "a benchmark with parameters"
    return "" if name is not None else "a method of a class, or not a function of its module"


def _whole(name: str, function: str) -> str:
    """The benchmark that a function of the same suite is, or nothing."""
    return f"{name.rpartition('.')[0]}.{function}" if function else ""


def set_up(row: Mapping[str, Any]) -> Callable[..., Any]:
    """Import a case and run its setups, the module's first, as asv does."""
    module = importlib.import_module(row["module"])
    function: Callable[..., Any] = getattr(module, row["function"])
    for source in (module, function):
        setup = getattr(source, "setup", None)
        if setup is not None:
            setup()
    return function


def tear_down(row: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Run a case's teardowns, if it has any."""
    for source in (function, sys.modules[row["module"]]):
        teardown = getattr(source, "teardown", None)
        if teardown is not None:
            teardown()


def check_proof(proof: Mapping[str, Any], side: Path, impl: str) -> dict[str, Any]:
    """What a case says that it ran, held against what the side holds.

    Raises:
        AssertionError: a file lies outside of the side, or is not of the implementation.
    """
    for name, file in proof["modules"].items():
        if not Path(file).resolve().is_relative_to(side.resolve()):
            raise AssertionError(f"{name} ran from {file}, which is not this side's")
        compiled = str(file).endswith(COMPILED)
        stem = side.joinpath(*package_of(side).split("."), "_cython", *name.split("."))
        has_twin = any(stem.with_name(stem.name + suffix).exists() for suffix in COMPILED)
        if compiled and impl == "python":
            raise AssertionError(f"{name} ran compiled in a pure Python side")
        if has_twin and not compiled and impl == "cython":
            raise AssertionError(f"{name} ran in Python, though the side has it compiled")
    return {
        "modules": {n: str(Path(f).resolve().relative_to(side.resolve()))
                    for n, f in proof["modules"].items()},
        "probe": proof.get("probe", {}),
        "digest": str(proof["digest"]),
    }  # fmt: skip


def prove(
    request: Mapping[str, Any], row: Mapping[str, Any], run: Callable[[], Any]
) -> dict[str, Any]:
    """Run a case's own proof, then time a call roughly: by a clock, and what the processor did."""
    from benchproof.meters import wall  # noqa: PLC0415  (found once the side is on sys.path)

    if not hasattr(run, "prove"):
        raise AssertionError("the case has no prove(): nothing shows what it measures")
    proof = check_proof(run.prove(), Path(request["side"]), request["impl"])
    seconds, worked = wall.calibrate(run)
    return {"name": row["name"], "proof": proof, "seconds": seconds, "worked": worked}


def time_it(_: Mapping[str, Any], row: Mapping[str, Any], run: Callable[[], Any]) -> dict[str, Any]:
    """Take this process's wall times of a case, or say why its clock cannot be believed."""
    from benchproof.meters import wall  # noqa: PLC0415

    try:
        return {"name": row["name"], "values": wall.measure(run, row["loops"])}
    except wall.ClockError as error:
        return {"name": row["name"], "clock": str(error)}


def count_instructions(
    request: Mapping[str, Any], row: Mapping[str, Any], run: Callable[[], Any]
) -> dict[str, Any]:
    """Leave callgrind's dumps of a case: of one call, where nobody says how often to call it."""
    from benchproof.meters import asking, instructions  # noqa: PLC0415
    from benchproof.meters.counts import Counts  # noqa: PLC0415

    name, counts, talk = row["name"], row.get("counts"), request.get("talk") or 0

    def dearer(left: Sequence[int]) -> bool:
        nonlocal counts
        counts = asking.ask(talk, {"first": left})
        return counts is True

    def again(left: Sequence[tuple[int, int]]) -> bool:
        return bool(asking.ask(talk, {"dumps": left}))

    if counts is None:
        first = instructions.first(run, dearer if talk else None)
        if counts is None:
            return {"name": name, "first": first}
    dumps = instructions.measure(run, Counts(**counts), again if talk else None)
    return {"name": name, "dumps": dumps}


def count_allocations(
    _: Mapping[str, Any], row: Mapping[str, Any], run: Callable[[], Any]
) -> dict[str, Any]:
    """Record a case's allocations."""
    from benchproof.meters import allocations  # noqa: PLC0415
    from benchproof.meters.counts import Counts  # noqa: PLC0415

    numbers = allocations.measure(run, Counts(**row["counts"]))
    return {"name": row["name"], **dict(zip(allocations.METERS, numbers, strict=True))}


def profile(_: Mapping[str, Any], row: Mapping[str, Any], run: Callable[[], Any]) -> dict[str, Any]:
    """Count a case's bytecodes and its calls into C, by Python function."""
    from benchproof.profile import tracer  # noqa: PLC0415

    return {"name": row["name"], **tracer.measure(run, row["calls"])}


TASKS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], Any], dict[str, Any]]] = {
    "prove": prove,
    "wall": time_it,
    "instructions": count_instructions,
    "allocations": count_allocations,
    "profile": profile,
}


def one(request: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Run the request's task on one case; what goes wrong becomes the answer."""
    try:
        function = set_up(row)
    except NotImplementedError as error:
        return {"name": row["name"], "absent": str(error) or "setup says so"}
    except Exception:  # noqa: BLE001  (any failure of a case is that case's answer)
        return {"name": row["name"], "error": last_words()}
    try:
        answer = TASKS[request["task"]](request, row, function)
        tear_down(row, function)
    except AssertionError as error:
        return {"name": row["name"], "refused": str(error) or last_words()}
    except Exception:  # noqa: BLE001  (as above)
        return {"name": row["name"], "error": last_words()}
    return answer


def last_words() -> str:
    """The exception being handled, with the place that it came from, on one line."""
    kind, error, trace = sys.exc_info()
    frames = traceback.extract_tb(trace)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{kind.__name__ if kind else ''}: {error}{where}"


def serve(request: Mapping[str, Any], out: TextIO) -> None:
    """Answer a request, a line at a time."""

    def say(row: Mapping[str, Any]) -> None:
        out.write(json.dumps(row) + "\n")
        out.flush()
        if request.get("talk") and "name" in row:
            from benchproof.meters import asking  # noqa: PLC0415  (found once `enter` has run)

            asking.tell(request["talk"], row)

    if request["task"] == "list":
        sys.path[:] = [*(p for p in sys.path if p), request["harness"]]
        sys.meta_path[:0] = [Refused(request["package"]), OnlyFrom(Path(request["suites"]))]
        for row in discover(request):
            say(row)
        return
    say({"header": enter(request) | {"python": sys.version.split()[0]}})
    if request.get("core") is not None:
        os.sched_setaffinity(0, {request["core"]})
    if request["task"] == "discover":
        for row in discover(request):
            say(row)
        return
    cases = list(request["cases"])
    if "order" in request:
        random.Random(request["order"]).shuffle(cases)  # noqa: S311  (an order, not a secret)
    for row in cases:
        say(one(request, row))


def main(path: str) -> int:
    """Serve the request in a file; the exit status."""
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    with Path(request["out"]).open("w", encoding="utf-8") as out:
        serve(request, out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
