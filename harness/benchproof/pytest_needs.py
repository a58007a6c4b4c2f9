"""What benchmarks run by pytest need beside the package, out of what the project declares.

Of its dependency groups, extras and requirements files, the one that names a benchmarking plugin
counts, else one that names pytest: pytest and its plugins are taken from it, and what the files and
their `conftest.py` import by name. Nothing that no list of the project names is ever installed, but
pytest itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from . import pytest_files, toml

_PLUGINS = frozenset({"pytest-benchmark", "pytest-codspeed"})
#: Words in the names of such lists, those that are likelier first.
_LIKELY = ("codspeed", "bench", "perf", "test", "pytest", "dev", "ci")
_FILES = ("*requirements*.txt", "requirements/*.txt", "requirements/*.in")
_INCLUDE = re.compile(r"(?:-r|--requirement)[ =]+(\S+)")
#: What stands behind a requirement in such a file: a comment, hashes.
_BEHIND = re.compile(r"\s+(?:#|--hash|\\).*")


def requirements(root: Path, suites: Path) -> tuple[str, ...]:
    """The requirements of a project's benchmarks; none where pytest runs nothing of them.

    Args:
        root: of the checkout.
        suites: their folder or file.
    """
    files = pytest_files.benchmarks(suites) if suites.exists() else []
    if not files:
        return ()
    imported = {
        canonicalize_name(each)
        for each in pytest_files.imports(files, pytest_files.root(suites.resolve()))
    }
    lists = [_by_name(each) for each in _lists(root)]
    chosen = next(
        (each for wanted in (_PLUGINS, {"pytest"}) for each in lists if wanted & each.keys()), {}
    )
    found = {name: text for name, text in chosen.items() if name.startswith("pytest")}
    for each in (chosen, *lists):
        for name in imported & each.keys():
            found.setdefault(name, each[name])
    return tuple(sorted(({"pytest": "pytest"} | found).values()))


def _lists(root: Path) -> list[list[str]]:
    """Every list of requirements that a project declares, the likelier ones first."""
    whole = toml.project(root)
    groups = toml.table(whole, "dependency-groups")
    named = {name: list(_group(groups, name, ())) for name in groups}
    extras = toml.table(whole, "project", "optional-dependencies")
    named |= {f"{name} extra": _texts(each) for name, each in extras.items()}
    for name, group in toml.table(whole, "tool", "poetry", "group").items():
        # Their versions are in poetry's own notation: any that pip finds will do.
        named[f"{name} poetry"] = list(toml.table(group, "dependencies"))
    for file in sorted({file for pattern in _FILES for file in root.glob(pattern)}):
        named[file.relative_to(root).as_posix()] = list(_lines(file, ()))

    def rank(name: str) -> int:
        words = name.lower()
        return next((at for at, word in enumerate(_LIKELY) if word in words), len(_LIKELY))

    return [named[name] for name in sorted(named, key=rank)]


def _by_name(texts: Iterable[str]) -> dict[str, str]:
    """Requirements by the name of the package; without what cannot be read."""
    found: dict[str, str] = {}
    for text in texts:
        try:
            found.setdefault(canonicalize_name(Requirement(text).name), text)
        except InvalidRequirement:
            continue
    return found


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _group(groups: Mapping[str, Any], name: str, inside: tuple[str, ...]) -> Iterator[str]:
    """A dependency group, with those that it includes."""
    known = {canonicalize_name(each): each for each in groups}
    listed = groups.get(known.get(canonicalize_name(name), ""), [])
    yield from _texts(listed)
    included = [toml.table({"": each}, "").get("include-group") for each in listed]
    for inner in _texts(included):
        if inner not in inside:
            yield from _group(groups, inner, (*inside, name))


def _lines(file: Path, inside: tuple[Path, ...]) -> Iterator[str]:
    """The requirements of a file, with those that it includes."""
    if not file.is_file() or file in inside:
        return
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if include := _INCLUDE.match(line.strip()):
            yield from _lines(file.parent / include[1], (*inside, file))
        elif line.strip() and not line.lstrip().startswith(("#", "-")):
            yield _BEHIND.sub("", line.strip())
