"""A history as data files: by benchmark for its page, by commit for the comparison of two.

A benchmark's page reads one group (a benchmark, a meter and a machine; all implementations) in
chunks of commits; a comparison reads all groups in blocks of fewer commits. A chunk or block that
is full never changes again, so that one more commit costs the last ones only.

Numbers travel as base64 of little-endian arrays in small scripts that are named after their content
(a known one is not written again). A page that was opened from the disk may not fetch a file, but
it may run a script beside it; so every piece of data is a script that gives itself a name:
``benchproof.give("name", {...})``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from benchproof.changes.sizes import Change
    from benchproof.history.model import Commit, History, Series

#: Bytes of the digest in a file's name: a site has some thousand files.
_DIGEST = 6
#: Commits in a chunk of a group, and in a block of all groups.
CHUNK, BLOCK = 2048, 64
#: Digits of a commit's hash that pages work with.
SHORT = 10


def floats(values: ArrayLike) -> str:
    """Numbers as float32 in base64: seven digits, which is more than any meter can repeat."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()


def places(values: ArrayLike) -> str:
    """Small whole numbers, below 65,536, as uint16 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, "<u2").tobytes()).decode()


def script(name: str, data: Any) -> bytes:  # noqa: ANN401  (whatever JSON can hold)
    """A script that gives the page a piece of data."""
    body = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return f"benchproof.give({json.dumps(name)},{body});\n".encode()


def digest(*parts: str | bytes) -> str:
    """A short name for content, or for a key of several parts."""
    content = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.blake2b(content, digest_size=_DIGEST).hexdigest()


def link(source: str | Path, target: str | Path) -> None:
    """The same file under a second name; a copy where the file system has no such thing."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@dataclass
class Store:
    """The data folder of a new site, and that of the site before it.

    Attributes:
        fresh: the folder to fill; it exists.
        old: the folder of the site before; it need not exist.
        written: how many files were new.
        kept: how many were taken over.
    """

    fresh: Path
    old: Path
    written: int = 0
    kept: int = 0

    def give(self, name: str, data: Any) -> str:  # noqa: ANN401  (whatever JSON can hold)
        """Store a piece of data; its file name, which changes with its content.

        Args:
            name: what pages ask for.
            data: what they get.
        """
        content = script(name, data)
        file = f"{name}-{digest(content)}.js"
        if (self.fresh / file).exists():
            return file
        known = self.old / file
        # A file that was cut off has its right name: its size is the cheap proof that it is whole.
        if known.is_file() and known.stat().st_size == len(content):
            link(known, self.fresh / file)
            self.kept += 1
        else:
            (self.fresh / file).write_bytes(content)
            self.written += 1
        return file


@dataclass(frozen=True)
class Group:
    """The series of one benchmark, meter and machine: one an implementation.

    Attributes:
        benchmark: its name.
        meter: its name.
        machine: its name.
        unit: of the values.
        series: by implementation.
    """

    benchmark: str
    meter: str
    machine: str
    unit: str
    series: dict[str, Series] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """A short name that depends on what it is of, and on nothing else."""
        return digest(self.benchmark, self.meter, self.machine)


def groups(history: History) -> list[Group]:
    """All series, the implementations of one benchmark, meter and machine together."""
    found: dict[tuple[str, str, str], Group] = {}
    for key, series in history.series.items():
        if len(series):
            name = (key.benchmark, key.meter, key.machine)
            group = found.setdefault(name, Group(*name, series.unit))
            group.series[key.impl] = series
    return [found[name] for name in sorted(found)]


def put_commits(commits: Sequence[Commit], store: Store) -> dict[str, Any]:
    """Store the commits: all hashes in one file, the rest in chunks."""
    hashes = "".join(commit.hash[:SHORT] for commit in commits)
    return {
        "count": len(commits),
        "short": SHORT,
        "hashes": store.give("hashes", hashes),
        "chunk": CHUNK,
        "files": [
            store.give(f"commits-{at // CHUNK}", _commits(commits[at : at + CHUNK]))
            for at in range(0, len(commits), CHUNK)
        ],
    }


def put_group(group: Group, changes: Sequence[Change], picture: str, store: Store) -> str:
    """Store a group's chunks, and the head that lists them; the head's file."""
    last = max(int(series.index[-1]) for series in group.series.values()) // CHUNK
    edges = np.arange(last + 2) * CHUNK
    cuts = {impl: np.searchsorted(s.index, edges) for impl, s in group.series.items()}
    chunks = {}
    for at in range(last + 1):
        data = {
            impl: _piece(series, slice(*cuts[impl][at : at + 2]), at * CHUNK)
            for impl, series in group.series.items()
            if cuts[impl][at] < cuts[impl][at + 1]
        }
        if data:
            chunks[at] = store.give(f"{group.id}-{at}", data)
    head = {
        "benchmark": group.benchmark, "meter": group.meter, "machine": group.machine,
        "unit": group.unit, "chunks": chunks, "picture": picture,
        "changes": [describe(change) for change in changes],
    }  # fmt: skip
    return store.give(f"{group.id}-head", head)


def describe(change: Change) -> dict[str, Any]:
    """A change, as pages get it."""
    return {
        "impl": change.key.impl, "before": change.before, "after": change.after,
        "likely": change.likely, **change.figures(),
    }  # fmt: skip


def put_blocks(groups: Sequence[Group], commits: int, store: Store) -> list[str]:
    """Store all values by commit."""
    impls = sorted({impl for group in groups for impl in group.series})
    own = {impl: [group for group in groups if impl in group.series] for impl in impls}
    tables = {impl: _table([g.series[impl] for g in own[impl]], commits) for impl in impls}
    files = []
    for at in range(0, commits, BLOCK):
        pieces = {
            impl: _block([group.id for group in own[impl]], table[:, :, at : at + BLOCK])
            for impl, table in tables.items()
        }
        whole = {impl: piece for impl, piece in pieces.items() if piece}
        files.append(store.give(f"block-{at // BLOCK}", whole))
    return files


def _table(own: Sequence[Series], commits: int) -> NDArray[np.float32]:
    """Values and both ends of their intervals: a row a series, a column a commit."""
    table = np.full((3, len(own), commits), np.nan, "<f4")
    for row, series in enumerate(own):
        table[:, row, series.index] = series.value, series.low, series.high
    return table


def _block(ids: Sequence[str], table: NDArray[np.float32]) -> dict[str, Any]:
    """Some columns, and only the rows that have something there."""
    rows = np.flatnonzero(~np.isnan(table[0]).all(axis=1))
    if not len(rows):
        return {}
    value, low, high = table[:, rows]
    piece = {"ids": "".join(np.array(ids)[rows]), "v": floats(value)}
    wide = np.flatnonzero((((low != value) | (high != value)) & ~np.isnan(value)).any(axis=1))
    if len(wide):
        piece |= {"wide": places(wide), "l": floats(low[wide]), "h": floats(high[wide])}
    return piece


def _piece(series: Series, part: slice, start: int) -> dict[str, str]:
    """The values of a series in a chunk; their places only where some commits were not measured."""
    index = series.index[part] - start
    piece = {"v": floats(series.value[part])}
    if int(index[-1]) != len(index) - 1:
        piece["i"] = places(index)
    value, low, high = (each[part] for each in (series.value, series.low, series.high))
    if (low != value).any() or (high != value).any():
        piece |= {"l": floats(low), "h": floats(high)}
    return piece


def _commits(commits: Sequence[Commit]) -> dict[str, Any]:
    """Some commits; trailers only where there are any."""
    return {
        "hash": [commit.hash for commit in commits],
        "date": [commit.date for commit in commits],
        "subject": [commit.subject for commit in commits],
        "claims": {at: list(c.claims) for at, c in enumerate(commits) if c.claims},
        "reverts": {at: list(c.reverts) for at, c in enumerate(commits) if c.reverts},
        "merges": [at for at, commit in enumerate(commits) if len(commit.parents) > 1],
    }
