"""Where compiled code lies in physical memory: chosen anew for every block of wall time.

The kernel keeps the pages of a file where it first put them, for as long as it can. All processes
of a session then run a side's code from the same page frames, and what that does to caches looks
like a difference between the sides: two copies of the same files came out 21 to 25 % apart
(docs/measuring.md, "Where a file lies").
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_SIZE = 1 << 20


def compiled(folders: Iterable[str]) -> list[Path]:
    """Extension modules and libraries below some folders: what the processor runs as it lies."""
    return sorted(
        file for folder in folders for file in Path(folder).rglob("*.so*") if file.is_file()
    )


def renew(found: Iterable[Path]) -> None:
    """Have the kernel forget the pages of some files, and read them into others.

    A file keeps its pages where a process has it mapped, in a file system that lives in memory, and
    outside of Linux.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    files = list(found)
    for file in files:
        with file.open("rb") as opened:
            os.fsync(opened.fileno())  # what is not on the disk yet cannot be forgotten
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    # Not by the worker, whose import would wait for the disk.
    for file in files:
        with file.open("rb", buffering=0) as opened:
            while opened.read(_SIZE):
                pass
