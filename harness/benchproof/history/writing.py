"""Write asv's own result files: one a commit and environment.

What `benchproof history` measures goes into the files that `asv run` writes (version 2), so that
`asv publish`, `asv show` and `asv compare` read it, and each keeps what the other has written.
asv's conventions hold: ``null`` for what failed, NaN for what a commit has not got.

Two files beside them are ours, in JSON lines, which asv leaves alone:

``loops.jsonl``              how often each exact meter calls each case: see `plan`
``MACHINE/measured.jsonl``   who measured what with which tools, and why something has no number
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from benchproof import files
from benchproof.errors import told

from . import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

BENCHMARKS, MACHINE, MEASURED = "benchmarks.json", "machine.json", "measured.jsonl"
#: Digits after the point of a count a call.
DIGITS = 3
#: Where a normal distribution's quartiles lie between its middle and the end of its 99 %.
_QUARTILE = 0.6745 / 2.5758
#: The version of asv's result files, and the columns of their rows, in asv's order.
VERSION = 2
COLUMNS = (
    "result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b",
    "stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile",
)  # fmt: skip

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True)
class Value:
    """One number of one commit.

    Attributes:
        value: for a call; None for one that failed; NaN where the commit lacks what is measured.
        low: lower end of its interval, or None.
        high: upper end, or None.
        samples: one number a process, where there are several.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    samples: tuple[float, ...] = ()

    @property
    def absent(self) -> bool:
        """Whether the commit lacks what is measured."""
        return self.value is not None and math.isnan(self.value)


ABSENT, FAILED = Value(math.nan), Value(None)


@dataclass(frozen=True)
class Environment:
    """One of asv's environments: for us, an implementation.

    Attributes:
        name: as it stands in file names.
        variables: environment variables that tell it from others, such as DRIVER_IMPL.
        requirements: packages and versions, as asv.conf.json has them.
        python: major and minor version.
    """

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    requirements: Mapping[str, str] = field(default_factory=dict)
    python: str = PYTHON


@cache
def environment(root: Path, impl: str) -> Environment:
    """The environment in which `asv run` would measure an implementation.

    Without an asv.conf.json, or one whose matrix has no DRIVER_IMPL, a name of our own.
    """
    from asv import config, environment, util  # noqa: PLC0415  (slow to import)
    from asv.plugin_manager import plugin_manager  # noqa: F401, PLC0415  (finds its classes)

    try:
        # asv leaves out of the name what pyproject.toml of the current directory needs to build.
        with contextlib.chdir(root):
            conf = config.Config.load("asv.conf.json")
            found = list(environment.get_environments(conf, [], verbose=False))
    except (util.UserError, OSError):
        found = []
    for each in found:
        if each.env_vars.get("DRIVER_IMPL") == impl:
            variables, required = dict(each.env_vars), dict(each.requirements)
            return Environment(each.name, variables, required, each.python)
    return Environment(f"benchproof-py{PYTHON}-DRIVER_IMPL{impl}", {"DRIVER_IMPL": impl})


def path(results: Path, machine: str, commit: str, env: Environment) -> Path:
    """Where asv keeps the results of a commit."""
    from asv.results import get_filename  # noqa: PLC0415  (as above)

    return results / str(get_filename(machine, commit, env.name))


def write(
    results: Path,
    about: Mapping[str, str],
    commit: tuple[str, int],
    env: Environment,
    values: Mapping[str, tuple[str, Value]],
) -> Path:
    """Add values to a commit's file, keeping what is in it; its path.

    Args:
        results: asv's folder of results.
        about: the machine, as asv describes it; ``machine`` is its name.
        commit: hash, and date in milliseconds.
        env: the environment.
        values: by asv's name: the benchmark's version, and the value.

    Raises:
        BenchproofError: it cannot be written.
    """
    file = path(results, about["machine"], commit[0], env)
    rows, durations = _held(file)
    for name, (version, value) in values.items():
        rows[name] = _row(version, value)
    document = {
        "commit_hash": commit[0],
        "env_name": env.name,
        "date": commit[1],
        "params": {**about, "python": env.python, **env.requirements},
        "python": env.python,
        "requirements": dict(env.requirements),
        "env_vars": dict(env.variables),
        "result_columns": list(COLUMNS),
        "results": {name: _trimmed(rows[name]) for name in sorted(rows)},
        "durations": durations,
        "version": VERSION,
    }
    files.write(json.dumps(document, separators=(",", ":")), file)
    return file


def _held(file: Path) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The rows that a file has, and its durations; nothing of one that asv could not load."""
    held = contents(file)
    try:
        if held["version"] != VERSION or not set(held["result_columns"]) <= set(COLUMNS):
            return {}, {}
        columns = held["result_columns"]
        rows = {
            name: dict(zip(columns, row, strict=False)) for name, row in held["results"].items()
        }
        return rows, dict(held.get("durations") or {})
    except (KeyError, TypeError, AttributeError, ValueError):
        return {}, {}


def _row(version: str, value: Value) -> dict[str, Any]:
    """A row, with no more in it than says something: there are 300 a commit."""
    row: dict[str, Any] = {
        "result": None if value.value is None else [short(value.value)],
        "params": [],
        "version": version,
    }
    if value.low is not None and value.high is not None and value.low < value.high:
        # asv reads a statistic only where it finds all of these.
        low, high = quartiles(value.low, value.high)
        row |= {"stats_ci_99_a": [short(value.low)], "stats_ci_99_b": [short(value.high)]}
        row |= {"stats_q_25": [short(low)], "stats_q_75": [short(high)]}
    if value.samples:
        row |= {"stats_number": [1], "stats_repeat": [len(value.samples)]}
        row["samples"] = [[short(each) for each in value.samples]]
    return row


def quartiles(low: float, high: float) -> tuple[float, float]:
    """The quartiles of a normal distribution that has 99 % between two ends."""
    middle, half = (low + high) / 2, (high - low) / 2 * _QUARTILE
    return middle - half, middle + half


def _trimmed(row: Mapping[str, Any]) -> list[Any]:
    """A row as asv writes it: columns in order, without the empty ones at its end."""
    cells = [row.get(column) for column in COLUMNS]
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def short(value: float) -> float:
    """Fewer digits where they say nothing: six of a time, three behind the point of a count."""
    if math.isnan(value):
        return value
    less = round(value, DIGITS) if abs(value) >= 1 else float(f"{value:.6g}")
    return int(less) if less == int(less) else less


def describe(results: Path, timed: Iterable[Mapping[str, Any]]) -> bool:
    """Make benchmarks.json name every meter of some benchmarks; whether that changed it.

    asv writes the file anew, without ours, whenever it discovers benchmarks: this brings them back.
    """
    file = results / BENCHMARKS
    held = contents(file)
    wanted = dict(held)
    for each in timed:
        wanted |= names.entries(each)
    wanted["version"] = 2
    if wanted == held:
        return False
    files.write(json.dumps(wanted, indent=1, sort_keys=True) + "\n", file)
    return True


def describe_machine(results: Path, about: Mapping[str, str]) -> None:
    """Write asv's description of a machine, unless it has one."""
    file = results / about["machine"] / MACHINE
    if contents(file).get("machine") != about["machine"]:
        files.write(json.dumps({**about, "version": 1}, indent=1, sort_keys=True) + "\n", file)


def note(results: Path, machine: str, record: Mapping[str, Any]) -> None:
    """Add a line to what is known of how things were measured.

    Raises:
        BenchproofError: it cannot be written.
    """
    file = _made(results / machine) / MEASURED
    line = json.dumps(record, allow_nan=False, separators=(",", ":"))
    try:
        torn = file.exists() and not file.read_bytes().endswith(b"\n")
        with file.open("a", encoding="utf-8") as out:
            out.write(("\n" if torn else "") + line + "\n")
    except OSError as error:
        raise told(error) from error


def notes(file: Path) -> list[dict[str, Any]]:
    """The lines of a JSON lines file; torn and foreign ones are skipped."""
    found = []
    if file.exists():
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                found.append(record)
    return found


def contents(file: Path) -> dict[str, Any]:
    """The JSON object in a file, or an empty one where there is none."""
    try:
        held = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _made(folder: Path) -> Path:
    """A folder, made if it is not there.

    Raises:
        BenchproofError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise told(error) from error
    return folder
