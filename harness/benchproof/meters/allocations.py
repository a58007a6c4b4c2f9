"""Allocations, bytes, and bytes that live on after a call, recorded by memray.

Python's own allocators are traced too. What a free list serves (small tuples, floats, frames that
the interpreter keeps) is not an allocation. A reallocation counts as one, with its new size.

What lives on is what a loop allocated and nothing freed, not even a collection at its end. What a
cache takes once cancels between the two loops. One that still grows is looked at again after more
calls (`MORE` loops), in four loops, and the least of all answers counts: so a cache of a few
hundred entries that each call adds to is full by then, and a leak is not. A reference too many to
an object that lives anyway costs no byte, and is not seen; the object that it keeps alive is.

Two traps, both measured:

- `FileReader(...).metadata.total_allocations` counts the frees as well, so records are read.
- memray follows the Python stack by a profile function, and a profile function makes the
  interpreter create a frame object for each Python call, which is then recorded: a function
  that does nothing "allocates" 144 bytes. We need no stacks, so the profile function goes.
"""

from __future__ import annotations

import errno
import gc
import os
import statistics
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchproof.errors import is_full

from .counts import Counts, counts_for, fresh_loop, nothing, without_collector

#: Instructions (without memray) that the larger loop of a case may take.
TARGET = 1_500_000
#: The most calls of the larger loop.
MOST = 64
#: Larger loops to run before bytes that live on are looked at again.
MORE = 8
#: The fewest calls of the smaller loop that say whether something lives on.
LEAST = 4
#: The meters, in the order in which `measure` gives them.
METERS = ("allocations", "bytes", "retained")


@cache
def why_not() -> str:
    """Why allocations cannot be counted on this machine, or ""."""
    if find_spec("memray") is None:
        return "memray is not installed (pip install memray; Linux and macOS only)"
    return ""


def plan(price: float) -> Counts:
    """Loop counts for a call that costs some instructions."""
    return counts_for(price, TARGET, MOST)


def measure(
    call: Callable[[], object], counts: Counts, renew: Callable[[], object] = nothing
) -> tuple[float, float, float]:
    """In the worker: allocations, bytes, and bytes that live on, of one call.

    Args:
        call: the case.
        counts: how often it is called.
        renew: is called before each loop, and not recorded.
    """
    loop = fresh_loop()
    with without_collector():
        renew()
        loop(call, counts.warm)
        with TemporaryDirectory(prefix="benchproof-memray-") as folder:
            tape = _Tape(loop, call, Path(folder, "tape.bin"), renew)
            # The first recording is thrown away: it leaves the free lists as the second finds them.
            _, *recorded = [tape.record(times) for times in (1, counts.few, counts.many)]
            number, size, kept = zip(*recorded, strict=True)
            # What a single call leaves may be anybody's: a thread's, a table's that grew.
            retained = max(0.0, counts.per_call(kept)) if counts.few >= LEAST else 0.0
            if retained:
                tape.record(MORE * counts.many)
                # A leak shows in every loop; what shows in some is a table that grew. A recording
                # may begin with a block more or less: one of three pairs may be off.
                again = [tape.record(each)[2] for each in (counts.few, counts.many) * 2]
                pairs = counts.per_call(again[:2]), counts.per_call(again[2:])
                middle = statistics.median((retained, *pairs))
                retained = max(0.0, middle) if min(again) > 0 else 0.0
    return counts.per_call(number), counts.per_call(size), retained


class _Tape:
    """Recordings of one case, one after the other, and the blocks that live since the first."""

    def __init__(
        self, loop: Callable[[Callable[[], object], int], None], call: Callable[[], object],
        file: Path, renew: Callable[[], object],
    ) -> None:  # fmt: skip
        """What is called, where memray may write, and what comes before each loop."""
        self._loop, self._call, self._file, self._renew = loop, call, file, renew
        self._alive: dict[int, int] = {}

    def record(self, times: int) -> tuple[int, int, int]:
        """Allocations of a loop, their bytes, and by how many bytes more live after it than before;
        each with a constant.

        Raises:
            OSError: the disk is full. memray stops recording then, and says nothing.
        """  # noqa: D205  (one sentence)
        import memray  # noqa: PLC0415  (only workers that count allocations have memray loaded)

        self._renew()
        self._file.unlink(missing_ok=True)
        destination = memray.FileDestination(self._file)
        with memray.Tracker(destination=destination, trace_python_allocators=True):
            sys.setprofile(None)
            self._loop(self._call, times)
            gc.collect()
        if is_full(self._file.parent):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._file))
        kinds = memray.AllocatorType
        frees, unmapped = {int(kinds.FREE), int(kinds.PYMALLOC_FREE)}, int(kinds.MUNMAP)
        number = size = kept = 0
        alive = self._alive
        for record in memray.FileReader(self._file).get_allocation_records():
            if record.allocator in frees:
                kept -= alive.pop(record.address, 0)
            elif record.allocator != unmapped:
                number += 1
                size += record.size
                if record.allocator != int(kinds.MMAP):  # an arena, whose blocks count themselves
                    kept += record.size - alive.get(record.address, 0)
                    alive[record.address] = record.size
        return number, size, kept
