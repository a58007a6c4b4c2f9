"""Where extra work goes: into the body of a function of the driver, before anything can leave it.

Functions are found by name, not by a line number, so that a site survives edits of the driver.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeVar

from benchproof.errors import BenchproofError

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

#: Statements after which the rest of a body may not run.
_LEAVES = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Continue, ast.Break)


class SiteError(BenchproofError):
    """The driver has not got the function that a site names."""


def inserted(text: str, function: str, lines: Sequence[str], place: float, *, cython: bool) -> str:
    """A source with lines inserted into one of its functions.

    Args:
        text: the source.
        function: its name, with its class's before it if it has one.
        lines: without indentation.
        place: 0 to 1, chooses among the places that every call reaches.
        cython: whether the source is Cython's.

    Raises:
        SiteError: there is no such function.
    """
    rows = text.splitlines(keepends=True)
    at, indent = (_in_cython if cython else _in_python)(text, rows, function, place)
    work = [f"{' ' * indent}{line}\n" for line in lines]
    return "".join([*rows[:at], *work, *rows[at:]])


def _in_python(text: str, rows: Sequence[str], name: str, place: float) -> tuple[int, int]:
    """The index of the line before which to insert, and the indentation."""
    del rows
    node: ast.AST = ast.parse(text)
    for part in name.split("."):
        inner = [
            child for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.ClassDef | ast.FunctionDef) and child.name == part
        ]  # fmt: skip
        if not inner:
            raise SiteError(f"there is no function {name} to put extra work into")
        # Of overloads and of a property's parts the first is the one that is called here.
        node = inner[0]
    body = node.body if isinstance(node, ast.FunctionDef) else []
    docstring = bool(body) and isinstance(body[0], ast.Expr) and isinstance(
        body[0].value, ast.Constant
    )  # fmt: skip
    statements = body[1:] if docstring else body
    if not statements:
        raise SiteError(f"{name} has no statements")
    places: list[ast.stmt] = []
    for statement in statements:
        places.append(statement)
        if any(isinstance(inside, _LEAVES) for inside in ast.walk(statement)):
            break
    chosen = _choose(places, place)
    return chosen.lineno - 1, chosen.col_offset


def _in_cython(text: str, rows: Sequence[str], name: str, place: float) -> tuple[int, int]:
    """The same for Cython's syntax, which `ast` cannot read: by indentation."""
    del text
    *classes, function = name.split(".")
    start, outer = 0, -1
    for part in classes:
        start, outer = _heading(rows, start, outer, rf"(cdef\s+)?class\s+{part}\b", name)
    line, indent = _heading(rows, start, outer, rf"(cpdef|cdef|def)\b[^=]*\b{function}\s*\(", name)
    while not rows[line - 1].split("#")[0].rstrip().endswith(":"):
        line += 1
    line = _after_docstring(rows, line)
    body = next(
        (len(row) - len(row.lstrip()) for row in rows[line:] if row.strip()), indent + 4
    )  # fmt: skip
    places, at = [line], line
    while at < len(rows) and re.match(r"\s*cdef\s[^(]*$|\s*$", rows[at].rstrip("\n")):
        at += 1
    if rows[at - 1 : at] and at > line and rows[at - 1].strip():
        places.append(at)
    return _choose(places, place), body


def _heading(
    rows: Sequence[str], start: int, outer: int, pattern: str, name: str
) -> tuple[int, int]:
    """The line after the one that matches inside of a block, and that one's indentation."""
    wanted = re.compile(r"(\s*)" + pattern)
    for number in range(start, len(rows)):
        found = wanted.match(rows[number])
        if found and (len(found[1]) > outer):
            return number + 1, len(found[1])
        text = rows[number]
        if outer >= 0 and text.strip() and len(text) - len(text.lstrip()) <= outer:
            break
    raise SiteError(f"there is no function {name} to put extra work into")


def _after_docstring(rows: Sequence[str], line: int) -> int:
    """The line after a docstring that begins at a line, or that line."""
    first = rows[line].strip() if line < len(rows) else ""
    if not first.startswith('"""'):
        return line
    if first.count('"""') == 1:
        line += 1
        while '"""' not in rows[line]:
            line += 1
    return line + 1


def _choose(among: Sequence[T], place: float) -> T:
    """One of some places."""
    return among[min(int(place * len(among)), len(among) - 1)]
