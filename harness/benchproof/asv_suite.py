"""In a worker: benchmarks as objects of asv, set up, called and torn down as asv does it."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import inspect
import io
import itertools
import os
import pickle
import pkgutil
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

#: asv's classes of benchmarks, and what a benchmark of each is called here.
KINDS = {
    "TimeBenchmark": "time",
    "TimerawBenchmark": "timeraw",
    "MemBenchmark": "memory",
    "PeakMemBenchmark": "peakmemory",
    "TrackBenchmark": "track",
}
#: Seconds that asv gives a benchmark that names no `timeout`.
TIMEOUT = 60.0


def discover(root: str) -> Iterator[dict[str, Any]]:
    """Describe every benchmark that asv finds, one row for each combination of its parameters.

    Raises:
        SystemExit: at the end, if modules do not import or two benchmarks have one name: a list
            without those is one only for who asks what is wrong with it.
    """
    broken: dict[str, str] = {}
    for benchmark in _benchmarks(root, broken):
        kind = KINDS.get(type(benchmark).__name__, "")
        if why := why_not(benchmark, kind, root):
            yield {"excluded": benchmark.name, "why": why}
            continue
        suite = benchmark.name.rpartition(".")[0]
        part_of = getattr(benchmark.func, "part_of", "")
        about = {
            "benchmark": benchmark.name, "index": None, "kind": kind,
            "unit": str(benchmark.unit), "version": str(benchmark.version),
            "answers_may_differ": bool(getattr(benchmark.func, "answers_may_differ", False)),
            "part_of": f"{suite}.{part_of}" if part_of else "",
            "tail": kind == "time" and bool(getattr(benchmark.func, "tail", False)),
        }  # fmt: skip
        if benchmark.pretty_name:
            about["pretty_name"] = str(benchmark.pretty_name)
        if not benchmark.params:
            yield {"name": benchmark.name, **about, "asv": described(benchmark)}
            continue
        for index, params in enumerate(itertools.product(*benchmark.params)):
            case = f"{benchmark.name}({', '.join(params)})"
            values = dict(zip(benchmark.param_names, params, strict=True))
            yield about | {"name": case, "index": index, "params": values}
    for name, why in broken.items():
        yield {"excluded": name, "why": why, "broken": True}
    if broken:
        sys.exit("; ".join(broken.values()))


def _benchmarks(root: str, broken: dict[str, str]) -> Iterator[Any]:
    """The objects of asv, each once; in `broken` goes why a module or a name has none."""
    named: dict[str, dict[Any, Any]] = {}
    for benchmark in _discovery(root, broken).disc_benchmarks(root):
        # One function can have two names in a module, and has one here; two classes can share one.
        function = getattr(benchmark.func, "__func__", benchmark.func)
        owner = type(getattr(benchmark.func, "__self__", None))
        named.setdefault(benchmark.name, {})[function, owner] = benchmark
    for name, functions in named.items():
        if len(functions) == 1:
            yield from functions.values()
            continue
        places = dict.fromkeys(_place(function, root) for function, _ in functions)
        both = "two classes with " * (len(places) == 1) + " and ".join(places)
        broken[name] = f"{both} are both called {name}: rename one"


def _discovery(root: str, broken: dict[str, str]) -> Any:  # noqa: ANN401  (asv is not typed)
    """The discovery of asv, which goes past modules that do not import, and notes why."""
    from asv_runner import discovery  # noqa: PLC0415  (slow to import)

    def modules(name: str, **_: bool) -> Iterator[ModuleType]:
        try:
            module = importlib.import_module(name)
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a suite may raise anything)
            broken[name.partition(".")[2] or name] = _why_broken(name, error, root)
            return
        yield module
        for each in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}."):
            yield from modules(each.name)

    discovery.disc_modules = modules
    return discovery


def _place(function: Any, root: str) -> str:  # noqa: ANN401  (asv is not typed)
    """The file and the line of a function of the suites."""
    code = inspect.unwrap(function).__code__
    return f"{os.path.relpath(code.co_filename, Path(root).parent)}:{code.co_firstlineno}"


def _why_broken(name: str, error: BaseException, root: str) -> str:
    """The file and the line of the suites at which a module stops to load, and the error."""
    places = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
    words = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
        words = error.msg
    held = [
        f"{Path(file).relative_to(Path(root).parent)}:{line}"
        for file, line in places if Path(file).is_relative_to(root)
    ]  # fmt: skip
    where = held[-1] if held else name
    # "cannot import name 'x' from 'y' (/where/y/lies.py)": a folder of this run says nothing.
    words = re.sub(r" \(/[^()]*\)$", "", " ".join(words.split()))
    return f"{where} does not import: {type(error).__name__}: {words}"


def described(benchmark: Any) -> dict[str, Any]:  # noqa: ANN401  (asv is not typed)
    """A benchmark as asv's own files describe it: what is plain of its attributes."""
    return {
        name: value for name, value in vars(benchmark).items()
        if isinstance(value, str | int | float | list | dict) and not name.startswith("_")
    }  # fmt: skip


def why_not(benchmark: Any, kind: str, root: str) -> str:  # noqa: ANN401  (asv is not typed)
    """Why a benchmark that asv finds is not measured, or ""."""
    if not kind:
        return f"a benchmark of a plugin of asv ({type(benchmark).__name__})"
    if inspect.iscoroutinefunction(benchmark.func):
        return "an async function: a call of it only makes a coroutine, and runs nothing"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        fits = benchmark.check(root)
    return "" if fits else " ".join(said.getvalue().partition(": ")[2].split())


class Skipped(Exception):  # noqa: N818  (no error)
    """The benchmark does not run here, by asv's rules."""


@dataclass
class Ready:
    """A benchmark that is set up.

    Attributes:
        benchmark: asv's object.
        call: what is measured, without arguments.
        params: its arguments, with what `setup_cache` made in front.
        number: calls between two setups, where the benchmark names it; else 0.
        repeat: the most values that the benchmark wants of a process; 0 where it does not say.
        prepared: files of the package that ran for it, beside its setup; None if nobody saw them.
    """

    benchmark: Any
    call: Callable[[], Any]
    params: tuple[Any, ...] = ()
    number: int = 0
    repeat: int = 0
    prepared: AbstractSet[str] | None = None

    def renew(self) -> None:
        """Before a loop: what the benchmark's setup made is made anew, if it says `number`."""
        if self.number:
            self.benchmark.do_teardown()
            self.benchmark.do_setup()


@contextlib.contextmanager
def ready(request: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[Ready]:
    """Set a case up, the module's setup first, and tear it down at the end.

    Raises:
        Skipped: its setup or its call says so, or its `skip_params`.
        TimeoutError: its first run took longer than its `timeout`.
    """
    if row.get("kind") == "canary":  # which is in no suite
        from benchproof.history import canary  # noqa: PLC0415  (found once the side is first)

        yield Ready(None, canary.time_interpreter)
        return
    from asv_runner.benchmarks.mark import SkipNotImplemented  # noqa: PLC0415  (slow to import)

    benchmark = find(request["suites"], row)
    cached, here = cache(request, benchmark), Path.cwd()
    if cached is not None:
        os.chdir(cached)
        benchmark.set_cache(pickle.loads(Path("cache.pickle").read_bytes()))  # noqa: S301  (ours)
    skipped = False
    try:
        with _limited(benchmark if request["task"] in {"prove", "value"} else None):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                skipped = benchmark.do_setup()
            if skipped:
                raise Skipped(_reason(said.getvalue()))
            params = benchmark._build_params()  # noqa: SLF001  (asv has no other name for it)
            call = functools.partial(benchmark.func, *params) if params else benchmark.func
            number, repeat = getattr(benchmark, "number", 0), getattr(benchmark, "repeat", 0)
            values = repeat if isinstance(repeat, int) else 0
            yield Ready(benchmark, call, params, number, values, set() if cached is None else None)
    except SkipNotImplemented as error:
        raise Skipped(str(error)) from error
    finally:
        # What a setup left undone when it skipped, a teardown may miss.
        with contextlib.suppress(*([Exception] if skipped else [])):
            benchmark.do_teardown()
        os.chdir(here)


def _reason(said: str) -> str:
    """Why asv skips a case, from the line that it prints for an exception in a setup."""
    found = re.search(r"asv: skipped: \w+\((.*)\) *$", said.strip(), re.DOTALL)
    if found is None:
        return "skip_params of the benchmark names these parameters"
    try:
        return str(ast.literal_eval(found[1]))
    except (SyntaxError, ValueError):
        return found[1] or "its setup says so"


@contextlib.contextmanager
def _limited(benchmark: Any) -> Iterator[None]:  # noqa: ANN401  (asv is not typed)
    """Stop what takes longer than a benchmark's `timeout`; None: no limit."""
    if benchmark is None:
        yield
        return
    seconds = float(benchmark.timeout or TIMEOUT)

    def stop(number: int, frame: object) -> None:
        del number, frame
        raise TimeoutError(f"it ran longer than its timeout of {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, before)


def find(root: str, row: Mapping[str, Any]) -> Any:  # noqa: ANN401  (asv is not typed)
    """The object of a case, with its parameters set."""
    finders = list(sys.meta_path)  # asv puts one more in front each time
    broken: dict[str, str] = {}
    try:
        benchmark = _discovery(root, broken).get_benchmark_from_name(root, row["benchmark"])
    except ValueError as error:
        if broken:
            raise ImportError("; ".join(broken.values())) from error
        raise
    finally:
        sys.meta_path[:] = finders
    if row.get("index") is not None:
        benchmark.set_param_idx(row["index"])
    return benchmark


def cache(request: Mapping[str, Any], benchmark: Any) -> Path | None:  # noqa: ANN401
    """The folder with what a `setup_cache` made: it runs once a side, in that folder, as in asv's.

    Returns:
        None where the benchmark has none.
    """
    if benchmark.setup_cache_key is None:
        return None
    name = hashlib.sha256(benchmark.setup_cache_key.encode()).hexdigest()[:12]
    folder = Path(request.get("cache") or Path(request["out"]).parent / "cache", name)
    if not (folder / "cache.pickle").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.chdir(folder):
            made = pickle.dumps(benchmark.do_setup_cache())
            (folder / "cache.pickle").write_bytes(made)
    return folder


def raw_values(made: Ready, values: int) -> list[float]:
    """Seconds a call of a statement that a `timeraw_` function gives, each in a fresh process."""
    timer = made.benchmark._get_timer(*made.params)  # noqa: SLF001  (as above)
    number = made.benchmark.number
    return [timer.timeit(number) / number for _ in range(values)]
