"""Read a folder of asv's result files as a history.

Nothing here trusts a file: what is cut off, doubled, another project's or another machine's is
named with the reason and left out, and the rest is read. `writing` tells what the files are.

Ten thousand commits are twenty thousand files, so what was read can be kept in one file, and then
only new and changed files are read: a line of JSON, and behind it all numbers. A file is known
again by its name, its size and its time of change. A few new files do not make the cache be written
anew: of a large history that takes longer than to read them once more next time. A cache of another
version of this module, or of other versions of the benchmarks, or one that is damaged, is as good
as none.
"""

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchproof import files
from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError
from benchproof.variants import Variant

from . import model, writing
from .model import CANARY, UNITS, Commit, History, LeftOut, Series, SeriesKey
from .writing import BENCHMARKS, MACHINE, MEASURED, VERSION, notes

#: Raised when the arrays mean something else than before.
_LAYOUT = 5
#: New files may be this part of the known ones before the cache is written anew.
_FEW = 1 / 50


@dataclass(frozen=True, eq=False)
class Read:
    """What one file of asv's says.

    Attributes:
        machine: by its name in the file.
        commit: its hash.
        impl: the implementation, or "".
        env: asv's name of the environment.
        platform: Python, kernel and packages.
        names: asv's names of the benchmarks that have a number; files that name the same share one.
        numbers: a column each: the number, and the ends of its interval (the number itself where
            none is known).
    """

    machine: str
    commit: str
    impl: str
    env: str
    platform: Mapping[str, str]
    names: tuple[str, ...]
    numbers: NDArray[np.float64]


#: A file's mark, which changes when the file does, and what was read of it or why it is left out.
_Held = tuple[list[int], Read | str]


def load(
    results: Path, repo: Checkout | Path, tip: str = "HEAD", cache: Path | None = None
) -> History:
    """Everything that a folder of results tells of a repository's first-parent line.

    Args:
        results: asv's folder of results; one that is not there is an empty history.
        repo: the repository.
        tip: the newest commit of the line.
        cache: a file that keeps what was read, for the next time.

    Raises:
        BenchproofError: git cannot be asked.
    """
    checkout = repo if isinstance(repo, Checkout) else Checkout.around(repo)
    commits = model.read(checkout, tip)
    found: dict[str, Read] = {}
    left_out: list[LeftOut] = []
    versions = {name: str(each.get("version", "")) for name, each in _benchmarks(results).items()}
    named = checkout.variants
    # What was read is kept with the names under which it was read.
    read_as = versions | {f"variant {each.name}": str(sorted(each.run.items())) for each in named}
    known = _recall(cache, read_as) if cache else {}
    held: dict[str, _Held] = {}
    shared = {read.names: read.names for _, read in known.values() if isinstance(read, Read)}
    for file in _files(results, left_out):
        mark = _mark_of(f"{results}/{file}")
        if file in known and known[file][0] == mark:
            held[file] = known[file]
        else:
            held[file] = (mark, _read(results / file, versions, named, shared))
        read = held[file][1]
        if isinstance(read, str):
            left_out.append(LeftOut(file, read))
        else:
            found[file] = read
    if cache and _is_outdated(known, held):
        _keep(cache, read_as, held)
    return _history(results, found, left_out, commits, checkout)


def _benchmarks(results: Path) -> dict[str, dict[str, Any]]:
    """What asv says of each benchmark, by name; nothing where it was never asked."""
    held = files.contents(results / BENCHMARKS)
    return {name: each for name, each in held.items() if isinstance(each, dict)}


def _files(results: Path, left_out: list[LeftOut]) -> Iterator[str]:
    """The result files of all machines, in order; folders that are no machine's are left out."""
    folders = (
        sorted(each for each in results.iterdir() if each.is_dir()) if results.is_dir() else []
    )
    for folder in folders:
        named = sorted(name for name in os.listdir(folder) if name.endswith(".json"))  # noqa: PTH208  (there are ten thousands)
        named = [name for name in named if name != MACHINE]
        if named and not _machine(folder):
            left_out.append(LeftOut(folder.name, f"no {MACHINE} says which machine measured it"))
            continue
        yield from (f"{folder.name}/{name}" for name in named)


def _machine(folder: Path) -> dict[str, str]:
    """What asv says of a machine, or nothing."""
    held = files.contents(folder / MACHINE)
    if not isinstance(held.get("machine"), str):
        return {}
    return {key: str(value) for key, value in held.items() if key != "version"}


def _read(
    file: Path, versions: Mapping[str, str], named: Sequence[Variant],
    shared: dict[tuple[str, ...], tuple[str, ...]],
) -> Read | str:  # fmt: skip
    """What a file says, or why it cannot be used; files that name the same share those names."""
    try:
        held = files.read_json(file)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except ValueError:
        return "is no JSON, or was cut off"
    try:
        if held["version"] != VERSION:
            return f"has version {held['version']!r} of asv's format, and {VERSION} is known"
        params, variables = held["params"], held.get("env_vars") or {}
        if params["machine"] != file.parent.name:
            return f"is of the machine {params['machine']!r}, not of {file.parent.name!r}"
        platform = {"python": str(held["python"]), "os": str(params.get("os", ""))}
        platform |= {name: str(value) for name, value in held["requirements"].items()}
        names, numbers = _numbers(held, versions)
        return Read(
            str(params["machine"]), str(held["commit_hash"]), writing.name_of(variables, named),
            str(held["env_name"]), platform, shared.setdefault(names, names), numbers,
        )  # fmt: skip
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        return f"is not one of asv's result files ({type(error).__name__}: {error})"


def _numbers(
    held: Mapping[str, Any], versions: Mapping[str, str]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """A file's rows that are numbers of the newest version, as `Read` has them."""
    columns = {name: at for at, name in enumerate(held["result_columns"])}
    at_value, at_version = columns["result"], columns["version"]
    ends = columns["stats_ci_99_a"], columns["stats_ci_99_b"]
    found: list[str] = []
    numbers: list[tuple[float | None, ...]] = []
    for name, row in held["results"].items():
        value = row[at_value]
        if not isinstance(value, list) or len(value) != 1 or value[0] is None:
            continue
        version = row[at_version] if len(row) > at_version else None
        if value[0] != value[0] or version != versions.get(name, version):  # NaN
            continue
        found.append(name)
        interval = [row[at][0] if len(row) > at and row[at] else None for at in ends]
        numbers.append((value[0], *(interval if None not in interval else (None, None))))
    table = np.array(numbers, np.float64).reshape(-1, 3).T
    # No interval is known, or an infinite one, where samples are too few.
    return tuple(found), np.where(np.isfinite(table), table, table[0])


def _history(
    results: Path, found: dict[str, Read], left_out: list[LeftOut], commits: list[Commit],
    checkout: Checkout,
) -> History:  # fmt: skip
    """Put what was read on the line."""
    places = {commit.hash: at for at, commit in enumerate(commits)}
    aside = _take_strangers(found, left_out, places, checkout)
    _take_doubles(found, left_out)
    platforms: list[dict[str, str]] = []
    groups: dict[str, dict[str, dict[int, Read]]] = {}
    for read in found.values():
        by_impl = groups.setdefault(read.machine, {})
        by_impl.setdefault(read.impl, {})[places[read.commit]] = read
    series: dict[SeriesKey, Series] = {}
    for machine, by_impl in sorted(groups.items()):
        noted = _noted(results / machine / MEASURED)
        for impl, by_place in sorted(by_impl.items()):
            made = _series(machine, impl, by_place, noted.get(impl, {}), platforms)
            series |= {each.key: each for each in made}
    keys = sorted(series)
    return History(
        commits=commits,
        series={key: series[key] for key in keys if key.benchmark != CANARY},
        left_out=sorted(left_out),
        aside=aside,
        machines={name: _machine(results / name) for name in sorted({key.machine for key in keys})},
        canaries={key: series[key] for key in keys if key.benchmark == CANARY},
        platforms=platforms,
    )


def _take_strangers(
    found: dict[str, Read], left_out: list[LeftOut], places: Mapping[str, int], checkout: Checkout
) -> list[LeftOut]:
    """Take out the files of commits that are not on the line; those that are of this repository."""
    strangers = {file: read for file, read in found.items() if read.commit not in places}
    known = set(checkout.ask("rev-list", "--all").split()) if strangers else set()
    aside = []
    for file, read in strangers.items():
        del found[file]
        if read.commit in known:
            aside.append(LeftOut(file, f"{read.commit[:10]} is not on the first-parent line"))
        else:
            why = f"{read.commit[:10]!r} is no commit of this repository"
            left_out.append(LeftOut(file, why))
    return aside


def _take_doubles(found: dict[str, Read], left_out: list[LeftOut]) -> None:
    """Keep one file a machine, commit and variant: the best named, then the fullest."""
    worst_first = sorted(found.items(), key=lambda each: _worth(*each))
    best = {(read.machine, read.commit, read.impl): file for file, read in worst_first}
    for file, read in list(found.items()):
        other = best[read.machine, read.commit, read.impl]
        if other != file:
            del found[file]
            why = f"has the commit and the variant of {Path(other).name}"
            left_out.append(LeftOut(file, why))


def _worth(file: str, read: Read) -> tuple[bool, int, str]:
    """What makes one of two files of the same commit the better one."""
    return file.endswith(f"/{read.commit[:8]}-{read.env}.json"), len(read.names), file


def _noted(file: Path) -> dict[str, dict[str, dict[str, str]]]:
    """By implementation and commit, with which tools the newest measurement of it was made."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for each in notes(file):
        known = found.setdefault(str(each.get("impl")), {})
        facts = each.get("platform", known.get(str(each.get("from"))))
        if isinstance(facts, dict):
            known[str(each.get("commit"))] = {str(k): str(v) for k, v in facts.items()}
    return found


def _series(
    machine: str, impl: str, by_place: Mapping[int, Read], noted: Mapping[str, dict[str, str]],
    platforms: list[dict[str, str]],
) -> Iterator[Series]:  # fmt: skip
    """The series of one machine and implementation."""
    order = sorted(by_place)
    named = {read.names for read in by_place.values()}
    rows = {name: at for at, name in enumerate(sorted(set().union(*named)))}
    own = {names: np.array([rows[name] for name in names], np.int64) for names in named}
    numbers = np.full((3, len(rows), len(order)), np.nan)
    platform = np.empty(len(order), np.int64)
    for column, place in enumerate(order):
        read = by_place[place]
        numbers[:, own[read.names], column] = read.numbers
        platform[column] = _place_of({**read.platform, **noted.get(read.commit, {})}, platforms)
    index = np.array(order, np.int64)
    for name, row in rows.items():
        meant = writing.meant(name)
        if meant is None:
            continue
        measured = ~np.isnan(numbers[0, row])
        # Ten thousand places are shared by the series that have all of them, not copied for each.
        taken = slice(None) if measured.all() else measured
        value, low, high = numbers[:, row, taken]
        if np.array_equal(low, high):
            low = high = value
        key = SeriesKey(meant[0], meant[1], impl, machine)
        yield Series(key, UNITS[meant[1]], index[taken], value, low, high, platform[taken])


def _place_of(facts: dict[str, str], platforms: list[dict[str, str]]) -> int:
    """The place of a platform in the list; it is added if it is new."""
    if facts not in platforms:
        platforms.append(facts)
    return platforms.index(facts)


def _recall(cache: Path, read_as: Mapping[str, str]) -> dict[str, _Held]:
    """What a cache remembers of files; nothing if it is none, or was read under other names."""
    found: dict[str, _Held] = {}
    try:
        with cache.open("rb") as stream:
            header = json.loads(stream.readline())
            if header["layout"] != _LAYOUT or header["read as"] != read_as:
                return {}
            # Mapped, not copied, since it is read once; also after the file was replaced.
            numbers = np.asarray(np.memmap(stream, np.float64, "r", offset=stream.tell()))
        names, at = [tuple(each) for each in header["names"]], 0
        for file, mark, about in header["files"]:
            read = about
            if not isinstance(about, str):
                machine, commit, impl, env, platform, which = about
                start, at = at, at + 3 * len(names[which])
                read = Read(machine, commit, impl, env, platform, names[which],
                            numbers[start:at].reshape(3, -1))  # fmt: skip
            found[file] = (mark, read)
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return found if at == len(numbers) else {}  # else it was cut off


def _keep(cache: Path, read_as: Mapping[str, str], held: Mapping[str, _Held]) -> None:
    """Write a cache; a disk that is full costs the next reader time, no more."""
    names: dict[tuple[str, ...], int] = {}
    rows: list[tuple[str, list[int], object]] = []
    for file, (mark, read) in held.items():
        about: object = read
        if isinstance(read, Read):
            which = names.setdefault(read.names, len(names))
            about = (read.machine, read.commit, read.impl, read.env, read.platform, which)
        rows.append((file, mark, about))
    header = {"layout": _LAYOUT, "read as": read_as, "names": list(names), "files": rows}
    line = json.dumps(header, separators=(",", ":")).encode()
    line += b" " * (-(len(line) + 1) % 8) + b"\n"  # numbers lie at multiples of their size
    numbers = (each.numbers.tobytes() for _, each in held.values() if isinstance(each, Read))
    with suppress(BenchproofError):
        files.write(itertools.chain([line], numbers), cache)


def _is_outdated(known: Mapping[str, _Held], held: Mapping[str, _Held]) -> bool:
    """Whether enough files are new, or any is gone."""
    new = sum(each is not known.get(file) for file, each in held.items())
    return bool(known.keys() - held.keys()) or new > _FEW * len(known)


def _mark_of(file: str) -> list[int]:
    """What changes when a file does."""
    about = os.stat(file)  # noqa: PTH116  (twenty thousand paths would be taken apart)
    return [about.st_size, about.st_mtime_ns]
