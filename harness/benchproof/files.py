"""Where files go: the cache of a checkout; and writing one as one step, never seen by half."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchproof import renamed
from benchproof.errors import told

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Stands for standard output where the file of a document is asked for.
STDOUT = Path("-")


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


def forget(*places: Path | None) -> None:
    """Remove what an earlier run left under these names: it is not this one's."""
    for file in places:
        if file is not None and file != STDOUT:
            file.unlink(missing_ok=True)


def write(content: str | bytes, file: Path) -> None:
    """Write beside, then move; folders are made.

    Args:
        content: the whole file; a text is written as UTF-8.
        file: where to.

    Raises:
        BenchproofError: it cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            Path(scratch).chmod(0o644)
            Path(scratch).replace(file)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise told(error) from error


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
