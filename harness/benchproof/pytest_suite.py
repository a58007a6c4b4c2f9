"""In a worker: benchmarks of pytest-benchmark and pytest-codspeed, run by pytest under our meters.

pytest collects, sets fixtures up and runs the tests as it always does; a plugin gives the fixture
`benchmark`, in place of that of whichever plugin is installed. What a test hands to it, or a whole
test with the marker, is called by the meter.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import inspect
import io
import os
import random
import re
import sys
import types
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

import pytest

from . import pytest_files
from .asv_suite import Ready
from .meters import callgrind
from .pytest_files import FIXTURES

Measure = Callable[[Mapping[str, Any], Ready], dict[str, Any]]
Watch = Callable[[set[str]], contextlib.AbstractContextManager[None]]

#: Options that keep other plugins of a project from measuring, moving or stopping what is measured.
_QUIET = {
    "pytest_cov": "--no-cov",
    "randomly": "-pno:randomly",
    "rerunfailures": "--reruns=0",
    "timeout": "--timeout=0",
    "xdist": "--numprocesses=0",
}
#: A file and a line, in what pytest says of a file that does not load.
_AT = re.compile(r"^(\S+):(\d+): in ", re.MULTILINE)
_AT_SYNTAX = re.compile(r'^E +File "(.+)", line (\d+)$', re.MULTILINE)
#: Options of the two plugins that leave benchmarks out, or measure themselves.
_THEIRS = ("benchmark_only", "benchmark_skip", "codspeed")
_HOLDER = pytest.StashKey["_Plugin"]()


@dataclass
class Target:
    """What a test hands over, with what runs before and after each round (`pedantic`).

    Attributes:
        func: the test.
        target: what is called.
        args: its arguments.
        kwargs: those with names.
        setup: before a round; may give other arguments.
        teardown: after a round, with the arguments.
    """

    func: object
    target: Callable[..., Any]
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    setup: Callable[[], Any] | None = None
    teardown: Callable[..., Any] | None = None

    def do_setup(self) -> None:
        """Before a round."""
        if self.setup and (made := self.setup()):
            self.args, self.kwargs = made

    def do_teardown(self) -> None:
        """After a round."""
        if self.teardown:
            self.teardown(*self.args, **self.kwargs)

    @property
    def call(self) -> Callable[[], Any]:
        """What is measured, without arguments."""
        if self.setup:  # each round may have others
            return lambda: self.target(*self.args, **self.kwargs)
        if self.args or self.kwargs:
            return partial(self.target, *self.args, **self.kwargs)
        return self.target


class BenchmarkFixture:
    """What a test gets as `benchmark`: as pytest-benchmark's when that is disabled.

    Attributes:
        name: of the test.
        fullname: its pytest id.
        group: as the test sets it; not used.
        param: id of the parameters, or None.
        params: of the test, or None.
        extra_info: as the test fills it; not used.
        stats: none, as in a run without measuring.
    """

    enabled, disabled, has_error, stats = False, True, False, None

    def __init__(self, request: pytest.FixtureRequest) -> None:
        """A fixture of one test."""
        node = request.node
        self.name, self.fullname, self.group = node.name, node.nodeid, None
        about = getattr(node, "callspec", None)
        self.param = about.id if about else None
        self.params = dict(about.params) if about else None
        self.extra_info: dict[str, Any] = {}
        self._node, self._used = node, False

    def __call__(self, target: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Measure a function; what it returns."""
        return self._measure(Target(self._node.function, target, args, kwargs), 0, 0)

    def pedantic(
        self, target: Callable[..., Any], args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None, setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None, rounds: int = 1, warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:  # noqa: ANN401  # fmt: skip
        """Measure a function in rounds of so many calls; what it returns.

        Without setup and teardown, a round is as long as a meter needs. Every meter calls a few
        times before it measures, whatever `warmup_rounds` says.
        """
        del warmup_rounds
        if setup and iterations > 1:
            raise ValueError("Can't use more than 1 `iterations` with a `setup` function.")
        made = Target(self._node.function, target, args, kwargs or {}, setup, teardown)
        return self._measure(made, iterations if setup or teardown else 0, rounds)

    def weave(self, *_: object, **__: object) -> None:
        """Not measured: what is called within another call.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("benchmark.weave measures a part of a call: that is not done")

    patch = weave

    def _measure(self, target: Target, number: int, rounds: int) -> Any:  # noqa: ANN401
        """Let the plugin measure it.

        Raises:
            RuntimeError: the test has measured something before.
        """
        if self._used:
            raise RuntimeError("the benchmark fixture can only be used once in a test")
        self._used = True
        return self._node.config.stash[_HOLDER].run(self._node.nodeid, target, number, rounds)


class _Fixtures:
    """A plugin that is registered last, so that its fixtures come before those of other plugins."""

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> BenchmarkFixture:
        """The fixture, by the name of both plugins."""
        return BenchmarkFixture(request)

    #: By pytest-codspeed's own name.
    codspeed_benchmark = benchmark


class _Plugin:
    """Chooses what runs, measures it, and keeps what there is to say."""

    def __init__(
        self, rows: Mapping[str, Mapping[str, Any]] | None, measure: Measure | None,
        say: Callable[[Mapping[str, Any]], None], watch: Watch | None = None,
    ) -> None:  # fmt: skip
        """Rows by pytest id, in the order in which they run; None: all are to be described."""
        self._rows, self._measure, self._say, self._watch = rows, measure, say, watch
        self._fixtures: set[str] = set()
        self._body: set[str] = set()
        self._watching = contextlib.ExitStack()
        self._answer: dict[str, Any] = {}
        self.broken: dict[str, str] = {}
        self.left = dict.fromkeys(rows or ())
        self.wrong = ""

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note what went wrong in pytest, or in a plugin of the project."""
        self.wrong = excinfo.exconly().strip().splitlines()[0]

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Before other plugins look at their options."""
        config.stash[_HOLDER] = self
        self._start, self._root = config.invocation_params.dir, config.rootpath
        for name in FIXTURES:
            config.addinivalue_line("markers", f"{name}: a benchmark")
        for name in _THEIRS:
            if hasattr(config.option, name):
                setattr(config.option, name, False)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Fixtures of a plugin that is registered later come first."""
        session.config.pluginmanager.register(_Fixtures(), "benchproof-fixtures")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that does not load."""
        if report.failed:
            where = self._where(str(report.longrepr)) or report.nodeid
            self.broken[report.nodeid] = f"{where} does not load: {_reason(report)}"

    def _where(self, told: str) -> str:
        """The last file and line of the project in what pytest tells; empty without."""
        for file, line in reversed([*_AT.findall(told), *_AT_SYNTAX.findall(told)]):
            place = Path(os.path.normpath(self._start / file))
            if place.is_relative_to(self._root) and "site-packages" not in place.parts:
                return f"{place.relative_to(self._root)}:{line}"
        return ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the benchmarks, in the order that was asked for."""
        known = {item.nodeid: item for item in items if _is_benchmark(item)}
        if self._rows is None:
            items[:] = known.values()
        else:
            items[:] = [known[name] for name in self._rows if name in known]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Describe what was found, if that is the question."""
        if self._rows is not None:
            return
        for item in session.items:
            assert isinstance(item, pytest.Function)  # noqa: S101  (`_is_benchmark`)
            why = _why_not(item)
            self._say({"excluded": item.nodeid, "why": why} if why else _about(item))
        for name, why in self.broken.items():
            self._say({"excluded": name, "why": why, "broken": True})

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        """See what fixtures run; those of a session or a module prepare later tests, too."""
        with self._watch(self._fixtures) if self._watch else contextlib.nullcontext():
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """See what a test runs before it hands over what is measured."""
        self._body.clear()
        with self._watching:
            if self._watch:
                self._watching.enter_context(self._watch(self._body))
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> object:
        """Measure a whole test that has the marker and not the fixture."""
        if _takes_fixture(pyfuncitem):
            return None
        names = inspect.signature(pyfuncitem.obj).parameters
        given = {name: pyfuncitem.funcargs[name] for name in names if name in pyfuncitem.funcargs}
        target = Target(pyfuncitem.function, pyfuncitem.obj, (), given)
        self.run(pyfuncitem.nodeid, target, 0, 0)
        return True

    def run(self, name: str, target: Target, number: int, rounds: int) -> Any:  # noqa: ANN401
        """Measure what a test hands over; what its last call returned."""
        assert self._rows and self._measure  # noqa: S101, PT018  (for the type checker)
        self._watching.close()
        random.seed(0)  # as pytest-codspeed does
        target.do_setup()
        made = Ready(
            target, target.call, (), number, rounds,
            self._fixtures | self._body if self._watch else None,
        )  # fmt: skip
        self._answer = self._measure(self._rows[name], made)
        made.renew()
        result = made.call()
        target.do_teardown()
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails or skips has no other answer."""
        if report.skipped:
            self._answer = {"absent": _reason(report)}
        elif report.failed and not {"error", "refused"} & self._answer.keys():
            self._answer = {"error": f"{report.when} of the test failed: {_reason(report)}"}

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Say what there is to say of a test."""
        nothing = {"error": "the test ended without a call of its benchmark fixture"}
        self._say((self._answer or nothing) | {"name": nodeid})
        self.left.pop(nodeid, None)
        self._answer = {}
        if not self.left:
            callgrind.stop()  # pytest and the interpreter have much to do before they end


def discover(request: Mapping[str, Any], say: Callable[[Mapping[str, Any]], None]) -> None:
    """Describe every benchmark that pytest collects, and those that cannot be measured.

    Raises:
        SystemExit: pytest does not start; the message says why.
    """
    suites = Path(request["suites"])
    _run(request, pytest_files.benchmarks(suites), _Plugin(None, None, say), "--collect-only")


def run(
    request: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], measure: Measure,
    say: Callable[[Mapping[str, Any]], None], watch: Watch | None = None,
) -> None:  # fmt: skip
    """Run benchmarks in an order, and answer each; one that is not collected is an error.

    With `watch`, each knows which files of the package its fixtures ran, and those before it.

    Raises:
        SystemExit: pytest does not start; the message says why.
    """
    root = pytest_files.root(Path(request["suites"]))
    files = dict.fromkeys(root / row["name"].partition("::")[0] for row in rows)
    plugin = _Plugin({row["name"]: row for row in rows}, measure, say, watch)
    _run(request, list(files), plugin)
    for name in plugin.left:
        why = plugin.broken.get(name.partition("::")[0], "pytest does not collect it")
        say({"name": name, "error": why})


def _run(request: Mapping[str, Any], files: Sequence[Path], plugin: _Plugin, *options: str) -> None:
    """Run pytest in this process, in the folder in which people start it.

    Raises:
        SystemExit: it does not start.
    """
    root = pytest_files.root(Path(request["suites"]))
    installed = {each.name for each in importlib.metadata.entry_points(group="pytest11")}
    quiet = [option for name, option in _QUIET.items() if name in installed]
    os.environ.pop("CODSPEED_ENV", None)
    sys.meta_path.insert(0, _SideFirst(request["side"]))
    _stand_in()
    os.chdir(root)
    said = io.StringIO()
    words = [
        *map(str, files), f"--rootdir={root}", "-q", "-m", "", "-k", "", "--maxfail=0",
        "--continue-on-collection-errors", "-o", "faulthandler_timeout=0",
        "-o", f"cache_dir={Path(request['out']).with_name('pytest-cache')}", *quiet, *options,
    ]  # fmt: skip
    with contextlib.redirect_stderr(said):
        status = pytest.main(words, plugins=[plugin])
    if status in {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}:
        lines = [line.strip() for line in said.getvalue().splitlines() if "rror: " in line]
        why = plugin.wrong or "".join(lines[-1:]) or f"status {int(status)}"
        sys.exit(f"pytest does not run: {why}")


@dataclass
class _SideFirst:
    """Finds packages of the side, whatever folder a test or a conftest.py puts before it."""

    side: str

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> Any:  # noqa: ANN401  (what the import system takes)
        """The import system's question."""
        return PathFinder.find_spec(name, [self.side], target) if path is None else None


def _stand_in() -> None:
    """Let tests import the fixture's class, for annotations, where neither plugin is installed."""
    plugins = ("pytest_benchmark", "pytest_codspeed")
    if any(map(importlib.util.find_spec, plugins)):
        return
    for name in (each + inner for each in plugins for inner in ("", ".fixture", ".plugin")):
        module = types.ModuleType(name)
        about = {"BenchmarkFixture": BenchmarkFixture, "__path__": []}
        module.__dict__.update(about, __spec__=ModuleSpec(name, None))
        sys.modules[name] = module


def _takes_fixture(item: pytest.Item) -> bool:
    return any(name in getattr(item, "fixturenames", ()) for name in FIXTURES)


def _is_benchmark(item: pytest.Item) -> bool:
    """Whether an item takes the fixture or carries the marker."""
    marked = any(item.get_closest_marker(name) for name in FIXTURES)
    return isinstance(item, pytest.Function) and (_takes_fixture(item) or marked)


def _why_not(item: pytest.Function) -> str:
    """Why a benchmark that pytest collects is not measured, or ""."""
    if "benchmark_weave" in item.fixturenames:
        return "benchmark_weave measures a part of a call"
    if _takes_fixture(item):
        return ""
    if inspect.iscoroutinefunction(item.function):
        return "an async function: a call of it only makes a coroutine, and runs nothing"
    if issubclass(item.cls or object, unittest.TestCase):
        return "a method of unittest's TestCase, which pytest does not call itself"
    return ""


def _about(item: pytest.Function) -> dict[str, Any]:
    """A benchmark, as a worker describes it."""
    try:
        source = inspect.getsource(item.function)
    except (OSError, TypeError):
        source = ""
    test = item.nodeid.removesuffix(item.name) + item.originalname
    return {
        "name": item.nodeid, "benchmark": test, "index": None, "kind": "time", "unit": "seconds",
        "version": hashlib.sha256(source.encode()).hexdigest(), "answers_may_differ": False,
        "part_of": "",
    }  # fmt: skip


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why something failed or was skipped, on one line."""
    if getattr(report, "wasxfail", ""):
        return f"expected to fail: {report.wasxfail}"
    about = report.longrepr
    if isinstance(about, tuple):
        return str(about[2]).removeprefix("Skipped: ")
    crash = getattr(about, "reprcrash", None)
    if crash is not None:
        return f"{crash.message.splitlines()[0]} ({Path(crash.path).name}:{crash.lineno})"
    lines = [line[1:].strip() for line in str(about).splitlines() if line.startswith("E ")]
    return lines[-1] if lines else (str(about).strip().splitlines() or ["no reason given"])[-1]
