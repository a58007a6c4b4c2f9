"""Write asv's own result files: one a commit and environment.

What `benchproof history` measures goes into the files that `asv run` writes (version 2), so that
`asv publish`, `asv show` and `asv compare` read it, and each keeps what the other has written.
asv's conventions hold: ``null`` for what failed, NaN for what a commit has not got.

Two files beside them are ours, in JSON lines, which asv leaves alone:

``loops.jsonl``              how often each exact meter calls each case: see `loops`
``MACHINE/measured.jsonl``   who measured what with which tools, and why something has no number

A meter of a benchmark is a benchmark of asv's own:

========================  ==========================================================
wall                      ``decode_rows.time_one_row``, as asv itself measures it
instructions, …           ``decode_rows.track_one_row_instructions``, a `track` one
========================  ==========================================================

asv drops what it knows of a benchmark whose version differs from the newest. A tracked benchmark
has the version of its timed function, which is set by hand, and the number of the method below.

asv knows a machine by its host name, which a container or a virtual machine changes with every
start. So a machine that is in the results already is known again by its processor; else it is what
``asv machine`` has noted; else it is named after the processor.
"""

import contextlib
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchproof import files, variants
from benchproof.errors import HistoryError

from .model import CANARY, UNITS

#: The variable that names a variant in a file, where the variant's own variables do not.
VARIANT = "BENCHPROOF_VARIANT"
#: Raised when counts of before and after a change of the way of counting cannot be compared.
METHOD = 1
#: Of the canary, as a benchmark.
CANARY_VERSION = "1"
EXACT = ("instructions", "allocations", "bytes")
#: Of an entry of asv's benchmarks.json that does not go into a tracked one's.
_OF_TIMES = (
    "min_run_count", "number", "repeat", "rounds", "sample_time", "warmup_time", "timeout",
)  # fmt: skip


def stored(benchmark: str, meter: str) -> str:
    """The name in asv's files of a meter of a timed benchmark."""
    if meter == "wall":
        return benchmark
    suite, dot, function = benchmark.rpartition(".")
    return f"{suite}{dot}track_{function.removeprefix('time_')}_{meter}"


def meant(name: str) -> tuple[str, str] | None:
    """The timed benchmark and the meter behind a name in asv's files; None for another's."""
    suite, dot, function = name.rpartition(".")
    if function.startswith("time_"):
        return name, "wall"
    if not function.startswith("track_"):
        return None
    case, _, meter = function.removeprefix("track_").rpartition("_")
    return (f"{suite}{dot}time_{case}", meter) if case and meter in EXACT else None


def version(of_case: str, meter: str) -> str:
    """The version of a meter of a case: of the case, and of the way of counting."""
    return of_case if meter == "wall" else f"{of_case}-{METHOD}"


def entries(timed: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """A timed benchmark's entries for benchmarks.json: its own, and one an exact meter.

    Args:
        timed: as asv's discovery describes it.
    """
    name = str(timed["name"])
    found = {name: dict(timed)}
    label = str(timed.get("pretty_name") or "")
    for meter in EXACT:
        tracked = {key: value for key, value in timed.items() if key not in _OF_TIMES} | {
            "name": stored(name, meter),
            "type": "track",
            "code": f"# {meter} of a call of {name}",
            "unit": UNITS[meter],
            "version": version(str(timed["version"]), meter),
        }
        if label:
            tracked["pretty_name"] = f"{label}, {meter}"
        found[tracked["name"]] = tracked
    return found


def timed_entry(name: str, label: str, of_case: str, code: str) -> dict[str, Any]:
    """A benchmark that asv did not discover, described as its discovery does a timed function."""
    return {
        "name": name, "pretty_name": label, "type": "time", "unit": "seconds", "version": of_case,
        "code": code, "params": [], "param_names": [],
    }  # fmt: skip


def canary_entry() -> dict[str, Any]:
    """The canary, for benchmarks.json."""
    code = "def time_interpreter(): ...  # of the harness; no commit can move it"
    return timed_entry(CANARY, "interpreter and C only", CANARY_VERSION, code)


#: What two descriptions of the same machine have in common, whatever its kernel is.
_SAME = ("arch", "cpu", "num_cpu")


def machine(results: Path, name: str = "") -> dict[str, str]:
    """The machine as asv describes one; with the given name if there is one.

    Raises:
        HistoryError: the name is none of a folder in the results.
    """
    from asv.machine import Machine  # noqa: PLC0415  (slow to import)

    if name and (name.startswith(".") or not re.fullmatch(r"[\w .+-]+", name)):
        raise HistoryError(f"{name!r} is no name of a machine: letters, digits, '-', '_' and '.'")
    facts = {key: str(value) for key, value in Machine.get_defaults().items()}
    known = name or _known(results, facts) or _noted(facts["machine"]) or _named(facts)
    return {**facts, "machine": known}


def _known(results: Path, facts: dict[str, str]) -> str:
    """The name under which results of this machine are kept already, or nothing."""
    found = [
        folder.parent.name
        for folder in sorted(results.glob(f"*/{MACHINE}"))
        if all(str(files.contents(folder).get(key)) == facts[key] for key in _SAME)
    ]
    return found[0] if len(found) == 1 else ""


def _noted(host: str) -> str:
    """The name that `asv machine` has noted for this host, or nothing."""
    from asv.machine import MachineCollection  # noqa: PLC0415  (as above)
    from asv.util import UserError  # noqa: PLC0415

    try:
        return str(MachineCollection.load(host)["machine"])
    except (UserError, KeyError, TypeError):
        return ""


def _named(facts: dict[str, str]) -> str:
    """A name from the processor and its cores."""
    words = re.sub(r"\(.*?\)|\bprocessor\b|\bcpu\b|@.*", " ", facts["cpu"].lower())
    slug = "-".join(re.findall(r"[a-z0-9]+", words)) or facts["arch"]
    return f"{slug}-{facts['num_cpu']}-cores"


BENCHMARKS, MACHINE, MEASURED = "benchmarks.json", "machine.json", "measured.jsonl"
#: Digits after the point of a count a call.
DIGITS = 3
#: Where a normal distribution's quartiles lie between its middle and the end of its 99 %.
_QUARTILE = 0.6745 / 2.5758
#: The version of asv's result files, and the columns of their rows, in asv's order.
VERSION = 2
#: Of the lines of `notes`, which say none as long as it is the first.
SCHEMA = 1
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
    """One of asv's environments: for us, a variant.

    Attributes:
        name: as it stands in file names.
        variables: environment variables that tell it from others.
        requirements: packages and versions, as asv.conf.json has them.
        python: major and minor version.
    """

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    requirements: Mapping[str, str] = field(default_factory=dict)
    python: str = PYTHON


def environment(root: Path, known: Sequence[variants.Variant], impl: str) -> Environment:
    """The environment in which `asv run` would measure a variant.

    Without an asv.conf.json, or one whose matrix has no such variables, a name of our own.

    Args:
        root: of the checkout.
        known: the project's variants.
        impl: the name of one of them.
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
        if name_of(each.env_vars, known) == impl:
            variables, required = dict(each.env_vars), dict(each.requirements)
            return Environment(each.name, variables, required, each.python)
    run = dict(variants.named(known, impl, impl).run)
    if name_of(run, known) != impl:
        run |= {VARIANT: impl}
    parts = [f"benchproof-py{PYTHON}", *(f"{name}{value}" for name, value in sorted(run.items()))]
    return Environment(re.sub(r"[^\w.+-]", "_", "-".join(parts)), run)


def name_of(variables: Mapping[str, str], known: Sequence[variants.Variant]) -> str:
    """Which variant a result file is of.

    It is the one whose variables those of the file are; of a project that does not name it any
    more, the variables' values.

    Args:
        variables: `env_vars` of the file.
        known: the project's variants.
    """
    if VARIANT in variables:
        return variables[VARIANT]
    for each in known:
        if each.name and each.run and each.run.items() <= variables.items():
            return each.name
    return "-".join(str(variables[name]) for name in sorted(variables))


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
    # Every time: a run lasts for hours, and somebody may have moved the folder away in between.
    describe_machine(results, about)
    file = path(results, about["machine"], commit[0], env)
    rows, durations = held(file)
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


def held(file: Path) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The rows that a file has, and its durations; nothing of one that asv could not load."""
    found = known(file, VERSION)
    try:
        columns = found["result_columns"]
        if found["version"] != VERSION or not set(columns) <= set(COLUMNS):
            return {}, {}
        rows = {
            name: dict(zip(columns, row, strict=False)) for name, row in found["results"].items()
        }
        return rows, dict(found.get("durations") or {})
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
    held = known(file, 2)
    wanted = dict(held)
    for each in timed:
        wanted |= entries(each)
    wanted["version"] = 2
    if wanted == held:
        return False
    files.write(json.dumps(wanted, indent=1, sort_keys=True) + "\n", file)
    return True


def describe_machine(results: Path, about: Mapping[str, str]) -> None:
    """Write asv's description of a machine, unless it has one."""
    file = results / about["machine"] / MACHINE
    if known(file, 1).get("machine") != about["machine"]:
        files.write(json.dumps({**about, "version": 1}, indent=1, sort_keys=True) + "\n", file)


def note(results: Path, machine: str, record: Mapping[str, Any]) -> None:
    """Add a line to what is known of how things were measured.

    Raises:
        BenchproofError: it cannot be written.
    """
    files.append_line(record, results / machine / MEASURED)


def notes(file: Path) -> list[dict[str, Any]]:
    """The lines of a JSON lines file; torn and foreign ones are skipped.

    Raises:
        NewerError: a newer benchproof wrote one.
    """
    found = files.read_lines(file)
    for record in found:
        files.refuse_newer(record, SCHEMA, file)
    return found


def known(file: Path, version: int) -> dict[str, Any]:
    """The contents of one of asv's files before it is written anew.

    Raises:
        NewerError: it has a newer version of asv's format than the one that is written here.
    """
    held = files.contents(file)
    files.refuse_newer(held, version, file, "version")
    return held
