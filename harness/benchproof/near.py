"""Names in messages: those that somebody may have meant, and a few of many."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: How alike two names must be, from 0 to 1, and how many are suggested.
_ALIKE, _MOST = 0.6, 3


def meant(word: str, known: Iterable[str]) -> str:
    """The end of a message: the nearest of the known names, or nothing where none is near.

    Args:
        word: what was written.
        known: names, or paths of names with dots between, of which any part may have been meant.
    """
    whole = {name.lower(): name for name in reversed(list(known))}
    found = [whole[each] for each in get_close_matches(word.lower(), whole, _MOST, _ALIKE)]
    if not found:
        parts = {
            form: None
            for name in whole.values()
            for part in name.split(".")
            for form in (part, part.removeprefix("time_"))
        }
        found = get_close_matches(word.lower(), parts, _MOST, _ALIKE)
    return f"; did you mean {' or '.join(found)}?" if found else ""


def some(names: Sequence[object], most: int = _MOST) -> str:
    """A few of many names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more
