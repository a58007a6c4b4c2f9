"""What was read of asv's files, kept in one file, so that only new files are read again.

It is a line of JSON, and behind it all numbers. A file is known again by its name, its size and its
time of change. A few new files do not make the cache be written anew: of a large history that takes
longer than to read them once more next time. A cache of another version of this module, or of other
versions of the benchmarks, or one that is damaged, is as good as none.
"""

from __future__ import annotations

import itertools
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchproof import files
from benchproof.errors import BenchproofError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

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
Held = tuple[list[int], Read | str]


def recall(cache: Path, read_as: Mapping[str, str]) -> dict[str, Held]:
    """What a cache remembers of files; nothing if it is none, or was read under other names."""
    found: dict[str, Held] = {}
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


def keep(cache: Path, read_as: Mapping[str, str], held: Mapping[str, Held]) -> None:
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


def is_outdated(known: Mapping[str, Held], held: Mapping[str, Held]) -> bool:
    """Whether enough files are new, or any is gone."""
    new = sum(each is not known.get(file) for file, each in held.items())
    return bool(known.keys() - held.keys()) or new > _FEW * len(known)


def mark_of(file: str) -> list[int]:
    """What changes when a file does."""
    about = os.stat(file)  # noqa: PTH116  (twenty thousand paths would be taken apart)
    return [about.st_size, about.st_mtime_ns]
