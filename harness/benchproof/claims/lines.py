"""Where things stand in a ledger: the standard library's TOML reader does not say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tomllib import TOMLDecodeError

#: How the reader ends its messages, unless it got to the end of the text.
_AT_LINE = re.compile(r"\(at line (\d+),")
_HEADER = re.compile(r"\s*\[\[\s*([A-Za-z0-9_-]+)\s*\]\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")


@dataclass
class Place:
    """One ``[[table]]`` of a ledger.

    Attributes:
        line: of its header, from 1.
        keys: the line of each of its keys.
    """

    line: int
    keys: dict[str, int] = field(default_factory=dict)

    def of(self, key: str) -> int:
        """The line of a key; of the header, if the key is missing."""
        return self.keys.get(key, self.line)


def places(text: str) -> dict[str, list[Place]]:
    """The tables of a text that is TOML, by kind, in order; what stands before them is ``""``.

    Values must not be strings of several lines: a line in one could look like a key.
    """
    current = Place(1)
    found: dict[str, list[Place]] = {"": [current]}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            current = Place(number)
            found.setdefault(header[1], []).append(current)
        elif key := _KEY.match(line):
            current.keys.setdefault(key[1], number)
    return found


def broken_line(error: TOMLDecodeError, text: str) -> int:
    """Where a text stops being TOML."""
    found = _AT_LINE.search(str(error))
    return int(found[1]) if found else max(1, len(text.splitlines()))
