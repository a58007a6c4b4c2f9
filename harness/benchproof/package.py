"""The package that is measured: where it lies, its name, what it is built from, what that reads."""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from . import renamed, toml

#: Folders with an `__init__.py` that are nobody's package.
_NOT_MEASURED = frozenset({
    "asv_benchmarks", "bench", "benchmark", "benchmarks", "build", "ci", "dist", "doc", "docs",
    "env", "examples", "scripts", "test", "testing", "tests", "tools", "venv",
})  # fmt: skip
#: Folders that hold packages and are none.
_SOURCE_ROOTS = ("src", "lib", "python", "source")
#: What a built side keeps of it, beside the package.
RECORD = "side.json"
_PATTERN = re.compile(r"[A-Za-z_][\w*]*")
#: The project's name in files that are no TOML.
_CFG_NAME = re.compile(r"^name\s*=\s*([\w.-]+)", re.MULTILINE)
_SETUP_NAME = re.compile(r"""\bname\s*=\s*["']([\w.-]+)["']""")


def place(root: Path) -> str:
    """Where the package of a project lies, relative to its root.

    `package` of `[tool.benchproof]` says so; else it is the folder or the module that is called as
    the project is, else the only one there is; of those that setuptools is to pack, if it is told.

    Args:
        root: the folder that holds pyproject.toml, if there is one.

    Returns:
        The path of a folder, or of a module without its ``.py``; "" where it is not clear.
    """
    if found := setting(root, "package", is_place):
        return str(found)
    known = candidates(root)
    listed = toml.table(toml.project(root), "tool", "setuptools").get("packages")
    known = [each for each in known if isinstance(listed, list) and name(each) in listed] or known
    wanted = re.sub(r"[-_.]+", "_", _project_name(root)).lower()
    fitting = [each for each in known if name(each).replace(".", "_").lower() == wanted]
    return fitting[0] if fitting else known[0] if len(known) == 1 else ""


def candidates(root: Path) -> list[str]:
    """Folders that may be the package, relative to the root: below src/, else at the top.

    A folder without an `__init__.py` counts if it holds packages: it is a namespace. Modules count
    where there is no package.
    """
    for base in (root / "src", root):
        packages = {
            init.parent.relative_to(root).as_posix()
            for pattern in ("*/__init__.py", "*/*/__init__.py")
            for init in base.glob(pattern)
        }
        # What lies in a package, or in a folder that is none, is part of it.
        found = [
            each for each in sorted(packages)
            if str(PurePosixPath(each).parent) not in packages
            and all(part.isidentifier() for part in each.split("/"))
            and not _NOT_MEASURED & set(each.split("/"))
            and (base == root / "src" or each.split("/")[0] not in _SOURCE_ROOTS or "/" in each)
        ]  # fmt: skip
        if found:
            return found
    wanted = re.sub(r"[-_.]+", "_", _project_name(root)).lower()
    return [
        file.relative_to(root).with_suffix("").as_posix()
        for base in (root / "src", root)
        for file in sorted(base.glob("*.py"))
        if file.stem.lower() == wanted
    ]


def _project_name(root: Path) -> str:
    """The project's name as its pyproject.toml or its setup.cfg has it, or ""."""
    whole = toml.project(root)
    tables = (toml.table(whole, "project"), toml.table(whole, "tool", "poetry"))
    found = next((str(each["name"]) for each in tables if "name" in each), "")
    for file, pattern in (("setup.cfg", _CFG_NAME), ("setup.py", _SETUP_NAME)):
        if not found and (root / file).is_file():
            match = pattern.search((root / file).read_text(encoding="utf-8", errors="replace"))
            found = match[1] if match else ""
    return found or root.resolve().name


def setting(root: Path, key: str, right: Callable[[Any], bool] = bool) -> Any:  # noqa: ANN401  (as TOML has it)
    """A key of `[tool.benchproof]`; None where it is not there, or not right.

    What is wrong with the table is said by `settings.load`, which every measuring command calls;
    here such a table holds nothing.

    Args:
        root: the folder that holds pyproject.toml, if there is one.
        key: of the table.
        right: whether a value can be meant.
    """
    tools = toml.table(toml.project(root), "tool")
    found = toml.table(tools, renamed.table_name(tools)).get(key)
    return found if right(found) else None


def is_place(value: object) -> bool:
    """Whether it is a path of folders below the root, the last of them an importable name."""
    return _is_path(value) and PurePosixPath(str(value)).name.isidentifier()


def are_patterns(values: object) -> bool:
    """Whether it is a list of names of variables, with `*` for any letters."""
    return isinstance(values, list) and all(
        isinstance(each, str) and _PATTERN.fullmatch(each) for each in values
    )


def are_paths(values: object) -> bool:
    """Whether it is a list of paths below the root."""
    return isinstance(values, list) and bool(values) and all(map(_is_path, values))


def _is_path(value: object) -> bool:
    """Whether it is a path below the root."""
    if not isinstance(value, str) or not value or value != str(PurePosixPath(value)):
        return False
    path = PurePosixPath(value)
    return not path.is_absolute() and ".." not in path.parts


def places(place: str) -> tuple[str, ...]:
    """Where else the package of a place may lie in another commit, which moved it."""
    path = name(place).replace(".", "/")
    return tuple(dict.fromkeys((place, path, *(f"{root}/{path}" for root in _SOURCE_ROOTS))))


def name(place: str) -> str:
    """The name by which a package at a place is imported: ``src/mine/core`` is ``mine.core``."""
    parts = PurePosixPath(place).parts
    return ".".join(parts[1:] if len(parts) > 1 and parts[0] in _SOURCE_ROOTS else parts)
