"""The package that is measured: where it lies in a checkout, and the name it is imported by."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath

from . import renamed

#: Where the package lies unless a project says otherwise.
DEFAULT = "driver"
#: What a built side keeps of it, beside the package.
RECORD = "side.json"


def place(root: Path) -> str:
    """Where the package of a project lies, relative to its root: `package` of `[tool.benchproof]`.

    What is wrong with the table is said by `settings.load`, which every measuring command calls;
    here such a table names nothing.

    Args:
        root: the folder that holds pyproject.toml, if there is one.
    """
    try:
        whole = tomllib.loads(Path(root, "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return DEFAULT
    try:
        tools = whole["tool"]
        found = tools[renamed.table_name(tools)]["package"]
    except (KeyError, TypeError):
        return DEFAULT
    return found if is_place(found) else DEFAULT


def is_place(value: object) -> bool:
    """Whether it is a path of folders below the root, the last of them an importable name."""
    if not isinstance(value, str) or value != str(PurePosixPath(value)):
        return False
    path = PurePosixPath(value)
    return not path.is_absolute() and ".." not in path.parts and path.name.isidentifier()


def name(place: str) -> str:
    """The name by which a package at a place is imported."""
    return PurePosixPath(place).name
