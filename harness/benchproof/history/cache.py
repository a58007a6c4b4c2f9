"""What was read of asv's files, kept in one file, so that only new files are read again.

A file is known again by its name, its size and its time of change. A few new files do not make the
cache be written anew: of a large history that takes longer than to read them once more next time. A
cache of another version of this module, or of other versions of the benchmarks, or one that is
damaged, is as good as none.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

#: Raised when the arrays mean something else than before.
_LAYOUT = 4
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


class Memory:
    """Files that were read before, and those that are read now."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._known: dict[str, tuple[list[int], Read | str]] = {}
        self._now: dict[str, tuple[list[int], Read | str]] = {}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._new = 0

    def recall(self, results: Path, file: str) -> Read | str | None:
        """What a file said when it was read, or None if it is new or has changed."""
        known = self._known.get(file)
        if known is None or known[0] != _mark(results, file):
            return None
        self._now[file] = known
        return known[1]

    def keep(self, results: Path, file: str, read: Read | str) -> Read | str:
        """Remember what a file says."""
        self._new += 1
        if isinstance(read, Read):
            read = replace(read, names=self._names.setdefault(read.names, read.names))
        self._now[file] = (_mark(results, file), read)
        return read

    def restore(self, values: NDArray[np.float64], header: Mapping[str, Any]) -> None:
        """Take what a cache file holds."""
        names = [tuple(each) for each in header["names"]]
        self._names = {each: each for each in names}
        at = 0
        for file, mark, about in header["files"]:
            if isinstance(about, str):
                self._known[file] = (mark, about)
                continue
            machine, commit, impl, env, platform, which = about
            end = at + 3 * len(names[which])
            numbers = values[at:end].reshape(3, -1)
            read = Read(machine, commit, impl, env, header["platforms"][platform], names[which],
                        numbers)  # fmt: skip
            self._known[file], at = (mark, read), end
        if at != len(values):
            raise ValueError("cut off")

    def arrays(self, versions: Mapping[str, str]) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """What a cache file holds."""
        names: dict[tuple[str, ...], int] = {}
        platforms: list[Mapping[str, str]] = []
        files: list[tuple[str, list[int], object]] = []
        parts = [np.empty(0)]
        for file, (mark, read) in self._now.items():
            if isinstance(read, str):
                files.append((file, mark, read))
                continue
            which = names.setdefault(read.names, len(names))
            if read.platform not in platforms:
                platforms.append(read.platform)
            platform = platforms.index(read.platform)
            parts.append(read.numbers.ravel())
            facts = (read.machine, read.commit, read.impl, read.env, platform, which)
            files.append((file, mark, facts))
        header = {
            "layout": _LAYOUT, "versions": versions, "names": list(names), "platforms": platforms,
            "files": files,
        }  # fmt: skip
        return np.concatenate(parts), header

    @property
    def is_worth_keeping(self) -> bool:
        """Whether enough files are new, or any is gone."""
        gone = self._known.keys() - self._now.keys()
        return bool(gone) or self._new > _FEW * len(self._known)


@contextmanager
def opened(file: Path | None, versions: Mapping[str, str]) -> Iterator[Memory]:
    """What a cache file remembers; afterwards it remembers what was read in between.

    Args:
        file: the cache, or None for none.
        versions: of the benchmarks; what was read under others is forgotten.
    """
    memory = Memory()
    if file is not None:
        _restore(memory, file, versions)
    yield memory
    if file is not None and memory.is_worth_keeping:
        _save(memory, file, versions)


def _restore(memory: Memory, file: Path, versions: Mapping[str, str]) -> None:
    try:
        with file.open("rb") as stream:
            header = json.loads(bytes(np.load(stream, allow_pickle=False)))
            if header["layout"] == _LAYOUT and header["versions"] == versions:
                memory.restore(_mapped(stream), header)
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError):
        memory.__init__()  # type: ignore[misc]  # damaged: start from nothing


def _mapped(stream: BinaryIO) -> NDArray[np.float64]:
    """The array that begins where a file is read: mapped, not copied, since it is read once.

    The file stays mapped after it was replaced by another of its name.
    """
    held = np.memmap(stream, np.float64, "r", offset=stream.tell())
    return np.asarray(held)


def _save(memory: Memory, file: Path, versions: Mapping[str, str]) -> None:
    """Write the cache as one step; a disk that is full costs the next reader time, no more."""
    values, header = memory.arrays(versions)
    partial = file.with_name(f"{file.name}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % values.itemsize)  # numbers lie at multiples of their size
        # One behind the other, not an archive: that would be summed byte by byte.
        with partial.open("wb") as out:
            np.save(out, np.frombuffer(text, np.uint8))
            out.write(values.data)
        partial.replace(file)
    except OSError:
        partial.unlink(missing_ok=True)


def _mark(results: Path, file: str) -> list[int]:
    """What changes when a file does."""
    about = os.stat(f"{results}/{file}")  # noqa: PTH116  (twenty thousand paths would be taken apart)
    return [about.st_size, about.st_mtime_ns]
