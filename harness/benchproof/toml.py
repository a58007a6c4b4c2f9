"""TOML that a person writes: what is wrong with it is one line that begins with file and line.

The standard library's reader does not say where things stand. Strings of several lines are not
looked into, so a line in one that looks like a key may be found too: it is never asked for.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from .errors import BenchproofError

#: Where something stands: names from the outermost table inwards, and places in lists of tables.
Where = tuple[str | int, ...]
#: What keys hold: types, a condition, and both in words.
Rules = Mapping[str, tuple[type | tuple[type, ...], Callable[[Any], bool], str]]
#: A key, or the path of a table in brackets, at the beginning of a line.
_NAMES = r"""((?:[\w.-]|"[^"]*"|'[^']*'|[ \t])+?)"""
_KEY = re.compile(rf"\s*{_NAMES}\s*=")
_HEADER = re.compile(rf"\s*\[\s*{_NAMES}\s*\]")
_ITEM = re.compile(rf"\s*\[\[\s*{_NAMES}\s*\]\]")
#: How the reader ends its messages, unless it got to the end of the text.
_AT_LINE = re.compile(r"\(at line (\d+),")


def project(root: Path) -> dict[str, Any]:
    """A project's pyproject.toml; empty where there is none, or none that can be read.

    Args:
        root: the folder that holds it.
    """
    try:
        return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def table(whole: object, *path: str) -> dict[str, Any]:
    """A table in another one; empty where it is not there, or none."""
    for key in path:
        whole = whole.get(key) if isinstance(whole, dict) else None
    return whole if isinstance(whole, dict) else {}


class File:
    """A file's content, and where everything in it stands.

    Attributes:
        name: of the file, for messages.
        data: what it holds.
        lines: by path, from 1.
    """

    def __init__(self, text: str, name: str, error: type[BenchproofError]) -> None:
        """Read a text.

        Raises:
            BenchproofError: of the given type: it is no TOML.
        """
        self.name, self._error = name, error
        try:
            self.data: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as wrong:
            found = _AT_LINE.search(str(wrong))
            line = int(found[1]) if found else max(1, len(text.splitlines()))
            raise error(f"{name}:{line}: no TOML: {wrong}") from wrong
        self.lines = lines_of(text)

    def line(self, where: Where) -> int:
        """The line of a key or table; of the nearest table around it, if it stands in none."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where, 1)

    def refuse(self, where: Where, words: str) -> NoReturn:
        """Say what is wrong, with its line.

        Raises:
            BenchproofError: always, of the file's type.
        """
        raise self._error(f"{self.name}:{self.line(where)}: {words}")

    def table(self, where: Where, value: object) -> dict[str, Any]:
        """A value that must be a table.

        Raises:
            BenchproofError: it is none.
        """
        if not isinstance(value, dict):
            self.refuse(where, f"{where[-1]} must be a table, not {value!r}")
        return value

    def check(
        self, where: Where, value: object, rules: Rules, needed: Collection[str] = ()
    ) -> dict[str, Any]:
        """A table whose keys are known, and whose values are as the rules say.

        Raises:
            BenchproofError: it is none.
        """
        held = self.table(where, value)
        for key in held:
            if key not in rules:
                self.refuse((*where, key), f"unknown key {key!r} (known: {', '.join(rules)})")
        for key, (kinds, right, words) in rules.items():
            found = held.get(key)
            # Of Python's types, bool is an int; of TOML's it is not.
            wrong = not isinstance(found, kinds) or isinstance(found, bool) or not right(found)
            if wrong and (key in held or key in needed):
                self.refuse((*where, key), f"{key} must be {words}, not {found!r}")
        return held


def lines_of(text: str) -> dict[Where, int]:
    """Where the tables and keys of a text that is TOML stand, by line from 1."""
    found: dict[Where, int] = {}
    items: Counter[Where] = Counter()
    table: Where = ()
    for number, line in enumerate(text.splitlines(), 1):
        if item := _ITEM.match(line):
            name = _names(f"[{item[1]}]")
            table = (*name, items[name])
            items[name] += 1
            found.setdefault(name, number)
            found[table] = number
        elif header := _HEADER.match(line):
            table = _names(f"[{header[1]}]")
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_names(f"{key[1]} = 0")), number)
    return found


def _names(line: str) -> Where:
    """The names in a dotted key, quotes and all, as the reader takes them."""
    try:
        inner: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ("",)
    names: list[str] = []
    while isinstance(inner, dict) and inner:
        ((name, inner),) = inner.items()
        names.append(name)
    return tuple(names)
