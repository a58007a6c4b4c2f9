"""Writes a file as one step: a reader never sees half of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from harness.errors import told


def write(content: str | bytes, file: Path) -> None:
    """Write beside, then move; folders are made.

    Args:
        content: the whole file; a text is written as UTF-8.
        file: where to.

    Raises:
        HotpathError: it cannot be written.
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
