"""Reads callgrind's dumps: what each C function cost by itself, and how often it was called.

The format is that of "Callgrind Format Specification" in valgrind's manual. Of it this uses what a
comparison by function needs: objects, functions, cost lines and calls. Places in source files
(``fl=``, ``fi=``, ``fe=``, line numbers) are skipped over, in whichever compressed form they come.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: ``name``, ``(12) name`` (first use) or ``(12)`` (later uses).
_COMPRESSED = re.compile(r"\((\d+)\)(?: (.*))?$", re.DOTALL)
#: A line of costs: a position (absolute, relative, the same, or an address), then numbers.
_COST = re.compile(r"[+\-*\d]")
#: Which of the lines ``key=value`` share a table of compressed names.
_TABLE = {
    "ob": "object", "cob": "object",
    "fl": "file", "fi": "file", "fe": "file", "cfi": "file", "cfl": "file",
    "fn": "function", "cfn": "function",
}  # fmt: skip


#: How a dump begins: the first line is missing in old versions.
_FIRST = ("# callgrind format", "version:", "creator:", "positions:", "events:")
_SUMMARY = re.compile(rb"^summary: (\d+)", re.MULTILINE)


class DumpError(ValueError):
    """A file that is no callgrind dump, or breaks off."""


@dataclass(frozen=True, order=True)
class Function:
    """A function of machine code.

    Attributes:
        object: the file that holds it: a library, an extension module, an executable.
        name: its symbol, or an address where it has none.
    """

    object: str
    name: str


@dataclass
class Cost:
    """What a function cost in a dump.

    Attributes:
        self: instructions in it, without what it called.
        calls: how often it was called.
        inclusive: instructions in it and in what it called; meaningless for what recurses.
    """

    self: int = 0
    calls: int = 0
    inclusive: int = 0


@dataclass
class Dump:
    """One dump.

    Attributes:
        costs: by function.
        summary: the cost since counting was zeroed, as callgrind says it.
    """

    costs: dict[Function, Cost] = field(default_factory=dict)
    summary: int | None = None

    def cost(self, function: Function) -> Cost:
        """A function's cost, made when it is first seen."""
        return self.costs.setdefault(function, Cost())


class _Reader:
    """The state of a dump that is being read: where the next cost line belongs."""

    def __init__(self) -> None:
        self.dump = Dump()
        self._names: dict[str, dict[str, str]] = {"object": {}, "file": {}, "function": {}}
        self._positions, self._column = 1, 0
        self._object, self._function = "???", ""
        self._callee_object: str | None = None
        self._callee = ""
        #: Of a call whose cost line comes next, the callee.
        self._called: Cost | None = None
        self._heads = {
            "positions": self._read_positions,
            "events": self._read_events,
            "summary": self._read_summary,
        }

    def line(self, text: str) -> None:
        """Read a line."""
        if _COST.match(text):
            self._read_cost(text)
            return
        key, equals, value = text.partition("=")
        if equals and key in _TABLE:
            self._read_name(key, value)
        elif equals and key == "calls":
            self._read_call(value)
        else:
            head, colon, value = text.partition(":")
            if colon and head in self._heads:
                self._heads[head](value)
        # Else jump=, jcnd=, desc:, part:, comments, and whatever later versions add.

    def _read_positions(self, value: str) -> None:
        self._positions = len(value.split())

    def _read_events(self, value: str) -> None:
        events = value.split()
        if "Ir" not in events:
            raise DumpError(f"it counts {value.strip()}, not instructions (Ir)")
        self._column = events.index("Ir")

    def _read_summary(self, value: str) -> None:
        numbers = [int(number) for number in value.split()]
        self.dump.summary = numbers[self._column] if len(numbers) > self._column else 0

    def _read_name(self, key: str, value: str) -> None:
        name = self._expand(_TABLE[key], value)
        if key == "ob":
            self._object = name
        elif key == "fn":
            self._function = name
        elif key == "cob":
            self._callee_object = name
        elif key == "cfn":
            self._callee = name

    def _expand(self, table: str, value: str) -> str:
        compressed = _COMPRESSED.match(value)
        if compressed is None:
            return value
        number, name = compressed.groups()
        if name is not None:
            self._names[table][number] = name
            return name
        if number not in self._names[table]:
            raise DumpError(f"({number}) names no {table}")
        return self._names[table][number]

    def _read_call(self, value: str) -> None:
        """``calls=COUNT POSITION``: the next cost line is the callee's inclusive cost."""
        callee = Function(self._callee_object or self._object, self._callee)
        self._called, self._callee_object = self.dump.cost(callee), None
        self._called.calls += int(value.split(maxsplit=1)[0], 0)

    def _read_cost(self, text: str) -> None:
        numbers = text.split()[self._positions :]
        # Zeros at a line's end are left out.
        amount = int(numbers[self._column]) if len(numbers) > self._column else 0
        if self._called is not None:
            self._called.inclusive += amount
            self._called = None
        else:
            self.dump.cost(Function(self._object, self._function)).self += amount


def parse(lines: Iterator[str]) -> Dump:
    """Read a dump from its lines.

    Raises:
        DumpError: they are no dump, or break off.
    """
    reader = _Reader()
    first = next(lines, "")
    if not first.startswith(_FIRST):
        raise DumpError("its first line is not a callgrind dump's")
    reader.line(first.rstrip("\n"))
    number = 1
    for number, text in enumerate(lines, 2):
        try:
            reader.line(text.rstrip("\n"))
        except DumpError as error:
            raise DumpError(f"line {number}: {error}") from error
        except (ValueError, IndexError, AttributeError) as error:
            raise DumpError(f"line {number} cannot be read: {text.strip()[:60]!r}") from error
    if reader.dump.summary is None:
        raise DumpError(f"it breaks off after line {number}: no summary")
    return reader.dump


def read(file: Path) -> Dump:
    """Read a dump.

    Raises:
        DumpError: the file is no dump, or breaks off.
        OSError: it cannot be read.
    """
    with file.open(encoding="utf-8", errors="replace") as text:
        try:
            return parse(iter(text))
        except DumpError as error:
            raise DumpError(f"{file.name}: {error}") from error


def summary(file: Path) -> int | None:
    """Only the total of a dump, quickly; None if it has none.

    Raises:
        OSError: it cannot be read.
    """
    found = _SUMMARY.search(file.read_bytes())
    return int(found[1]) if found else None
