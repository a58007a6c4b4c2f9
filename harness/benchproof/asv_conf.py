"""A project's benchmarks: their folder, named or found, and what they need beside the package.

asv starts in the folder of its configuration, and projects keep that at their root or in a folder
of their own (`bench/asv.conf.json`): both are looked at, no deeper. The file is JSON with comments,
read by the library that asv reads it with.

What pytest runs needs what the project declares: of its dependency groups, extras and requirements
files, the one that names a benchmarking plugin counts, else one that names pytest: pytest and its
plugins are taken from it, and what the files and their `conftest.py` import by name. Nothing that
no list of the project names is ever installed, but pytest itself.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from . import package, pytest_files, toml, variants
from .errors import TargetError

#: Where the benchmarks are if nothing says so, and what asv takes where its file does not.
DEFAULT, ASV_DEFAULT = "asv_benchmarks", "benchmarks"
#: Where benchmarks usually lie.
USUAL = (DEFAULT, "benchmarks", "bench")
NAMES = ("asv.conf.json", "asv.conf.jsonc")

#: What benchmarks import of the tool's: their process finds it.
_OF_TOOL = ("asv_runner", "benchproof")
#: What asv's own commands come to, without the words of `_NO_MATTER`, which change no file.
_USUAL = (
    r"python -m build( --wheel)?( (-o|--outdir) \{build_cache_dir\})?( \{build_dir\})?",
    r"python -m pip install build", r"python setup\.py build",
    r"python -m pip wheel -w \{build_cache_dir\} \{build_dir\}",
    r"python -m pip install \{wheel_file\}",
)  # fmt: skip
_NO_MATTER = frozenset({
    "in-dir={env_dir}", "PIP_NO_BUILD_ISOLATION=0", "PIP_NO_BUILD_ISOLATION=1",
    "PIP_NO_BUILD_ISOLATION=false", "--no-deps", "--no-index", "--no-build-isolation",
    "--force-reinstall", "-v",
})  # fmt: skip
_PLUGINS = frozenset({"pytest-benchmark", "pytest-codspeed"})
#: Words in the names of such lists, those that are likelier first.
_LIKELY = ("codspeed", "bench", "perf", "test", "pytest", "dev", "ci")
_FILES = ("*requirements*.txt", "requirements/*.txt", "requirements/*.in")
_INCLUDE = re.compile(r"(?:-r|--requirement)[ =]+(\S+)")
#: What stands behind a requirement in such a file: a comment, hashes.
_BEHIND = re.compile(r"\s+(?:#|--hash|\\).*")


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
    files = _files(root)
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
    named = _read(files[0], root).get("benchmark_dir", ASV_DEFAULT)
    if not isinstance(named, str):
        raise TargetError(
            f"{files[0].relative_to(root)}: benchmark_dir must be the name of a folder"
        )
    folder = files[0].parent / named
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
            "'benchproof init' writes a first one, 'benchproof compare' measures without any by "
            "--import MODULE or --command TEXT, and --suites, suites of [tool.benchproof] or an "
            f"{NAMES[0]} at the root or one folder below names another folder"
        )


def _files(root: Path) -> list[Path]:
    """Asv's configuration: at the root if there is one, else those one folder below."""
    here = [root / name for name in NAMES if (root / name).is_file()]
    below = (file for name in NAMES for file in sorted(root.glob(f"*/{name}")))
    return here or [file for file in below if not file.parent.name.startswith(".")]


def requirements(root: Path, suites: Path) -> tuple[str, ...]:
    """What the benchmarks need beside the package: the `matrix` of asv's configuration.

    Where the matrix names several versions of a package, the first stands here, and `variants` have
    each of them. What pytest runs has its requirements elsewhere.

    Args:
        root: of the checkout.
        suites: the folder or the file of the benchmarks.
    """
    if found := of_pytest(root, suites):
        return found
    wanted = matrix(root)
    if wanted.keys() & {"req", "env", "env_nobuild"}:
        wanted = wanted.get("req", {})
    firsts = {
        name.removeprefix("pip+"): (each or [""])[0] if isinstance(each, list) else each
        for name, each in wanted.items()
    }
    # null: asv does not install it
    return tuple(
        variants.requirement(name, each) for name, each in firsts.items() if each is not None
    )


def imported(root: Path, suites: Path, measured: str) -> frozenset[str]:
    """The packages that benchmarks import and that are installed beside the tool, by name.

    Args:
        root: of the checkout.
        suites: the folder or the file of the benchmarks.
        measured: the name by which the package that is measured is imported.
    """
    files = pytest_files.benchmarks(suites)
    if not files:
        # asv imports all modules of the folder; at the root others are a package, or its set-up.
        files = [*filter(pytest_files.is_asv, root.glob("*.py"))] if suites == root else [suites]
    found = pytest_files.imports(files, pytest_files.root(suites))
    found -= {*sys.stdlib_module_names, *_OF_TOOL, measured.partition(".")[0]}
    folders = {root, root / "src", suites, suites.parent}
    near = {each.name.partition(".")[0] for folder in folders for each in folder.glob("*")
            if each.suffix in {".py", ".so", ".pyd"} or any(each.glob("*.py"))}  # fmt: skip
    installed = metadata.packages_distributions() if found - near else {}
    held = [{*installed.get(name, ())} for name in found - near]
    mine = canonicalize_name(str(toml.table(toml.project(root), "project").get("name", "")))
    # A namespace of several distributions does not say which of them is meant.
    return frozenset(
        name for names in held if len(names) == 1 for name in names
        if canonicalize_name(name) != mine
    )  # fmt: skip


def whole(root: Path) -> dict[str, Any]:
    """All of asv's configuration; nothing where there is none that can be read, or several.

    Args:
        root: of the checkout.
    """
    try:
        files = _files(root)
        return _read(files[0], root) if len(files) == 1 else {}
    except TargetError:
        return {}  # `locate` says what is wrong with it


def matrix(root: Path) -> dict[str, Any]:
    """The `matrix` of asv's configuration; nothing where there is none that can be read."""
    return toml.table(whole(root), "matrix")


class Commands(NamedTuple):
    """Commands of asv's configuration that do more than asv's own; None where they do not.

    Attributes:
        build: leave a wheel in ``{build_cache_dir}``.
        install: install the package in ``{env_dir}``.
        below: the folder of the commit that is ``{build_dir}``.
        project: its name.
        conf_dir: the folder of the configuration.
    """

    build: tuple[str, ...] | None
    install: tuple[str, ...] | None
    below: str
    project: str
    conf_dir: Path


def commands(root: Path) -> Commands | None:
    """The commands of asv's configuration; None where they are asv's own, or come to the same.

    The project's own settings come first: where those name the benchmarks, there are none.

    Args:
        root: of the checkout.
    """
    held = whole(root)
    if package.setting(root, "suites", lambda found: isinstance(found, str)):
        return None
    build, install = (_unusual(held.get(key)) for key in ("build_command", "install_command"))
    if build is None and install is None:
        return None
    below, project = (str(held.get(key) or "") for key in ("repo_subdir", "project"))
    return Commands(build, install, below, project, _files(root)[0].parent)


def unread(root: Path) -> str:
    """One line on what asv's configuration sets and is not followed, and what is done instead.

    Nothing where it sets no more than asv's defaults, or the project has settings of this tool.

    Args:
        root: of the checkout.
    """
    if package.setting(root, "suites", lambda found: isinstance(found, str)):
        return ""
    held, here = whole(root), f"{sys.version_info[0]}.{sys.version_info[1]}"
    rules = [key for key in ("include", "exclude") if held.get(key)]
    keys, instead = [], []
    if held.get("pythons", [here]) not in ([], [here], "same", ["same"]):
        keys, instead = ["pythons"], [f"builds run on Python {here}"]
    # With variants of its own nor is the matrix.
    if rules and not package.setting(root, "variants", lambda found: isinstance(found, dict)):
        keys += rules
        instead.append("the variants are all combinations of the matrix")
    if not keys:
        return ""
    return f"not read in asv's configuration: {', '.join(keys)}; {', '.join(instead)}"


def _unusual(given: object) -> tuple[str, ...] | None:
    """Commands, one or a list; None where asv's own come to the same. None at all are not."""
    if given is None:
        return None
    lines = [given] if isinstance(given, str) else _texts(given)
    plain = [
        " ".join(word for word in line.replace("-mpip", "-m pip").split() if word not in _NO_MATTER)
        for line in lines
    ]
    usual = plain and all(any(re.fullmatch(each, line) for each in _USUAL) for line in plain)
    return None if usual else tuple(lines)


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


def of_pytest(root: Path, suites: Path) -> tuple[str, ...]:
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
    points = metadata.entry_points(group="pytest11")
    plugins = {canonicalize_name(each.dist.name) for each in points if each.dist}
    found = {
        name: text for name, text in chosen.items()
        if name.startswith("pytest") or name in plugins
    }  # fmt: skip
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
