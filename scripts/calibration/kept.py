"""Results that grow: JSON lines in a gzip file, each appended whole or not at all.

Every line is a gzip member of its own, written at once, so that a campaign that is killed loses
at most the line that it was writing. `pack` makes one member of them, which is smaller.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchproof import files
from benchproof.errors import told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_GZIP = 16 + zlib.MAX_WBITS
#: Bytes that are looked at together: what lies behind a member is copied.
_CHUNK = 1 << 14
#: Fewer members are not worth packing.
_MEMBERS = 8


@dataclass(frozen=True)
class Kept:
    """A file of rows.

    Attributes:
        file: its path, ending in ``.jsonl.gz``; it need not exist.
    """

    file: Path

    def rows(self) -> list[dict[str, Any]]:
        """All complete rows, in the order in which they were added."""
        return [json.loads(line) for text, _ in self._members() for line in text.splitlines()]

    def missing(
        self,
        runs: int,
        meters: Sequence[str],
        **key: Any,  # noqa: ANN401  (JSON)
    ) -> list[int]:
        """Numbers of gates, of so many that there should be, of which there is no such row.

        Args:
            runs: how many there should be.
            meters: that the gate of a row was asked for, at least.
            key: what a row holds, such as the rules that decided.
        """
        done = {
            row["number"] for row in self.rows()
            if row | key == row and {*(row.get("asked") or row["meters"])} >= {*meters}
        }  # fmt: skip
        return [number for number in range(runs) if number not in done]

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row.

        Raises:
            BenchproofError: it cannot be written.
        """
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("ab") as out:
                out.write(gzip.compress(_line(row).encode(), mtime=0))
        except OSError as error:
            raise told(error) from error

    def mend(self) -> None:
        """Cut off what a killed process left of a row, so that the next one can be read."""
        good = max((end for _, end in self._members()), default=0)
        if self.file.exists() and self.file.stat().st_size > good:
            os.truncate(self.file, good)

    def pack(self) -> None:
        """Write all rows as one member, as one step.

        Raises:
            BenchproofError: it cannot be written.
        """
        members = list(self._members())
        if len(members) >= _MEMBERS:
            self._write("".join(text for text, _ in members))

    def replace(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write other rows instead, as one step.

        Raises:
            BenchproofError: they cannot be written.
        """
        self._write("".join(_line(row) for row in rows))

    def _write(self, text: str) -> None:
        files.write(gzip.compress(text.encode(), mtime=0), self.file)

    def _members(self) -> Iterator[tuple[str, int]]:
        """Each complete member's text, and where it ends."""
        data = self.file.read_bytes() if self.file.exists() else b""
        start = 0
        while start < len(data):
            reader, pieces, end = zlib.decompressobj(_GZIP), [], start
            try:
                while not reader.eof and end < len(data):
                    pieces.append(reader.decompress(data[end : end + _CHUNK]))
                    end = min(end + _CHUNK, len(data))
            except zlib.error:
                return
            if not reader.eof:
                return
            start = end - len(reader.unused_data)
            yield b"".join(pieces).decode(), start


def _line(row: Mapping[str, Any]) -> str:
    """A row as a line."""
    return json.dumps(row, separators=(",", ":"), allow_nan=False) + "\n"
