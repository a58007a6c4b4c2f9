"""Where a site's data files go: named after their content, so that a known one is not written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .beside import link
from .encode import digest, script

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Store:
    """The data folder of a new site, and that of the site before it.

    Attributes:
        fresh: the folder to fill; it exists.
        old: the folder of the site before; it need not exist.
        written: how many files were new.
        kept: how many were taken over.
    """

    fresh: Path
    old: Path
    written: int = 0
    kept: int = 0

    def give(self, name: str, data: Any) -> str:  # noqa: ANN401  (whatever JSON can hold)
        """Store a piece of data; its file name, which changes with its content.

        Args:
            name: what pages ask for.
            data: what they get.
        """
        content = script(name, data)
        file = f"{name}-{digest(content)}.js"
        if (self.fresh / file).exists():
            return file
        known = self.old / file
        # A file that was cut off has its right name: its size is the cheap proof that it is whole.
        if known.is_file() and known.stat().st_size == len(content):
            link(known, self.fresh / file)
            self.kept += 1
        else:
            (self.fresh / file).write_bytes(content)
            self.written += 1
        return file
