"""Which files hold benchmarks of pytest-benchmark or pytest-codspeed: read, not imported.

A benchmark is a test that takes the fixture `benchmark`, or carries the marker of that name. Where
a project has an asv.conf.json, a folder that holds functions as asv names them is asv's, whatever
else is in it: asv's loader imports every module.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

#: Names of the fixture and of the marker: of both plugins, and of pytest-codspeed alone.
FIXTURES = ("benchmark", "codspeed_benchmark")
#: Files that make a folder the root of what pytest runs.
CONFIGURATIONS = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "setup.py")
#: What a folder that no project keeps tests in is called.
_NO_TESTS = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages"})
_TEST_FILE = re.compile(r"test_\w*\.py|\w*_test\.py")
_OF_ASV = re.compile(r"(time|timeraw|mem|peakmem|track)_\w|(Time|Timeraw|Mem|Peakmem|Track)[A-Z_]")


def benchmarks(suites: Path) -> list[Path]:
    """What pytest is to collect from a folder or a file: files, and folders that are taken whole.

    Args:
        suites: as it was named or found.

    Returns:
        Nothing where the benchmarks are asv's.
    """
    files = [suites] if suites.is_file() else list(_files(suites))
    used = [file for file in files if _uses_fixture(file)]
    if used and _has_asv(suites) and any(map(is_asv, set(files) - set(used))):
        return []
    found = {file.parent if file.name == "conftest.py" else file for file in used}
    return sorted(each for each in found if found.isdisjoint(each.parents))


def locate(root: Path) -> Path | None:
    """The folder that holds all such files of a project; None where there are none."""
    found = [
        file for file in _files(root) if _TEST_FILE.fullmatch(file.name) and _uses_fixture(file)
    ]
    return Path(os.path.commonpath([file.parent for file in found])) if found else None


def hold(folder: Path) -> bool:
    """Whether there are benchmarks of any kind in a folder."""
    return bool(benchmarks(folder)) or any(map(is_asv, _files(folder)))


def is_asv(file: Path) -> bool:
    """Whether a module that is no file of tests defines what asv takes for a benchmark."""
    tree = None if _TEST_FILE.fullmatch(file.name) or file.name == "conftest.py" else _tree(file)
    outer = tree.body if tree else []
    inner = [each for node in outer if isinstance(node, ast.ClassDef) for each in node.body]
    return any(
        isinstance(node, ast.FunctionDef) and _OF_ASV.match(node.name) for node in (*outer, *inner)
    )


def root(suites: Path) -> Path:
    """The folder from which pytest names what it runs: the nearest with a configuration.

    Args:
        suites: a folder or a file.
    """
    start = suites if suites.is_dir() else suites.parent
    for folder in (start, *start.parents):
        if any((folder / each).is_file() for each in CONFIGURATIONS) or (folder / ".git").exists():
            return folder
    return start


def imports(files: list[Path], above: Path) -> set[str]:
    """The packages that files and the `conftest.py` beside and above them import, by top name.

    Args:
        files: as `benchmarks` gives them.
        above: the root, where the search for `conftest.py` ends.
    """
    every = {file for each in files for file in (_files(each) if each.is_dir() else [each])}
    every |= {
        folder / "conftest.py"
        for file in every for folder in file.parents if folder.is_relative_to(above)
    }  # fmt: skip
    found = set()
    for file in every:
        for node in ast.walk(_tree(file) or ast.Module([], [])):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                found.add(node.module.partition(".")[0])
    return found


def _files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder, without those of environments and of builds."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            each for each in folders
            if not each.startswith(".") and each not in _NO_TESTS
            and not Path(place, each, "pyvenv.cfg").exists()
        )  # fmt: skip
        yield from (Path(place, name) for name in sorted(names) if name.endswith(".py"))


def _tree(file: Path) -> ast.Module | None:
    """A file's code; None where there is none, or none that this interpreter reads."""
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _has_asv(suites: Path) -> bool:
    """Whether there is a configuration of asv between a folder and its root."""
    top = root(suites)
    return any(
        (folder / name).is_file()
        for folder in (suites, *suites.parents) if folder.is_relative_to(top)
        for name in ("asv.conf.json", "asv.conf.jsonc")
    )  # fmt: skip


def _uses_fixture(file: Path) -> bool:
    """Whether a test or a fixture takes the fixture, or anything carries the marker."""
    if b"benchmark" not in file.read_bytes():
        return False
    tree = _tree(file)
    if tree is None:  # pytest says why
        return bool(_TEST_FILE.fullmatch(file.name))
    return any(map(_is_use, ast.walk(tree)))


def _is_use(node: ast.AST) -> bool:
    """Whether a piece of code is a test or a fixture that takes the fixture, or the marker."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        about = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        decorated = any("fixture" in ast.unparse(each) for each in node.decorator_list)
        run = decorated or node.name.startswith("test")
        return run and any(each.arg in FIXTURES for each in about)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
        return node.attr in FIXTURES and node.value.attr == "mark"
    return False
