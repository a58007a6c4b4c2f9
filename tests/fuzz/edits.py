"""Edits of a document: a fuzzer's bytes say where and how, so that most of it stays as it was.

Three bytes are an edit: two for the place, among all values of the document in order, one for what
is done. Raw bytes would nearly always be refused by the reader of JSON, before anything was asked.
"""

from __future__ import annotations

import copy
import math
from typing import Any

#: What a value may become.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**200, 0.5, -0.0, 1e308, math.nan, math.inf, "",
    "a", "\0", "\ud800", "é" * 9, "x" * 3000, "'; DROP", '"', "<script>alert(1)</script>", "`|\n#",
    "%s{}{0}", "../../x", [], [None], [[]], [1, "a"], {}, {"": None}, {"class": "X"}, b"", b"\xff",
)  # fmt: skip


def _places(value: Any, found: list[tuple[Any, Any]]) -> None:
    """All (container, key) below a value, in order."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in list(pairs):
        found.append((value, key))
        if isinstance(each, dict | list):
            _places(each, found)


def edited(document: Any, data: bytes) -> Any:
    """A copy of a document of dicts and lists, with the edits of some bytes."""
    changed = copy.deepcopy(document)
    for at in range(0, len(data) - 2, 3):
        found: list[tuple[Any, Any]] = []
        _places(changed, found)
        if not found:
            break
        place, key = found[int.from_bytes(data[at : at + 2]) % len(found)]
        how = data[at + 2]
        if how < len(VALUES):
            place[key] = copy.deepcopy(VALUES[how])
        elif how < 96:
            del place[key]
        elif how < 160 and isinstance(place, dict):
            place[f"k{how}"] = place.pop(key)
        elif how < 192 and isinstance(place, list):
            place.insert(key, copy.deepcopy(place[key]))
        else:  # the value of another place
            other, its = found[(how * 7919 + at) % len(found)]
            if other[its] is not place and not isinstance(other[its], dict | list):
                place[key] = other[its]
    return changed
