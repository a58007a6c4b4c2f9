"""Variants: the named environments in which a project is built and run, and which of them it has.

A project names them in `[tool.benchproof.variants.NAME]`; else those of the `matrix` of its
asv.conf.json are its variants. One that names none has one variant without a name.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from . import renamed, toml
from .errors import SettingsError, TargetError, meant
from .package import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .checkout import Checkout
    from .toml import File, Where

#: What kind of file a variant runs of modules that have both: "" where it may be either.
Kind = Literal["compiled", "pure", ""]
KINDS = ("compiled", "pure")
#: What only a compiler reads.
COMPILED_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".f90", ".pxd", ".pxi", ".pyx", ".rs")
#: A build file that makes extensions of sources outside of the package, or of Python itself.
_COMPILES = (b"mypycify", b"ext_modules", b"cythonize", b"maturin", b"setuptools-rust", b"mesonpy",
             b"scikit_build_core")  # fmt: skip
_BUILD_FILES = ("setup.py", "pyproject.toml", "meson.build")
#: They stand in file names, and behind a side.
_NAME = re.compile(r"[\w.+-]+")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")


def _are_variables(given: Mapping[str, object]) -> bool:
    """Whether they can stand in an environment."""
    return all(isinstance(each, str) and _VARIABLE.fullmatch(name) for name, each in given.items())


_OF_VARIABLES = (dict, _are_variables, 'a table of variables, NAME = "text"')
_RULES: toml.Rules = {
    "kind": (str, lambda kind: kind in KINDS, '"compiled" or "pure"'),
    "build": _OF_VARIABLES,
    "run": _OF_VARIABLES,
    "requires": (list, lambda given: all(isinstance(each, str) for each in given),
                 "a list of packages"),
}  # fmt: skip
#: Chooses all of them.
ALL = ("all", "both")


@dataclass(frozen=True)
class Variant:
    """One named environment.

    Attributes:
        name: "" of the only one of a project that names none.
        kind: the kind of file that must run, where a module is there in both.
        build: variables of the build.
        run: variables of what is measured.
        requires: packages beside those of the project.
        others: names of the project's other variants.
        unset: variables that those set, and this one must not have.
        slack: bytes by which the largest of their environments is larger.
    """

    name: str = ""
    kind: Kind = ""
    build: Mapping[str, str] = field(default_factory=dict)
    run: Mapping[str, str] = field(default_factory=dict)
    requires: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    slack: int = 0


#: Of a project that names none, and of what is installed.
UNNAMED = Variant()


def together(found: Iterable[Variant]) -> tuple[Variant, ...]:
    """The variants of a project, each knowing what the others set."""
    found = tuple(found)
    names = {name for each in found for name in (*each.build, *each.run)}
    sizes = [sum(len(k) + len(v) + 10 for k, v in each.run.items()) for each in found]
    return tuple(
        replace(
            each, others=tuple(other.name for other in found if other is not each),
            unset=tuple(sorted(names - each.run.keys())), slack=max(sizes) - size,
        )
        for each, size in zip(found, sizes, strict=True)
    )  # fmt: skip


def parse(file: File, where: Where, table: object) -> tuple[Variant, ...]:
    """The table `variants`, in its order.

    Raises:
        BenchproofError: of the file's kind: it cannot be meant as it stands.
    """
    held = file.table(where, table)
    return together(_one(file, (*where, name), name, inner) for name, inner in held.items())


def named_by(root: Path) -> tuple[Variant, ...]:
    """The variants in a project's pyproject.toml; without the rest of the settings, which judge.

    Raises:
        SettingsError: they cannot be meant.
    """
    tools = toml.table(toml.project(root), "tool")
    name = renamed.table_name(tools)
    found = toml.table(tools, name).get("variants")
    if found is None:
        return ()  # what is wrong with the file is said by `settings.load`
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    file = toml.File(text, "pyproject.toml", SettingsError)
    return parse(file, ("tool", name, "variants"), found)


def _one(file: File, where: Where, name: str, table: object) -> Variant:
    """Check one of them."""
    if not isinstance(table, dict):
        file.refuse(where, f"a variant is a table [tool.benchproof.variants.NAME], not {table!r}")
    if not _NAME.fullmatch(name) or name in ALL:
        file.refuse(where, f"{name!r} cannot name a variant: letters, digits, '.', '_', '+', '-'")
    held = file.check(where, table, _RULES)
    return Variant(
        name, held.get("kind", ""), dict(held.get("build", {})), dict(held.get("run", {})),
        tuple(held.get("requires", ())),
    )  # fmt: skip


def of_matrix(matrix: Mapping[str, Any]) -> tuple[Variant, ...]:
    """The variants of the `matrix` of an asv.conf.json: every combination of what has several.

    A name is what differs: a variable's value, a package with its version. A matrix without
    alternatives is one variant without a name.
    """
    if not matrix.keys() & {"req", "env", "env_nobuild"}:
        matrix = {"req": matrix}
    axes = [
        (table, name, given if isinstance(given, list) and given else [given or ""])
        for table in ("req", "env", "env_nobuild")
        for name, given in matrix.get(table, {}).items()
    ]
    made = []
    for chosen in itertools.product(*(values for *_, values in axes)):
        held: dict[str, dict[str, str]] = {"req": {}, "env": {}, "env_nobuild": {}}
        labels, requires = [], []
        for (table, full, values), value in zip(axes, chosen, strict=True):
            name, several = full.removeprefix("pip+"), len(values) > 1
            labels += [_label(name, value)] * several
            if value is not None:  # null: asv leaves it out
                held[table][full] = str(value)
                requires += [requirement(name, value)] * (several and table == "req")
        name = re.sub(r"[^\w.+-]", "_", "-".join(labels))
        env = held["env"]
        made.append(Variant(name, "", env, {**env, **held["env_nobuild"]}, tuple(requires)))
    return together(made)


def requirement(name: str, version: object) -> str:
    """A package of a matrix with its version ("" is any, ``>=2`` a range), as pip has it."""
    text = str(version or "")
    return f"{name}=={text}" if text[:1].isalnum() else f"{name}{text}"


def _label(name: str, value: object) -> str:
    """What one entry of a matrix is called; as asv calls it, where its value alone says nothing."""
    if value is None:
        return f"without-{name}"
    return str(value) if str(value)[:1].isalpha() else f"{name}{value}"


def of(checkout: Checkout, *commits: str | None) -> tuple[str, ...]:
    """The names of the variants that some states of a project have; none where none is named.

    Args:
        checkout: that holds them.
        commits: hashes; None is the working tree.
    """
    named = [each for each in checkout.variants if each.name]
    needs = any(each.kind == "compiled" for each in named)
    compiles = needs and any(compiled(checkout, commit) for commit in commits)
    return tuple(each.name for each in named if each.kind != "compiled" or compiles)


def environment(variant: Variant, inherited: Mapping[str, str]) -> dict[str, str]:
    """The variables of what runs in a variant, beside those that it inherits."""
    kept = {name: value for name, value in inherited.items() if name not in variant.unset}
    return {**kept, **variant.run}


def compiled(checkout: Checkout, commit: str | None) -> bool:
    """Whether a state of a project holds something to compile."""
    build = b"\n".join(checkout.read(commit, name) for name in _BUILD_FILES)
    paths = places(checkout.package) if checkout.package else (".",)
    files = checkout.working(paths) if commit is None else checkout.committed(commit, paths)
    return any(name.endswith(COMPILED_SOURCES) for name in files) or any(
        word in build for word in _COMPILES
    )


def named(known: Sequence[Variant], name: str, said: str) -> Variant:
    """The variant of a name.

    Raises:
        TargetError: there is none; the message begins with what a person said.
    """
    for each in known:
        if each.name == name:
            return each
    raise TargetError(f"{said!r}: {_none_of(known, name)}")


def chosen(known: Sequence[Variant], text: str) -> tuple[str, ...]:
    """The names that an option means; all where it is empty.

    Raises:
        TargetError: it names none.
    """
    names = tuple(each.name for each in known if each.name)
    if text in {*names, *ALL, ""} and (names or not text):
        return tuple(name for name in names if text in {name, *ALL, ""})
    raise TargetError(f"--impl {text!r}: {_none_of(known, text)}")


def _none_of(known: Sequence[Variant], name: str) -> str:
    """What there is instead of a name."""
    names = [each.name for each in known if each.name]
    if not names:
        return "this project names no variants: [tool.benchproof.variants.NAME] would"
    return f"the variants of this project are {', '.join(names)}{meant(name, names)}"


def runs(paths: Iterable[str], files: frozenset[str], package: str) -> dict[str, set[str]]:
    """The kinds of variants in which files of the package are part of what runs.

    Args:
        paths: of the files.
        files: all files of the package, in which a compiled form of a module may stand: beside it,
            or at the same place below a folder of the package whose name begins with `_`.
        package: where the package lies.
    """
    held = [PurePosixPath(each) for each in files if each.endswith(COMPILED_SOURCES)]
    forms = {each.with_suffix("") for each in held}
    inside = (each.relative_to(package).parts for each in held if each.is_relative_to(package))
    mirrors = {
        PurePosixPath(package, parts[0])
        for parts in inside if len(parts) > 1 and parts[0].startswith("_")
    }  # fmt: skip
    found = {}
    for path in paths:
        place = PurePosixPath(path)
        module = place.with_suffix("")
        # Where its compiled form may stand.
        places = {module}
        if module.is_relative_to(package):
            places |= {mirror / module.relative_to(package) for mirror in mirrors}
        if place.suffix in COMPILED_SOURCES or mirrors & set(place.parents):
            found[path] = {"compiled"}
        elif place.suffix == ".py" and places & forms:
            found[path] = {"pure"}
        else:
            found[path] = set(KINDS)
    return found
