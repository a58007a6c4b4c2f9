"""What the search remembers between runs: the answer of each stretch, by its hash."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof import files

from .stretch import Found

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Store:
    """Answers by hash, in a file; or in memory alone.

    Attributes:
        file: where they are kept, or None.
        read: what was in it.
        used: what was asked for or learnt since; the rest is forgotten when it is kept.
    """

    file: Path | None = None
    read: dict[str, Any] = field(default_factory=dict)
    used: dict[str, Found] = field(default_factory=dict)

    @classmethod
    def open(cls, file: Path | None) -> Store:
        """Read a file; one that is not there, or is not one of ours, is empty."""
        read: Any = {}
        if file is not None:
            with suppress(OSError, ValueError):
                read = json.loads(file.read_text(encoding="utf-8"))
        return cls(file, read if isinstance(read, dict) else {})

    def knows(self, digest: str) -> bool:
        """Whether an answer is known; it can then be read from `used`."""
        if digest not in self.used:
            with suppress(TypeError, ValueError, KeyError):
                between, places = self.read[digest]
                self.used[digest] = Found(
                    float(between), tuple((int(at), tuple(names)) for at, names in places)
                )
        return digest in self.used

    def keep(self) -> None:
        """Write what was used, if that is not what was read.

        Raises:
            BenchproofError: it cannot be written.
        """
        if self.file is not None and self.used.keys() != self.read.keys():
            answers = {name: [found.between, found.places] for name, found in self.used.items()}
            text = json.dumps(answers, allow_nan=False, separators=(",", ":"))
            files.write(text + "\n", self.file)
