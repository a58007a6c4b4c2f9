"""Where files go: the cache of a checkout, folders for a while, and one file written as one step.

What a process that was killed leaves is found by the locks that it held: the system drops them.
"""

import fcntl
import gzip
import json
import os
import shutil
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchproof import renamed
from benchproof.errors import BenchproofError, NewerError, told

#: Stands for standard output where the file of a document is asked for.
STDOUT = Path("-")
#: How the folders of `scratch` begin.
_OURS = "benchproof-run-"


def write_json(document: Mapping[str, Any], file: Path) -> None:
    """Write a document as one step, or to standard output where the file is `STDOUT`.

    Raises:
        BenchproofError: it cannot be written.
    """
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    if file == STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write(text, file)


def read_json(file: Path) -> Any:  # noqa: ANN401  (whatever JSON can hold)
    """What a JSON file holds; one whose name ends in ``.gz`` is unpacked.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no JSON, is cut off, or is nested deeper than Python can follow.
    """
    data = file.read_bytes()
    try:
        return json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)
    except (RecursionError, EOFError, zlib.error) as error:
        raise ValueError(f"{file.name}: {error}") from error


@contextmanager
def opened(file: Path) -> Iterator[Iterable[bytes]]:
    """The lines of a file, unpacked if gzip packed it.

    Raises:
        BenchproofError: it cannot be read, or ends early.
    """
    try:
        with file.open("rb") as held:
            packed = held.peek(2)[:2] == b"\x1f\x8b"
            yield gzip.GzipFile(fileobj=held) if packed else held
    except (EOFError, zlib.error) as error:
        raise BenchproofError(f"{file}: it ends early: the compressed file is cut off") from error
    except OSError as error:
        raise told(error) from error


def contents(file: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one where there is none, or none that can be read."""
    try:
        held = read_json(file)
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def append_line(record: Mapping[str, Any], file: Path) -> None:
    """Add an object to a file of JSON lines; folders are made.

    Raises:
        BenchproofError: it cannot be written.
    """
    line = json.dumps(record, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab+") as out:
            # One that was killed may have left half a line.
            out.seek(max(0, out.tell() - 1))
            cut = out.read(1) not in {b"", b"\n"}
            out.write(b"\n" * cut + line)
    except OSError as error:
        raise told(error) from error


def read_lines(file: Path, errors: str = "replace") -> list[dict[str, Any]]:
    """The objects of a file of JSON lines, if it is there; half a line is none.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is no text, and `errors` are `strict`.
    """
    text = file.read_text(encoding="utf-8", errors=errors) if file.exists() else ""
    found = []
    for line in text.splitlines():
        with suppress(ValueError):
            found.append(json.loads(line))
    return [each for each in found if isinstance(each, dict)]


def refuse_newer(
    held: Mapping[str, Any], newest: int, file: Path | str, key: str = "schema"
) -> None:
    """Stop before what a newer benchproof has kept is misread, or written over.

    Args:
        held: what the file holds.
        newest: the last schema that is known.
        file: to name.
        key: of the schema; a file without one is older.

    Raises:
        NewerError: it is newer.
    """
    found = held.get(key)
    if isinstance(found, int) and found > newest:
        raise NewerError(
            f"{file}: {key} {found} is newer than this benchproof, which reads up to {newest}: "
            "update it"
        )


def forget(*places: Path | None) -> None:
    """Remove what an earlier run left under these names: it is not this one's."""
    for file in places:
        if file is not None and file != STDOUT:
            file.unlink(missing_ok=True)


def write(content: str | bytes | Iterable[bytes], file: Path) -> None:
    """Write beside, then move; folders are made.

    Args:
        content: the whole file, or its pieces; a text is written as UTF-8.
        file: where to.

    Raises:
        BenchproofError: it cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    pieces = (data,) if isinstance(data, bytes) else data
    # One name: what a write that was killed left is taken up by the next.
    partial = file.with_name(f".{file.name}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = _taken(partial)
        try:
            with os.fdopen(handle, "wb", closefd=False) as out:
                out.truncate()
                out.writelines(pieces)
            partial.replace(file)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
    except OSError as error:
        raise told(error) from error


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Write what an archive of our own holds below a folder."""
    # Python 3.11.2, Debian 12's, knows neither the filter nor the argument for it.
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    archive.extractall(folder)  # noqa: S202  (our own)


def _taken(partial: Path) -> int:
    """A descriptor of a file that is open for writing in this process alone."""
    while True:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        if _holds(handle, partial):
            return handle
        os.close(handle)


def _holds(handle: int, path: Path) -> bool:
    """Wait for the lock of what is open; whether it is still what the path names.

    A file system without locks gives none: then nobody else gets one, either.
    """
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def temporary() -> Path:
    """Where the system has files for a while.

    `tempfile` tries it by a file of eight letters, which a kill leaves there for good, as nobody
    knows whose it is. Here the folder that is asked for is taken if it can be written to.
    """
    chosen = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  (the folder, no name in it)
    if tempfile.tempdir is None and os.access(chosen, os.W_OK | os.X_OK):
        tempfile.tempdir = str(Path(chosen).absolute())
    return Path(tempfile.gettempdir()).resolve()


@contextmanager
def scratch(place: Path | None = None) -> Iterator[Path]:
    """A folder as long as the block; those that killed processes left beside it are removed.

    Args:
        place: the folder in which it is made; that of the system for such things without one.

    Raises:
        OSError: it cannot be made.
    """
    place = place.resolve() if place else temporary()
    _clear(place)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_OURS, dir=place))
        with suppress(FileNotFoundError):  # another process took it for one that was left
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            if _holds(handle, folder):
                break
            os.close(handle)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _clear(place: Path) -> None:
    """Remove the folders of processes that are gone: those whose lock nobody has."""
    for folder in place.glob(f"{_OURS}*"):
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass  # in use, or on a file system without locks
        finally:
            os.close(handle)


def cache_of(root: Path) -> Path:
    """The cache of a checkout: `BENCHPROOF_CACHE`, else a folder in it that git does not show.

    Raises:
        BenchproofError: it cannot be made.
    """
    if chosen := renamed.variable("BENCHPROOF_CACHE"):
        return Path(chosen).resolve()
    renamed.old_cache(root)
    folder = (root / ".benchproof").resolve()
    ignore = folder / ".gitignore"
    if not ignore.exists():
        write("*\n", ignore)
    return folder
