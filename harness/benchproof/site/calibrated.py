"""The summary of the calibration as tables, whatever it holds: numbers under the words it uses."""

from __future__ import annotations

from typing import Any

from benchproof.render import units

#: Deeper values are written as they are.
_DEEPEST = 4


def tables(summary: dict[str, Any] | None) -> list[dict[str, Any]]:
    """A table or a list of facts for each part of the summary.

    Args:
        summary: nested dictionaries and lists of JSON, or None.

    Returns:
        Dictionaries with a title, facts (name and value), and columns and rows where a part holds
        several things of the same kind.
    """
    return _tables(summary, "Summary", 0) if summary else []


def _tables(part: dict[str, Any], title: str, depth: int) -> list[dict[str, Any]]:
    facts = [(words(key), text(value)) for key, value in part.items() if not _nested(value)]
    found = [{"title": title, "facts": facts, "columns": [], "rows": []}] if facts else []
    for key, value in part.items():
        if not _nested(value):
            continue
        name = words(key) if depth == 0 else f"{title}: {words(key)}"
        alike = _alike(value)
        if alike:
            found.append({"title": name, "facts": [], **alike})
        elif isinstance(value, dict) and depth < _DEEPEST:
            found += _tables(value, name, depth + 1)
        else:
            found.append({"title": name, "facts": [(words(key), text(value))],
                          "columns": [], "rows": []})  # fmt: skip
    return found


def _alike(value: Any) -> dict[str, Any] | None:  # noqa: ANN401  (whatever JSON can hold)
    """A list, or a dictionary, of flat dictionaries: a table with a row for each."""
    if isinstance(value, dict):
        named, rows = True, list(value.items())
    else:
        named, rows = False, [("", row) for row in value]
    if not rows or not all(
        isinstance(row, dict) and not any(isinstance(each, dict) for each in row.values())
        for _, row in rows
    ):
        return None
    columns = list(dict.fromkeys(key for _, row in rows for key in row))
    return {
        "columns": [*([""] if named else []), *map(words, columns)],
        "rows": [
            [*([words(name)] if named else []), *(text(row.get(key)) for key in columns)]
            for name, row in rows
        ],
    }


def _nested(value: object) -> bool:
    if isinstance(value, dict):
        return True
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def words(key: object) -> str:
    """A key for people."""
    return str(key).replace("_", " ")


def text(value: object) -> str:
    """A value for people; a pair of numbers is an interval."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return units.significant(value, 3) if units.usable(value) else str(value)
    if isinstance(value, list | tuple):
        return (" to " if len(value) == 2 else ", ").join(map(text, value))
    if isinstance(value, dict):
        return "; ".join(f"{words(key)} {text(each)}" for key, each in value.items())
    return str(value)
