"""Files of Go, pyperf and asv, read run by run.

Go's are read a line at a time (the Go project's "Benchmark Data Format"). A line ``key: value`` is
configuration of all lines below it. A line that begins with ``Benchmark`` is a run: its name (with
sub-benchmarks and the number of processors), iterations, and pairs of a value and its unit.
Everything else (PASS, ok, logs) is no data.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyperf

from benchproof import files, suite
from benchproof.errors import BenchproofError

from .readings import Reading

_SETTING = re.compile(r"([a-z][^\sA-Z:]*):(?:[ \t]+(.*)|)$")
#: Followed by nothing or by what is no lower-case letter: "Benchmarking" is a word of a log.
_RUN = re.compile(r"Benchmark(?![a-z])\S*")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
#: Units that have a meter, and what one of theirs is in the unit of that.
_UNITS = {"ns/op": ("wall", 1e-9), "B/op": ("bytes", 1.0), "allocs/op": ("allocations", 1.0)}
_HOST = ("goos", "goarch", "cpu")
#: Lines that are named where they cannot be read.
_NAMED = 10
#: The version of asv's result files that is read.
_VERSION = 2
_TIMED = ("time_", "timeraw_", "Time", "TimeRaw")


def read(
    tool: str, named: Iterable[Path], skipped: Callable[[str], None] | None = None, hint: str = ""
) -> Iterator[Reading]:
    """The runs in some files of a tool, one after the other.

    Args:
        tool: go, pyperf or asv.
        named: the files.
        skipped: hears of lines that cannot be read; without it they are an error, at the end.
        hint: what that error says to do about them.

    Raises:
        BenchproofError: a file, or a line of it, cannot be read.
    """
    bad: list[str] = []
    for file in named:
        if tool == "go":
            yield from read_go(file, bad)
        else:
            yield from (read_pyperf if tool == "pyperf" else read_asv)(file)
    if bad:
        more = [f"and {len(bad) - _NAMED} more"] if len(bad) > _NAMED else []
        lines = "\n".join([*bad[:_NAMED], *more])
        if skipped is None:
            raise BenchproofError(f"{len(bad)} lines cannot be read{hint}:\n{lines}")
        skipped(f"{len(bad)} lines are left out:\n{lines}")


def read_go(file: Path, bad: list[str]) -> Iterator[Reading]:
    """The runs of a file of Go's; lines that cannot be read are added to `bad`.

    Raises:
        BenchproofError: the file cannot be read.
    """
    settings: dict[str, str] = {}
    with files.opened(file) as lines:
        for number, line in enumerate(lines, 1):
            text = line.decode(errors="replace").rstrip()
            if text.startswith("Benchmark") and _RUN.match(text):
                try:
                    yield from _go_run(text, settings)
                except ValueError as error:
                    bad.append(f"{file}:{number}: {error}")
            elif found := _SETTING.match(text):
                settings[found[1]] = (found[2] or "").strip()


def go_commit(file: Path) -> str:
    """The commit that a file of Go's says it is of (its line ``commit: d7ac34d``), or "".

    Raises:
        BenchproofError: the file cannot be read.
    """
    with files.opened(file) as lines:
        found = (_SETTING.match(line.decode(errors="replace").rstrip()) for line in lines)
        told = (each[2].strip() for each in found if each and each[1] == "commit" and each[2])
        return next(told, "")


def _go_run(text: str, settings: dict[str, str]) -> list[Reading]:
    """The numbers of a line; none of one that only announces a benchmark.

    Raises:
        ValueError: it cannot be read; the words say why.
    """
    name, *rest = text.split()
    if not rest:
        return []
    if not rest[0].isdecimal() or not int(rest[0]):
        raise ValueError(f"{name}: {rest[0]!r} is no number of iterations")
    numbers, units = rest[1::2], rest[2::2]
    if not units and len(numbers) < 2:
        raise ValueError(f"{name}: no value" + f" with a unit: {numbers[:1]}" * bool(numbers))
    if len(numbers) != len(units):
        raise ValueError(f"{name}: the value {numbers[-1]} has no unit")
    twice = next((unit for unit in units if units.count(unit) > 1), None)
    if twice:
        raise ValueError(f"{name}: a second value in {twice}")
    benchmark, params = _parts(name, settings.get("pkg", ""))
    host = " ".join(filter(None, (settings.get(key, "") for key in _HOST))) or "an unnamed machine"
    found = []
    for number, unit in zip(numbers, units, strict=True):
        meter, size = _UNITS.get(unit, ("track", 1.0))
        value = _value(name, number, unit) * size
        found.append(
            Reading(benchmark, params, meter, unit if meter == "track" else "", (value,), host)
        )
    return found


def _value(name: str, text: str, unit: str) -> float:
    """A number that can be meant."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{name}: {text!r} {unit} is no number")
    if unit in _UNITS and (value < 0 or (unit == "ns/op" and not value)):
        raise ValueError(f"{name}: {text} {unit} cannot be")
    return value


def _parts(name: str, package: str) -> tuple[str, str]:
    """A benchmark with its package, and its sub-benchmark and number of processors."""
    top, slash, rest = name.partition("/")
    if not slash and (found := re.fullmatch(r"(.+?)(-\d+)", top)):
        top, rest = found[1], found[2]
    return (f"{package}::{top}" if package else top), slash + rest


def read_pyperf(file: Path) -> Iterator[Reading]:
    """The runs of a file of pyperf's: a process that gave values is one.

    Raises:
        BenchproofError: it is none of pyperf's.
    """
    try:
        yield from list(_of_pyperf(pyperf.BenchmarkSuite.load(str(file))))
    except Exception as error:  # (pyperf raises what its parser meets)
        why = " ".join(str(error).split())
        raise BenchproofError(f"{file}: no file of pyperf ({why})") from error


def _of_pyperf(found: pyperf.BenchmarkSuite) -> Iterator[Reading]:
    """The runs of all benchmarks."""
    for each in found:
        name, timed = each.get_name(), each.get_unit() == "second"
        if not isinstance(name, str):
            raise TypeError(f"the name {name!r} is no text")
        for run in each.get_runs():
            about = run.get_metadata()
            host = str(about.get("cpu_model_name") or about.get("platform") or "an unnamed machine")
            if timed and run.values:
                yield Reading(name, "", "wall", "", run.values, host)
            for value in () if timed else run.values:
                yield Reading(name, "", "track", each.get_unit(), (value,), host)


def read_asv(file: Path) -> Iterator[Reading]:
    """The benchmarks of a result file of asv's, each with its parameters.

    A file is a run, since it does not say which process gave a sample.

    Raises:
        BenchproofError: it is none of asv's, or of another version.
    """
    try:
        found = files.read_json(file)
        version = found.get("version")
        if version != _VERSION:
            raise BenchproofError(f"{file}: asv's results of version {version!r}, and {_VERSION} "
                                  "is read: `asv update` brings older ones up to it")  # fmt: skip
        units, about = _units(file), found.get("params") or {}
        host = " ".join(str(about[key]) for key in ("machine", "cpu") if about.get(key))
        for name, row in found["results"].items():
            columns = dict(zip(found["result_columns"], row, strict=False))
            yield from _of_asv(name, columns, units.get(name, "unit"), host or "an unnamed machine")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise BenchproofError(f"{file}: no result file of asv ({error})") from error


def _units(file: Path) -> Mapping[str, str]:
    """The units that asv wrote down beside the results; none without that file."""
    listed = file.parent.parent / "benchmarks.json"
    rows: Mapping[str, Any] = files.read_json(listed) if listed.exists() else {}
    return {name: str(row.get("unit") or "unit") for name, row in rows.items()
            if isinstance(row, dict)}  # fmt: skip


def _of_asv(name: str, columns: Mapping[str, Any], unit: str, host: str) -> Iterator[Reading]:
    """The numbers of a benchmark: one for each combination of its parameters."""
    taken, samples = columns.get("result") or (), columns.get("samples") or ()
    combinations = itertools.product(*(columns.get("params") or ()))
    for index, (combination, number) in enumerate(zip(combinations, taken, strict=False)):
        params = f"({', '.join(combination)})" if combination else ""
        if number is None or math.isnan(number):
            continue  # it failed, or was skipped
        if suite.parts(name)[1].startswith(_TIMED):
            values = samples[index] if index < len(samples) and samples[index] else [number]
            yield Reading(name, params, "wall", "", [float(each) for each in values], host)
        else:
            yield Reading(name, params, "track", unit, (number,), host)
