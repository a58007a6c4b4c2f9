"""The canary: a benchmark of the interpreter and of C that no commit can move.

It runs in a process that has not imported the driver. Where its series steps, the machine, the
kernel's vectors, Python, a library or the meter changed, and whatever else stepped there did not
do so because of a commit.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zlib

_TEXT = "the quick brown fox jumps over the lazy dog " * 8
_WORDS = re.compile(r"[a-z]+")
_PACKER = struct.Struct(">iqd")


def time_interpreter() -> str:
    """Calls, loops, objects, dictionaries, strings, sorting; then C: re, json, struct, zlib."""
    counted: dict[str, int] = {}
    for word in _WORDS.findall(_TEXT):
        counted[word] = counted.get(word, 0) + len(word)
    rows = [(number * 7919 % 101, f"row {number}") for number in range(40)]
    rows.sort()
    packed = b"".join(_PACKER.pack(key, key * key, key / 3) for key, _ in rows)
    text = json.dumps({"counted": counted, "rows": rows, "sum": sum(map(_weight, rows))})
    return hashlib.sha256(zlib.compress(packed + text.encode(), 1)).hexdigest()


def _weight(row: tuple[int, str]) -> int:
    return row[0] + len(row[1])
