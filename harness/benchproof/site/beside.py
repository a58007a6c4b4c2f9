"""A folder that changes all at once: written beside its place, then exchanged with it."""

import contextlib
import ctypes
import os
import shutil
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from benchproof.errors import SiteError, told

from .pack import digest, link

#: In the name of a folder that is being written.
_MARK = ".beside-"
#: Of renameat2: relative paths start at the current directory; both names change places.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextlib.contextmanager
def beside(place: Path, locks: Path, own: Collection[str]) -> Iterator[Path]:
    """A new folder to write into, which takes its place when the block ends without an error.

    After an error, Ctrl-C too, the place is as it was and nothing is left beside it. What a killed
    process left is removed by the next one.

    Args:
        place: The folder to replace; it need not exist.
        locks: A folder for the lock that keeps two processes from writing at once.
        own: Names in it that belong to whoever writes. Everything else that lies in the place, at
            the end of the block, is kept.

    Raises:
        SiteError: another process is at it.
        BenchproofError: it cannot be written.
    """
    place = place.resolve()
    try:
        locks.mkdir(parents=True, exist_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(locks / f"site-{digest(str(place))}.lock", timeout=0)
        with lock:
            for left_over in place.parent.glob(f".{place.name}{_MARK}*"):
                shutil.rmtree(left_over, ignore_errors=True)
            fresh = place.with_name(f".{place.name}{_MARK}{os.getpid()}")
            fresh.mkdir()
            try:
                yield fresh
                keep_others(place, fresh, own)
                exchange(fresh, place)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
    except Timeout as error:
        raise SiteError(f"another process is publishing to {place}: wait for it") from error
    except OSError as error:
        raise told(error) from error


def keep_others(place: Path, fresh: Path, own: Collection[str]) -> None:
    """Carry over what the old folder holds and the new one does not own."""
    if not place.is_dir():
        return
    for entry in sorted(place.iterdir()):
        known = entry.name in own or (fresh / entry.name).exists()
        if known or _MARK in entry.name:
            continue
        if entry.is_dir():
            shutil.copytree(entry, fresh / entry.name, copy_function=link)
        else:
            link(entry, fresh / entry.name)


def exchange(fresh: Path, place: Path) -> None:
    """Put a folder in the place of another; the other is under the first one's name afterwards."""
    if not place.exists():
        fresh.rename(place)
    elif not _exchanged(fresh, place):
        aside = place.with_name(fresh.name + "-old")
        place.rename(aside)
        try:
            fresh.rename(place)
        except OSError:
            aside.rename(place)
            raise
        aside.rename(fresh)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether the kernel exchanged two names in one step."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)
