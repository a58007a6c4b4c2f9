"""Which C functions a case's instructions went to, from callgrind's dumps of both sides.

The format is that of "Callgrind Format Specification" in valgrind's manual. Of it this reads what a
comparison by function needs: objects, functions, and what each function cost by itself. Places in
source files (``fl=``, ``fi=``, ``fe=``, line numbers) and what a call cost are skipped over.

Only dumps of the larger loop are used: besides the calls they hold a loop and two system calls,
the same on both sides. The smaller loop's hold leftovers of the warm-up before counting was
zeroed, so that the difference of the two, exact in total, is not exact by function.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: ``name``, ``(12) name`` (first use) or ``(12)`` (later uses).
_COMPRESSED = re.compile(r"\((\d+)\)(?: (.*))?$", re.DOTALL)
#: A line of costs: a position (absolute, relative, the same, or an address), then numbers.
_COST = re.compile(r"[+\-*\d]")
#: How a dump begins: the first line is missing in old versions.
_FIRST = ("# callgrind format", "version:", "creator:", "positions:", "events:")
_SUMMARY = re.compile(rb"^summary: (\d+)", re.MULTILINE)
#: What compilers append to the name of a function that they split or copied, and callgrind to the
#: name of one that recurses.
_SUFFIX = re.compile(r"(\.(constprop|isra|part|cold|lto_priv)(\.\d+)?)+$|'\d+$")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+$")
#: The ABI's part of an extension module's name, and a library's version.
_ABI = re.compile(r"\.(cpython-[\w-]+|abi3)(?=\.so$)")
_VERSION = re.compile(r"(?<=\.so)(\.\d+)+$")
#: Cython's names: a mark for the kind of function, then lengths with names.
_CYTHON = re.compile(r"__pyx_(pw|pf|f|fuse_\d+_?pw|gb|specialmethod___pyx_pw)_(?=\d)")
#: For code that has no symbol, such as the linker's stubs.
NAMELESS = "(without a name)"


class DumpError(ValueError):
    """A file that is no callgrind dump, or breaks off."""


class Function(NamedTuple):
    """A function of machine code: the file that holds it, and its symbol (or an address)."""

    object: str
    name: str


class Dump:
    """A dump that is being read.

    Attributes:
        costs: instructions of each function by itself.
        summary: the cost since counting was zeroed, as callgrind says it; None before its line.
    """

    def __init__(self) -> None:
        """Nothing read yet."""
        self.costs: Counter[Function] = Counter()
        self.summary: int | None = None
        self._known: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
        self._now = {"ob": "???", "fn": ""}
        self._positions, self._column = 1, 0
        #: Whether the next cost line is of what was called.
        self._called = False

    def line(self, text: str) -> None:
        """Read a line."""
        if _COST.match(text):
            self._read_cost(text)
            return
        key, equals, value = text.partition("=")
        if equals and key in {"ob", "fn", "cob", "cfn"}:
            name = self._expanded(key[-2:], value)
            if key in self._now:
                self._now[key] = name
        elif equals and key == "calls":
            self._called = True
        else:  # or jump=, jcnd=, desc:, part:, comments, and whatever later versions add
            self._read_head(*text.partition(":")[::2])

    def _read_cost(self, text: str) -> None:
        if not self._called:
            self.costs[Function(self._now["ob"], self._now["fn"])] += self._amount(
                text.split()[self._positions :]
            )
        self._called = False

    def _amount(self, numbers: Sequence[str]) -> int:
        """The instructions among some numbers; zeros at a line's end are left out."""
        return int(numbers[self._column]) if len(numbers) > self._column else 0

    def _expanded(self, table: str, value: str) -> str:
        compressed = _COMPRESSED.match(value)
        if compressed is None:
            return value
        number, name = compressed.groups()
        if name is not None:
            self._known[table][number] = name
        elif number not in self._known[table]:
            raise DumpError(f"({number}) names no {'object' if table == 'ob' else 'function'}")
        return self._known[table][number]

    def _read_head(self, key: str, value: str) -> None:
        if key == "positions":
            self._positions = len(value.split())
        elif key == "events":
            if "Ir" not in value.split():
                raise DumpError(f"it counts {value.strip()}, not instructions (Ir)")
            self._column = value.split().index("Ir")
        elif key == "summary":
            self.summary = self._amount(value.split())


def parse(lines: Iterable[str]) -> Dump:
    """Read a dump from its lines.

    Raises:
        DumpError: they are no dump, or break off.
    """
    dump, lines = Dump(), iter(lines)
    first, number = next(lines, ""), 1
    if not first.startswith(_FIRST):
        raise DumpError("its first line is not a callgrind dump's")
    for number, text in enumerate(chain([first], lines), 1):
        try:
            dump.line(text.rstrip("\n"))
        except DumpError as error:
            raise DumpError(f"line {number}: {error}") from error
        except ValueError as error:
            raise DumpError(f"line {number} cannot be read: {text.strip()[:60]!r}") from error
    if dump.summary is None:
        raise DumpError(f"it breaks off after line {number}: no summary")
    return dump


def read(file: Path) -> Dump:
    """Read a dump.

    Raises:
        DumpError: the file is no dump, or breaks off.
        OSError: it cannot be read.
    """
    with file.open(encoding="utf-8", errors="replace") as text:
        try:
            return parse(text)
        except DumpError as error:
            raise DumpError(f"{file.name}: {error}") from error


def summary(file: Path) -> int | None:
    """Only the total of a dump, quickly; None if it has none.

    Raises:
        OSError: it cannot be read.
    """
    found = _SUMMARY.search(file.read_bytes())
    return int(found[1]) if found else None


def per_call(
    files: Sequence[Path], calls: int, folders: Sequence[str] = ()
) -> dict[tuple[str, str], float]:
    """What a call costs in each function, by name and file, from the cheapest of some dumps.

    Args:
        files: dumps, each of the same loop.
        calls: of the case in each dump.
        folders: paths below them are told without them.

    Raises:
        DumpError: a file is no dump, or there is none.
        OSError: a file cannot be read.
    """
    totals = {file: total for file in files if (total := summary(file))}
    if not totals:
        raise DumpError("there is no dump to read")
    costs: Counter[tuple[str, str]] = Counter()
    for function, cost in read(min(totals, key=totals.__getitem__)).costs.items():
        if cost:
            costs[plain_name(function.name), plain_file(function.object, folders)] += cost
    return {key: cost / calls for key, cost in costs.items()}


def plain_name(symbol: str) -> str:
    """A symbol as its author wrote it: no compiler's suffixes, Cython's names spelled out."""
    if not symbol or _ADDRESS.match(symbol):
        return NAMELESS
    symbol = _SUFFIX.sub("", symbol)
    mark = _CYTHON.match(symbol)
    return _spelled_out(symbol[mark.end() :]) if mark else symbol


def _spelled_out(text: str) -> str:
    """``6driver_5types_7marshal_3int8_pack`` to ``driver.types.marshal.int8_pack``."""
    parts: list[str] = []
    while match := re.match(r"(\d+)", text):
        start, length = match.end(), int(match[1])
        name, rest = text[start : start + length], text[start + length :]
        # A number that is no length counts the module's functions: the name comes after it.
        if not length or len(name) < length or not rest.startswith("_"):
            return ".".join([*parts, text[start:]])
        parts.append(name)
        text = rest[1:]
    return ".".join([*parts, text])


def plain_file(path: str, folders: Sequence[str] = ()) -> str:
    """An object file in few words: below one of the folders, or a library's bare name."""
    if path in {"", "???"}:
        return "?"
    for folder in folders:
        if Path(path).is_relative_to(folder):
            return _ABI.sub("", Path(path).relative_to(folder).as_posix())
    return _VERSION.sub("", _ABI.sub("", PurePosixPath(path).name))
