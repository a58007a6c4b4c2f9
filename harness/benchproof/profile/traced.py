"""Which Python functions a case's bytecodes went to, from what both sides' tracing workers say."""

from __future__ import annotations

import sysconfig
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .change import FunctionChange, changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .change import Key

#: A call of a case is a whole number of calls and bytecodes, but for what happens every few calls.
_FLOOR = 0.05


def difference(
    left: Mapping[str, Any], right: Mapping[str, Any], folders: Sequence[Sequence[str]]
) -> list[FunctionChange]:
    """Compare what a tracing worker said of a case on both sides.

    Args:
        left: the left side's answer.
        right: the right side's.
        folders: by side, what its files are told relative to: its build, the suites' parent.
    """
    found: list[FunctionChange] = []
    before, after = (
        _bytecodes(said["bytecodes"], places)
        for said, places in zip((left, right), folders, strict=True)
    )
    found += changes(before, after, "bytecodes", _FLOOR)
    before, after = (
        _calls(said["calls"], places) for said, places in zip((left, right), folders, strict=True)
    )
    return found + changes(before, after, "calls", _FLOOR)


def _bytecodes(rows: Iterable[Mapping[str, Any]], folders: Sequence[str]) -> dict[Key, float]:
    """By function and file. Lines move with every edit above them, so they tell nobody apart."""
    costs: dict[Key, float] = defaultdict(float)
    for row in rows:
        costs[row["function"], short(row["file"], folders)] += row["cost"]
    return dict(costs)


def _calls(rows: Iterable[Mapping[str, Any]], folders: Sequence[str]) -> dict[Key, float]:
    """By C function, and by who called it."""
    costs: dict[Key, float] = defaultdict(float)
    for row in rows:
        caller = f"called by {row['by']}, {short(row['file'], folders)}"
        costs[row["function"], caller] += row["cost"]
    return dict(costs)


def short(file: str, folders: Sequence[str]) -> str:
    """A source file in few words: below one of the folders, of the library, or by name."""
    path = Path(file)
    for folder in (*folders, *_libraries()):
        if folder and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return path.name if path.is_absolute() else path.as_posix()


def _libraries() -> list[str]:
    """The interpreter's own folders, what lies deeper first."""
    paths = (sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib"))
    return [path for path in paths if path]
