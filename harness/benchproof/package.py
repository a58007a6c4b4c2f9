"""The package that is measured: where it lies, its name, and the variables its build reads."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from . import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Where the package lies unless a project says otherwise.
DEFAULT = "driver"
#: What a built side keeps of it, beside the package.
RECORD = "side.json"
_PATTERN = re.compile(r"[A-Za-z_][\w*]*")


def place(root: Path) -> str:
    """Where the package of a project lies, relative to its root: `package` of `[tool.benchproof]`.

    Args:
        root: the folder that holds pyproject.toml, if there is one.
    """
    found = _setting(root, "package")
    return str(found) if is_place(found) else DEFAULT


def build_variables(root: Path) -> tuple[str, ...]:
    """Patterns of the variables that a project's build reads: `build-variables`, or none.

    Args:
        root: the folder that holds pyproject.toml, if there is one.
    """
    found = _setting(root, "build-variables")
    return tuple(found) if isinstance(found, list) and are_patterns(found) else ()


def suites(root: Path) -> str:
    """The folder of a project's benchmarks, relative to its root: `suites`, or "".

    Args:
        root: the folder that holds pyproject.toml, if there is one.
    """
    found = _setting(root, "suites")
    return found if isinstance(found, str) else ""


def _setting(root: Path, key: str) -> object:
    """A key of `[tool.benchproof]`, unchecked.

    What is wrong with the table is said by `settings.load`, which every measuring command calls;
    here such a table holds nothing.
    """
    try:
        tools = tomllib.loads(Path(root, "pyproject.toml").read_text(encoding="utf-8"))["tool"]
        return tools[renamed.table_name(tools)][key]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_place(value: object) -> bool:
    """Whether it is a path of folders below the root, the last of them an importable name."""
    if not isinstance(value, str) or value != str(PurePosixPath(value)):
        return False
    path = PurePosixPath(value)
    return not path.is_absolute() and ".." not in path.parts and path.name.isidentifier()


def are_patterns(values: Sequence[object]) -> bool:
    """Whether all of them are names of variables, with `*` for any letters."""
    return all(isinstance(each, str) and bool(_PATTERN.fullmatch(each)) for each in values)


def name(place: str) -> str:
    """The name by which a package at a place is imported."""
    return PurePosixPath(place).name
