"""Edits that change text and no work: a comment, an unused function, a renamed local.

A gate that finds anything in a commit of these alone gives a false alarm.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.insert import SiteError

if TYPE_CHECKING:
    from random import Random

    from calibration.clone import Clone

KINDS = ("comment", "unused function", "renamed local")
#: Sources of which an edit moves what stands below it, or the addresses in a compiled module.
FOLDER = "driver"


@dataclass(frozen=True)
class Edit:
    """A neutral edit.

    Attributes:
        kind: one of KINDS.
        file: the source.
        what: for the records.
        text: the source's new content.
    """

    kind: str
    file: str
    what: str
    text: str


def edit(clone: Clone, kind: str, rng: Random, sources: dict[str, str]) -> Edit:
    """Draw a neutral edit.

    Args:
        clone: with the sources.
        kind: one of KINDS.
        rng: draws the file and the place.
        sources: new contents of files that have been edited before; those are edited further.

    Raises:
        SiteError: no source takes one.
    """
    endings = (".py",) if kind == "renamed local" else (".py", ".pyx")
    names = [
        name
        for ending in endings
        for name in clone.files(FOLDER, ending=ending)
        if "_cython" in name or ending == ".py"
    ]
    for name in rng.sample(names, len(names)):
        text = sources.get(name) or clone.text(name)
        done = _EDITS[kind](text, rng, name.endswith(".pyx"))
        if done is not None:
            return Edit(kind, name, done[1], done[0])
    raise SiteError(f"no source below {FOLDER}/ takes a {kind}")


def _comment(text: str, rng: Random, cython: bool) -> tuple[str, str] | None:
    """A comment of a few lines somewhere at the left edge: everything below moves."""
    rows = text.splitlines(keepends=True)
    places = [0] if cython else _gaps(text)
    if not rows or not places:
        return None
    place, lines = rng.choice(places), rng.randint(1, 5)
    rows[place:place] = [f"# Line {number + 1} of a comment.\n" for number in range(lines)]
    return "".join(rows), f"{lines} lines at line {place + 1}"


def _unused_function(text: str, rng: Random, cython: bool) -> tuple[str, str] | None:
    """A function that nobody calls, with a constant and a name of its own."""
    if not text.strip():
        return None
    number, lines = rng.randrange(10_000), rng.randint(1, 12)
    name = f"_nobody_calls_{number}"
    body = "".join(f"    total += values[{index}] * {number + index}\n" for index in range(lines))
    function = f"def {name}(values):\n    total = 0\n{body}    return total\n"
    if cython:
        return f"{text.rstrip()}\n\n\n{function}", name
    places = _gaps(text)
    rows = text.splitlines(keepends=True)
    place = rng.choice([*places, len(rows)])
    return "".join([*rows[:place], "\n\n", function, "\n\n", *rows[place:]]), name


def _renamed_local(text: str, rng: Random, cython: bool) -> tuple[str, str] | None:
    """A local variable of one function under another name."""
    del cython
    found = [
        (function, name)
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef)
        for name in _locals(function)
    ]
    if not found:
        return None
    function, name = rng.choice(found)
    # A longer or shorter name is another string with another hash.
    new = f"{name}_{'abcdefgh'[: rng.randint(1, 8)]}"
    rows = [row.encode() for row in text.splitlines(keepends=True)]
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    for node in sorted(uses, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        row, start = rows[node.lineno - 1], node.col_offset
        rows[node.lineno - 1] = row[:start] + new.encode() + row[start + len(name.encode()) :]
    return b"".join(rows).decode(), f"{function.name}: {name} is {new}"


_EDITS = {"comment": _comment, "unused function": _unused_function, "renamed local": _renamed_local}


def _locals(function: ast.FunctionDef) -> list[str]:
    """Names that are plain locals of a function, and of no function or string inside of it."""
    inner = [
        node for node in ast.walk(function)
        if node is not function
        and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef)
    ]  # fmt: skip
    if inner:
        return []
    banned = {
        argument.arg
        for group in (function.args.args, function.args.kwonlyargs, function.args.posonlyargs)
        for argument in group
    }
    banned |= {each.arg for each in (function.args.vararg, function.args.kwarg) if each}
    stored: list[str] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            banned |= set(node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            banned.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            banned |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.JoinedStr):
            # Before Python 3.12 the places of names inside of a formatted string are not known.
            banned |= {inside.id for inside in ast.walk(node) if isinstance(inside, ast.Name)}
        elif isinstance(node, ast.comprehension):
            # It has a scope of its own, in which the name is another variable.
            banned |= {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            banned.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.append(node.id)
    return sorted({name for name in stored if name not in banned and name != "_"})


def _gaps(text: str) -> list[int]:
    """Indexes of lines at the left edge where a module's statement begins, after its imports."""
    body = ast.parse(text).body
    places = []
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            decorated = [each.lineno for each in statement.decorator_list]
            places.append(min([statement.lineno, *decorated]) - 1)
    return places
