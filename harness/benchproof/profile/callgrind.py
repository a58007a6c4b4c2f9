"""Which C functions a case's instructions went to, from callgrind's dumps of both sides.

Only dumps of the larger loop are used: besides the calls they hold a loop and two system calls,
the same on both sides. The smaller loop's hold leftovers of the warm-up before counting was
zeroed, so that the difference of the two, exact in total, is not exact by function.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from benchproof.meters import priced

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
    """There is no dump that could be read."""


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
        DumpError: there is none that is whole.
        OSError: a file cannot be read.
    """
    totals = {file: total for file in files if (total := summary(file))}
    if not totals:
        raise DumpError("there is no dump to read")
    cheapest = min(totals, key=totals.__getitem__)
    dump = priced.parse(cheapest.read_text(encoding="utf-8", errors="replace"))
    costs: Counter[tuple[str, str]] = Counter()
    for number, cost in dump.own.items():
        name, file = dump.names.get(number, ""), dump.objects.get(number, "")
        if cost:
            costs[plain_name(name), plain_file(file, folders)] += cost
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
    place = PurePosixPath(path)
    above = next(filter(place.is_relative_to, folders), place.parent)
    return _VERSION.sub("", _ABI.sub("", str(place.relative_to(above))))
