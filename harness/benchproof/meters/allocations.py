"""Allocations and bytes a call, recorded by memray.

Python's own allocators are traced too. What a free list serves (small tuples, floats, frames that
the interpreter keeps) is not an allocation. A reallocation counts as one, with its new size.

Two traps, both measured:

- `FileReader(...).metadata.total_allocations` counts the frees as well, so records are read.
- memray follows the Python stack by a profile function, and a profile function makes the
  interpreter create a frame object for each Python call, which is then recorded: a function
  that does nothing "allocates" 144 bytes. We need no stacks, so the profile function goes.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchproof.errors import is_full

from .counts import Counts, counts_for
from .loop import fresh_loop, without_collector

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds (without memray) that the larger loop of a case may take.
TARGET = 0.0005
#: The most calls of the larger loop.
MOST = 64


@cache
def why_not() -> str:
    """Why allocations cannot be counted on this machine, or ""."""
    if find_spec("memray") is None:
        return "memray is not installed (pip install memray; Linux and macOS only)"
    return ""


def plan(seconds: float) -> Counts:
    """Loop counts for a call that takes some seconds without memray."""
    return counts_for(seconds, TARGET, MOST)


def measure(call: Callable[[], object], counts: Counts) -> tuple[float, float]:
    """In the worker: allocations and bytes of one call."""
    loop = fresh_loop()
    with without_collector():
        loop(call, counts.warm)
        with TemporaryDirectory(prefix="benchproof-memray-") as folder:
            # The first recording is thrown away: it leaves the free lists as the second finds them.
            _, *recorded = [
                _record(loop, call, times, Path(folder, f"{index}.bin"))
                for index, times in enumerate((1, counts.few, counts.many))
            ]
    number, size = zip(*recorded, strict=True)
    return counts.per_call(number), counts.per_call(size)


def _record(
    loop: Callable[[Callable[[], object], int], None],
    call: Callable[[], object],
    times: int,
    file: Path,
) -> tuple[int, int]:
    """Allocations and bytes of a loop, and a constant.

    Raises:
        OSError: the disk is full. memray stops recording then, and says nothing.
    """
    import memray  # noqa: PLC0415  (only workers that count allocations have memray loaded)

    destination = memray.FileDestination(file)
    with memray.Tracker(destination=destination, trace_python_allocators=True):
        sys.setprofile(None)
        loop(call, times)
    if is_full(file.parent):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
    kinds = memray.AllocatorType
    frees = {int(kinds.FREE), int(kinds.PYMALLOC_FREE), int(kinds.MUNMAP)}
    number = size = 0
    for record in memray.FileReader(file).get_allocation_records():
        if record.allocator not in frees:
            number += 1
            size += record.size
    return number, size
