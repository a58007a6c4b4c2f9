"""Compiled code gets other page frames for each block of wall time."""

import ctypes
import mmap
import os
import sys
from pathlib import Path

import pytest

from benchproof import compare, placement, timing

PAGE = mmap.PAGESIZE
PAGES = 64
#: Of an entry of /proc/self/pagemap: the page frame.
FRAME = (1 << 55) - 1


def frames(file):
    """The page frames of a file that is mapped for as long as this takes; None where it has none.

    All are 0 where the kernel does not tell.
    """
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), PAGES * PAGE, mmap.MAP_PRIVATE)
    first = ctypes.c_char.from_buffer(mapped)
    address = ctypes.addressof(first)
    resident = (ctypes.c_ubyte * PAGES)()
    where, length = ctypes.c_void_p(address), ctypes.c_size_t(PAGES * PAGE)
    assert ctypes.CDLL(None).mincore(where, length, resident) == 0
    found = None
    if all(each & 1 for each in resident):
        mapped.read()
        with Path("/proc/self/pagemap").open("rb", buffering=0) as pages:
            pages.seek(address // PAGE * 8)
            found = [entry & FRAME for entry in memoryview(pages.read(PAGES * 8)).cast("Q")]
    del first
    mapped.close()
    return found


def is_forgotten(file):
    """Whether this file system lets go of pages at all."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return frames(file) is None


@pytest.fixture
def files(tmp_path):
    found = [tmp_path / f"side{number}" / "a.so" for number in range(4)]
    for file in found:
        file.parent.mkdir()
        file.write_bytes(os.urandom(PAGES * PAGE))
    return found


def test_libraries_and_extension_modules_are_found_and_nothing_else(tmp_path):
    names = ("p/a.cpython-311-x86_64-linux-gnu.so", "p/libz.so.1", "p/sub/b.abi3.so")
    for name in (*names, "p/a.py", "p/sox.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert placement.compiled([str(tmp_path)]) == [tmp_path / name for name in sorted(names)]


@pytest.mark.skipif(sys.platform != "linux", reason="page frames are read as Linux shows them")
def test_files_lie_elsewhere_afterwards_and_are_read_already(files):
    spare, *files = files
    if not is_forgotten(spare):
        pytest.skip("this file system keeps its files in memory")
    before = [frames(file) for file in files]
    placement.renew(files)
    after = [frames(file) for file in files]
    assert None not in after
    if not any(map(any, before)):
        pytest.skip("only root may see page frames")
    pairs = [
        pair for one, other in zip(before, after, strict=True)
        for pair in zip(one, other, strict=True)
    ]  # fmt: skip
    # Of the same frames, a few may come back to where they were.
    assert sum(old == new for old, new in pairs) < len(pairs) / 4


def test_where_the_kernel_takes_no_advice_nothing_is_read(files, monkeypatch):
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    monkeypatch.setattr(Path, "open", None)
    placement.renew(files)


@pytest.mark.slow
def test_every_block_of_wall_time_moves_the_code_of_both_sides(toy, place, tell, monkeypatch):
    toy.edit("driver/work.py", "total += number", "total += number + 1 - 1 + 2 - 2")
    toy.commit("slower")
    moved = []
    monkeypatch.setattr(placement, "renew", moved.append)
    request = compare.Request(
        "HEAD~1", "HEAD", bench="spin", budget=1, quick=True, meters=("wall",)
    )
    compare.compare(request, place, tell)
    assert len(moved) == timing.QUICK_BLOCKS
    assert all(each == moved[0] for each in moved)
    modules = 2 if place.toolchain.compiles else 0
    assert len({file.parent for file in moved[0]}) == modules
    assert {file.suffix for file in moved[0]} == ({".so"} if modules else set())
