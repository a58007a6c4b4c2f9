"""Where a command's words go: tables to standard output, unless its document goes there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchproof import files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rich.console import Console

    from benchproof.progress import Teller


#: Characters of a line where no terminal says how many it has: a file, a pipe, the log of a CI job.
WITHOUT_A_TERMINAL = 160


@dataclass(frozen=True)
class Output:
    """A command's standard output and standard error; nothing is loaded until something is said.

    Attributes:
        json: where its document goes; None for nowhere, `files.STDOUT` for standard output.
    """

    json: Path | None

    def console(self) -> Console:
        """For tables: standard output, or standard error where the document takes that."""
        from rich.console import Console  # noqa: PLC0415  (--help should be fast)

        console = Console(stderr=self.json == files.STDOUT)
        if not console.is_terminal and "COLUMNS" not in os.environ:
            console.width = WITHOUT_A_TERMINAL
        return console

    def telling(self) -> AbstractContextManager[Teller]:
        """For progress: standard error."""
        from rich.console import Console  # noqa: PLC0415  (as above)

        from benchproof.progress import telling  # noqa: PLC0415

        return telling(Console(stderr=True))

    def keep(self, document: Mapping[str, Any]) -> None:
        """Write the document, if it was asked for.

        Raises:
            BenchproofError: it cannot be written.
        """
        if self.json is not None:
            files.write_json(document, self.json)
