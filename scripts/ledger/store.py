"""Measured runs as files: everything that a verdict needs, so that it can be given again."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof import files

from .figures import LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SCHEMA = 1
KIND = "claims"


@dataclass(frozen=True)
class Run:
    """One commit against its parent, in one implementation.

    Attributes:
        rows: that the commit carries (or the sum of rows that the span is).
        impl: the implementation.
        left: hash of the commit before.
        right: hash of the commit.
        taken_back: commits that took the row back.
        quick: whether few processes were asked for.
        why: why there is no document, or "".
        document: of the comparison, as `benchproof compare --json` keeps it; empty without one.
        raw: every wall value: by case, side, block.
    """

    rows: tuple[str, ...]
    impl: str
    left: str
    right: str
    taken_back: tuple[str, ...] = ()
    quick: bool = False
    why: str = ""
    document: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)

    @property
    def created(self) -> str:
        """When it was measured."""
        return str(self.document.get("created", ""))

    def case(self, name: str) -> dict[str, Any] | None:
        """The row of a benchmark in its document."""
        return next((c for c in self.document.get("cases", []) if c["name"] == name), None)


def save(runs: Iterable[Run], file: Path) -> None:
    """Write runs as JSON, compressed if the name ends in ``.gz``; equal runs give equal files.

    Raises:
        BenchproofError: it cannot be written.
    """
    document = {"schema": SCHEMA, "kind": KIND, "runs": [asdict(run) for run in runs]}
    if file.suffix != ".gz":
        files.write_json(document, file)
        return
    text = json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
    files.write(gzip.compress(text.encode(), mtime=0), file)


def keep(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write measured runs into a folder, a file a commit; their paths."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(run.rows, []).append(run)
    written = []
    for rows, group in groups.items():
        file = folder / f"{rows[0]}.json.gz"
        kept = [old for old in load(file) if old.rows == rows] if file.exists() else []
        new = {run.impl for run in group}
        save([*(old for old in kept if old.impl not in new), *group], file)
        written.append(file)
    return written


def load(place: Path) -> list[Run]:
    """Read the runs of a file, or of all files of a folder, the newest last.

    Raises:
        LedgerError: there are none, or the file is not of this kind.
        NewerError: a newer benchproof kept it.
    """
    found = sorted(place.glob("*.json.gz")) if place.is_dir() else [place]
    runs = [run for file in found for run in _read(file)]
    if not found:
        raise LedgerError(f"{place} holds no results of claims")
    return sorted(runs, key=lambda run: run.created)


def _read(file: Path) -> list[Run]:
    try:
        document = files.read_json(file)
        if document["kind"] == KIND:
            files.refuse_newer(document, SCHEMA, file)
        if document["kind"] != KIND or document["schema"] != SCHEMA:
            raise LedgerError(f"{file}: not results of claims in schema {SCHEMA}")
        return [
            Run(**run | {key: tuple(run[key]) for key in ("rows", "taken_back")})
            for run in document["runs"]
        ]
    except FileNotFoundError as error:
        raise LedgerError(f"there are no results {file}") from error
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise LedgerError(f"{file}: not results of claims ({type(error).__name__})") from error
