"""A repository with a history of results whose changes are known, because they were put there.

For tests, and for measuring how reading, searching and publishing scale::

    PYTHONPATH=scripts .venv/bin/python -m scale.generated FOLDER --commits 10000 --benchmarks 125

makes FOLDER a git repository with that many commits on its first-parent line, asv's configuration
and result files of all meters in both implementations (125 benchmarks are 500 series an
implementation), and ``planted.json`` with every change that is in them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchproof.history import writing
from benchproof.history.model import CANARY, UNITS, SeriesKey
from benchproof.variants import Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: Those of the matrix below.
KNOWN = tuple(Variant(name, run={"DRIVER_IMPL": name}) for name in ("cython", "python"))

CONF = {
    "version": 1, "project": "generated", "project_url": "", "repo": ".", "branches": ["HEAD"],
    "benchmark_dir": "benchmarks", "results_dir": "results", "html_dir": "html",
    "environment_type": "virtualenv",
    "matrix": {"env_nobuild": {"DRIVER_IMPL": ["cython", "python"]}},
}  # fmt: skip
_START, _HOUR = 1_600_000_000, 3600
_WHO = "Generated <generated@example.invalid>"


@dataclass(frozen=True)
class Wanted:
    """What is generated.

    Attributes:
        commits: on the first-parent line.
        benchmarks: each with four meters.
        impls: implementations.
        steps: changes of code in each series, in both implementations at the same commits.
        least: size of the smallest.
        most: size of the largest.
        wobble: of exact counts, relative: what layout does.
        noise: of wall time, relative, of a commit's number; its interval says so.
        platforms: how often the platform changes, with a step in every series and the canary.
        merges: part of the commits that are merges of a commit beside the line.
        measured: part of the commits that have results.
        machine: its name.
        seed: of everything.
    """

    commits: int = 200
    benchmarks: int = 5
    impls: tuple[str, ...] = ("cython", "python")
    steps: int = 2
    least: float = 0.02
    most: float = 0.5
    wobble: float = 0.0003
    noise: float = 0.01
    platforms: int = 0
    merges: float = 0.05
    measured: float = 1.0
    machine: str = "generated"
    seed: int = 1


@dataclass(frozen=True)
class Planted:
    """A change that is in a generated history.

    Attributes:
        key: of the series.
        at: place on the line of the first commit that has it.
        ratio: after over before.
        kind: "code" or "platform".
    """

    key: SeriesKey
    at: int
    ratio: float
    kind: str


def write(folder: Path, wanted: Wanted) -> list[Planted]:
    """Make a repository with its results; the changes in them."""
    line, beside = repository(folder, wanted)
    (folder / "asv.conf.json").write_text(json.dumps(CONF, indent=1), encoding="utf-8")
    results = folder / "results"
    drawing = _Drawing(wanted)
    timed = [_described(name) for name in drawing.benchmarks]
    writing.describe(results, [*timed, writing.canary_entry()])
    about = {"machine": wanted.machine, "os": "Linux 6", "arch": "x86_64", "cpu": "generated",
             "num_cpu": "2", "ram": "8000000000"}  # fmt: skip
    writing.describe_machine(results, about)
    for impl in wanted.impls:
        columns = drawing.series(impl)
        env = writing.environment(folder, KNOWN, impl)
        for place in drawing.places:
            _write_file(results, about, env, line[place], place, columns)
        for commit in beside[:3]:  # what a branch measured before it was merged
            _write_file(results, about, env, commit, drawing.places[0], columns)
    for place in drawing.places:
        platform = {"python": "CPython 3.11.7", "kernel": f"Linux {drawing.platform(place)}"}
        for impl in wanted.impls:
            record = {"commit": line[place][0], "impl": impl, "platform": platform}
            drawing.notes.append(json.dumps(record))
    noted = results / wanted.machine / writing.MEASURED
    noted.write_text("\n".join(drawing.notes) + "\n", encoding="utf-8")
    rows = [{**asdict(each), "key": asdict(each.key)} for each in drawing.planted]
    (folder / "planted.json").write_text(json.dumps(rows), encoding="utf-8")
    return drawing.planted


def repository(folder: Path, wanted: Wanted) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Make the commits; hash and date of those on the line, and of those that were merged."""
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    rng = np.random.default_rng(wanted.seed)
    merging = rng.random(wanted.commits) < wanted.merges
    marks, stream = folder / ".git" / "generated.marks", list[str]()
    line, beside = list[tuple[int, int]](), list[tuple[int, int]]()
    mark = 0
    for place in range(wanted.commits):
        date, before = _START + place * _HOUR, line[-1][0] if line else 0
        merged = 0
        if merging[place] and before:
            mark += 1
            merged = mark
            beside.append((mark, date - 60))
            stream.append(_commit(f"refs/heads/beside-{place}", mark, date - 60, before))
        mark += 1
        line.append((mark, date))
        stream.append(_commit("refs/heads/main", mark, date, before, merged))
    _git(folder, "fast-import", "--quiet", f"--export-marks={marks}", text="".join(stream))
    _git(folder, "reset", "--quiet", "--hard", "main")
    lines = marks.read_text(encoding="utf-8").splitlines()
    hashes = {int(number[1:]): name for number, name in map(str.split, lines)}
    marks.unlink()
    return (
        [(hashes[number], date * 1000) for number, date in line],
        [(hashes[number], date * 1000) for number, date in beside],
    )


def _commit(ref: str, mark: int, date: int, before: int, merged: int = 0) -> str:
    """A commit for git's importer; each changes one small file."""
    subject = f"Merge change {mark}" if merged else f"Change {mark}"
    parents = (f"from :{before}\n" if before else "") + (f"merge :{merged}\n" if merged else "")
    return (
        f"commit {ref}\nmark :{mark}\ncommitter {_WHO} {date} +0000\n"
        f"data {len(subject)}\n{subject}\n{parents}"
        f"M 100644 inline driver/change.py\ndata {len(str(mark))}\n{mark}\n"
    )


class _Drawing:
    """Series by a seed."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._random = np.random.default_rng(wanted.seed + 1)
        self.benchmarks = [
            f"suite_{number // 10:02d}.time_case_{number:03d}"
            for number in range(wanted.benchmarks)
        ]
        kept = self._random.random(wanted.commits) < wanted.measured
        kept[[0, -1]] = True
        self.places = [int(place) for place in np.flatnonzero(kept)]
        free = np.arange(wanted.commits // 10 + 1, wanted.commits - 1)
        shifts = self._random.choice(free, wanted.platforms, replace=False)
        self._shifts = {
            int(at): float(np.exp(self._random.uniform(-0.1, 0.1))) for at in sorted(shifts)
        }
        self._changes = {
            (name, meter): self._drawn() for name in self.benchmarks for meter in UNITS
        }
        self.planted: list[Planted] = []
        self.notes: list[str] = []

    def platform(self, place: int) -> int:
        """The number of the platform at a place."""
        return sum(at <= place for at in self._shifts)

    def series(self, impl: str) -> dict[str, tuple[NDArray[Any], float]]:
        """By asv's name: a value for each place of the line, and the half width of intervals."""
        found = {}
        for (name, meter), changes in self._changes.items():
            key = SeriesKey(name, meter, impl, self._wanted.machine)
            found[writing.stored(name, meter)] = self._values(key, changes)
        for meter in UNITS:
            key = SeriesKey(CANARY, meter, impl, self._wanted.machine)
            found[writing.stored(CANARY, meter)] = self._values(key, {})
        return found

    def _drawn(self) -> dict[int, float]:
        """Places of changes and their ratios."""
        wanted = self._wanted
        apart = max(1, wanted.commits // (4 * wanted.steps + 1))
        slots = self._random.permutation(np.arange(1, wanted.commits - 1, apart))[: wanted.steps]
        sizes = np.exp(self._random.uniform(np.log(wanted.least), np.log(wanted.most), len(slots)))
        up = self._random.random(len(slots)) < 0.5
        return {
            int(at): float(1 + size if rises else 1 / (1 + size))
            for at, size, rises in zip(slots, sizes, up, strict=True)
        }

    def _values(self, key: SeriesKey, changes: dict[int, float]) -> tuple[NDArray[Any], float]:
        """One series."""
        wanted, wall = self._wanted, key.meter == "wall"
        logs = np.full(wanted.commits, self._random.uniform(np.log(2_000), np.log(200_000)))
        shifts = self._shifts if key.meter in {"wall", "instructions"} else {}
        for kind, steps in (("code", changes), ("platform", shifts)):
            for at, ratio in sorted(steps.items()):
                logs[at:] += np.log(ratio)
                self.planted.append(Planted(key, at, ratio, kind))
        if wall:
            logs += self._random.normal(0, wanted.noise, wanted.commits) - np.log(1e9)
            return np.exp(logs), 2.576 * wanted.noise
        if key.meter == "instructions" and key.benchmark != CANARY:
            logs += self._random.uniform(-1, 1, wanted.commits) * wanted.wobble
        return np.round(np.exp(logs)), 0.0


def _write_file(
    results: Path, about: dict[str, str], env: writing.Environment, commit: tuple[str, int],
    place: int, columns: dict[str, tuple[NDArray[Any], float]],
) -> None:  # fmt: skip
    """A result file, as `writing` writes it, but as fast as twenty thousand of them need it."""
    rows = []
    for name, (values, half) in columns.items():
        value = float(values[place])
        version = "1" if half else f"1-{writing.METHOD}"
        number = f"{value:.6g}" if half else f"{value:.0f}"
        row = f'"{name}":[[{number}],[],"{version}"'
        if half:
            ends = value * (1 - half), value * (1 + half)
            row += ",null,null," + ",".join(
                f"[{each:.6g}]" for each in (*ends, *writing.quartiles(*ends))
            )
        rows.append(row + "]")
    document = {
        "commit_hash": commit[0], "env_name": env.name, "date": commit[1],
        "params": {**about, "python": env.python}, "python": env.python, "requirements": {},
        "env_vars": dict(env.variables), "result_columns": list(writing.COLUMNS),
        "durations": {}, "version": writing.VERSION,
    }  # fmt: skip
    text = json.dumps(document)[:-1] + ',"results":{' + ",".join(rows) + "}}"
    writing.path(results, about["machine"], commit[0], env).write_text(text, encoding="utf-8")


def _described(name: str) -> dict[str, Any]:
    """What asv would say of a benchmark."""
    return writing.canary_entry() | {
        "name": name, "code": "", "pretty_name": name.rpartition("time_")[2].replace("_", " "),
    }  # fmt: skip


def _git(folder: Path, *arguments: str, text: str = "") -> None:
    command = ["git", *arguments]
    subprocess.run(command, cwd=folder, input=text.encode(), check=True, capture_output=True)


def _arguments() -> Iterator[tuple[Path, Wanted]]:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--benchmarks", type=int, default=125)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--platforms", type=int, default=3)
    parser.add_argument("--measured", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = vars(parser.parse_args())
    yield asked.pop("folder"), Wanted(**asked)


if __name__ == "__main__":
    for place, what in _arguments():
        write(place, what)
