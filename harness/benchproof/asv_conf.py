"""The folder of a project's benchmarks: named, or found through its asv.conf.json or its tests.

asv starts in the folder of its configuration, and projects keep that at their root or in a folder
of their own (`bench/asv.conf.json`): both are looked at, no deeper. The file is JSON with comments,
read by the library that asv reads it with.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import package, pytest_files, pytest_needs, toml
from .errors import TargetError

#: Where the benchmarks are if nothing says so, and what asv takes where its file does not.
DEFAULT, ASV_DEFAULT = "asv_benchmarks", "benchmarks"
#: Where benchmarks usually lie.
USUAL = (DEFAULT, "benchmarks", "bench")
NAMES = ("asv.conf.json", "asv.conf.jsonc")


class Found(NamedTuple):
    """The folder, and in words which file named it ("" where that is no news)."""

    folder: Path
    why: str


def locate(root: Path, given: Path | None = None) -> Found:
    """Where the benchmarks of a checkout are.

    What a person names comes first, then `suites` of `[tool.benchproof]`, then asv's configuration,
    then a folder that is called as such folders are, then the tests that pytest measures, then
    `asv_benchmarks/`. The folder need not exist: a commit may hold what the working tree does not.

    Args:
        root: of the checkout.
        given: what a person named, a folder or a file.

    Raises:
        TargetError: asv's configuration cannot be read, or there are several.
    """
    if given is not None:
        return Found(given, "")
    if named := package.setting(root, "suites", lambda found: isinstance(found, str)):
        return Found(root / named, "")
    files = list(_files(root))
    if not files:
        there = [name for name in USUAL if (root / name).is_dir()]
        chosen = next((name for name in there if pytest_files.hold(root / name)), "")
        if not chosen and (tests := pytest_files.locate(root)):
            where = f"{tests.relative_to(root)}/"
            return Found(tests, f"benchmarks: {where}, whose tests use pytest's fixture benchmark")
        return Found(root / (chosen or (there or [DEFAULT])[0]), "")
    if len(files) > 1:
        names = " and ".join(str(file.relative_to(root)) for file in files[:3])
        raise TargetError(
            f"several configurations of asv: {names}; name the folder of the benchmarks with "
            "--suites or suites of [tool.benchproof]"
        )
    folder = files[0].parent / _benchmark_dir(files[0], root)
    place = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return Found(folder, f"benchmarks: {place}/, named by {files[0].relative_to(root)}")


def require(folder: Path) -> None:
    """Stop where there is nothing to run.

    Raises:
        TargetError: the folder is not there.
    """
    if not folder.exists():
        raise TargetError(
            f"{folder} is no folder of benchmarks, and no test uses pytest's fixture benchmark: "
            "name it with --suites, with suites of [tool.benchproof], or in an "
            f"{NAMES[0]} at the root or one folder below"
        )


def _files(root: Path) -> Iterator[Path]:
    """Asv's configuration: at the root if there is one, else those one folder below."""
    found = [root / name for name in NAMES if (root / name).is_file()]
    if not found:
        found = [
            file
            for name in NAMES
            for file in sorted(root.glob(f"*/{name}"))
            if not file.parent.name.startswith(".")
        ]
    yield from found


def requirements(root: Path, suites: Path) -> tuple[str, ...]:
    """What the benchmarks need beside the package: the `matrix` of asv's configuration.

    Where the matrix names several versions of a package, the first stands here, and `variants` have
    each of them. What pytest runs has its requirements elsewhere.

    Args:
        root: of the checkout.
        suites: the folder or the file of the benchmarks.
    """
    if of_pytest := pytest_needs.requirements(root, suites):
        return of_pytest
    wanted = matrix(root)
    if wanted.keys() & {"req", "env", "env_nobuild"}:
        wanted = wanted.get("req", {})
    found = []
    for name, versions in wanted.items():
        first = (versions or [""])[0] if isinstance(versions, list) else versions
        if first is not None:  # null: asv does not install it
            found.append(f"{name.removeprefix('pip+')}{f'=={first}' if first else ''}")
    return tuple(found)


def whole(root: Path) -> dict[str, Any]:
    """All of asv's configuration; nothing where there is none that can be read, or several.

    Args:
        root: of the checkout.
    """
    try:
        files = list(_files(root))
        return _read(files[0], root) if len(files) == 1 else {}
    except TargetError:
        return {}  # `locate` says what is wrong with it


def matrix(root: Path) -> dict[str, Any]:
    """The `matrix` of asv's configuration; nothing where there is none that can be read."""
    return toml.table(whole(root), "matrix")


def _read(file: Path, root: Path) -> dict[str, Any]:
    """A configuration.

    Raises:
        TargetError: it cannot be read.
    """
    import json5  # noqa: PLC0415  (only projects with such a file need it)

    try:
        found = json5.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        words = str(error).splitlines()[0]
        raise TargetError(f"{file.relative_to(root)} cannot be read: {words}") from error
    if not isinstance(found, dict):
        raise TargetError(f"{file.relative_to(root)} must be an object")
    return found


def _benchmark_dir(file: Path, root: Path) -> str:
    """What a configuration names.

    Raises:
        TargetError: it cannot be read.
    """
    named = _read(file, root).get("benchmark_dir", ASV_DEFAULT)
    if not isinstance(named, str):
        raise TargetError(f"{file.relative_to(root)}: benchmark_dir must be the name of a folder")
    return named
