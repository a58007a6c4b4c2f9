"""A side becomes a wheel, and the wheel a folder that a worker imports from, once for each content.

A wheel is built by the interpreter that runs the harness, with the project's own build backend and
without pip's isolation: the tools that are installed beside the harness are used, what is missing
of them is installed once, so that both sides are built by the same. A release is not built at all.
"""

import compileall
import hashlib
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock

from . import asv_build, dependencies, files, variables, variants
from .checkout import Checkout
from .dependencies import Dependencies
from .errors import BuildError
from .package import RECORD
from .plan import SideName
from .processes import Child, Crew, Finished
from .progress import Teller
from .targets import PROJECT, Target
from .toolchain import Toolchain, failure
from .variants import UNNAMED, Kind, Variant

#: Files beside the sources that a build may read (the project's metadata names them).
_ALSO_COPIED = ("pyproject.toml", "README.md", "LICENSE")
#: What a wheel puts elsewhere than below its root, and belongs there.
_DATA = re.compile(r"[^/]+\.data/(?:purelib|platlib)/")
#: Asks a project's backend what a wheel needs beside the requirements of pyproject.toml.
_ASK = """
import importlib, json, sys
backend, paths, out = json.loads(sys.argv[1])
sys.path[:0] = paths
module, _, attribute = backend.partition(":")
found = importlib.import_module(module)
for name in filter(None, attribute.split(".")):
    found = getattr(found, name)
ask = getattr(found, "get_requires_for_build_wheel", None)
with open(out, "w", encoding="utf-8") as file:
    json.dump(list(ask()) if ask else [], file)
"""
#: Bump when the layout of a cached side changes.
_LAYOUT = "3"
#: Seconds after which a build that still runs says so.
_STILL = 30


@dataclass(frozen=True)
class Built:
    """A side that is ready to be imported.

    Attributes:
        key: hash of the sources, the tools and the way of building.
        variant: in which it is built and run.
        compiled: whether compiled modules are in it.
        wheel_sha256: of the wheel that it was unpacked from.
        folder: goes first on a worker's ``sys.path``; holds the unpacked wheel.
        why_pure: why it was not compiled though nobody asked for that, or "".
        content: hash of the files, as they were built.
        package: the name by which it is imported.
        needs: what it requires at run time.
        packages: the environment with that, and nothing else; "" of an interpreter that is a side.
        versions: of all that it finds beside itself and requires, by name.
        proof: the least grade of proof that the project demands, or "".
        program: the interpreter that runs it, if it is not that of `packages`.
    """

    key: str
    variant: Variant
    compiled: bool
    wheel_sha256: str
    folder: str
    why_pure: str
    content: str = ""
    package: str = ""
    needs: tuple[str, ...] = ()
    packages: str = ""
    versions: Mapping[str, str] = field(default_factory=dict, compare=False)
    proof: str = ""
    program: str = ""

    @property
    def impl(self) -> str:
        """The name of its variant."""
        return self.variant.name

    @property
    def kind(self) -> Kind:
        """The kind of file that runs, of modules that have both."""
        return "compiled" if self.compiled and self.variant.kind != "pure" else "pure"

    @property
    def python(self) -> str:
        """The interpreter that runs it."""
        if self.packages and not self.program:
            return dependencies.program(self.packages)
        return self.program or sys.executable

    @property
    def told(self) -> dict[str, Any]:
        """What a worker is told of it."""
        return {"side": self.folder, "impl": self.impl, "kind": self.variant.kind,
                "others": self.variant.others}  # fmt: skip

    def same_as(self, other: "Built") -> bool:
        """Whether two sides run the same files in the same way, with the same packages."""
        if (self.variant, self.program, self.packages) != (
            other.variant, other.program, other.packages,
        ):  # fmt: skip
            return False
        return self.key == other.key or (bool(self.content) and self.content == other.content)


@dataclass(frozen=True)
class Builder:
    """Builds sides into a cache, safely beside another harness that does the same.

    Attributes:
        checkout: where commits and the working tree come from.
        cache: the cache's directory, ignored by git.
        crew: runs pip and the compiler.
        toolchain: what they are.
        tell: hears which side is built, and in how many seconds, if somebody waits for it.
    """

    checkout: Checkout
    cache: Path
    crew: Crew
    toolchain: Toolchain
    tell: Teller = field(default_factory=Teller)

    @cached_property
    def dependencies(self) -> Dependencies:
        """Installs what a build lacks."""
        return Dependencies(self.cache, self.crew, self.tell)

    @cached_property
    def environments(self) -> Dependencies:
        """Makes what sides run in."""
        return Dependencies(self.cache, self.crew, self.tell, whole=True)

    def build(self, target: Target, flags: str = "") -> Built:
        """Build a side, or find it built, with the packages that it needs beside it.

        Args:
            target: the side.
            flags: of the compiler, beside its own.

        Raises:
            BuildError: it does not build, or not as the variant that was asked for.
            NoSpaceError: the disk is full.
        """
        ((built,),) = self.share({"right": [self.make(target, flags)]}).values()
        return built

    def tools(self, sides: Mapping[SideName, Target]) -> dict[SideName, str]:
        """The folders of what builds some sides, as far as it is not installed here."""
        return self.dependencies.together(
            {
                # A build_command has an environment of its own.
                side: set() if self._checkout(target).builds_itself
                else self._build_requirements(target)
                for side, target in sides.items()
            }
        )  # fmt: skip

    def make(self, target: Target, flags: str = "", tools: str | None = None) -> Built:
        """`build`, without packages: `share` gives them to both sides of a comparison.

        Args:
            target: the side.
            flags: of the compiler, beside its own.
            tools: the folder that `tools` gives, where both sides are built.
        """
        if target.wheel:
            return self._released(target)
        checkout = self._checkout(target)
        variant, why_pure = self._variant(target)
        asked = variant.kind == "compiled" and target.spec.impl is not None
        name = f"{target.spec.text} [{variant.name}]" if variant.name else target.spec.text
        script = checkout.read(target.read_from, "setup.py")
        for unseen in variables.withheld(
            script.decode(errors="replace"), {**self._passed, **variant.build}
        ):
            self.tell.line(
                f"{name}: setup.py reads {unseen}, which is set here but not passed to builds: "
                "name it in build-variables of [tool.benchproof]"
            )
        self.cache.mkdir(parents=True, exist_ok=True)
        if tools is None:
            tools = self.tools({"right": target})["right"]
        key = self.key(target, variant, flags, tools)
        with FileLock(self.cache / f"{key}.lock"):
            record = self.cache / "sides" / key / RECORD
            built = files.contents(record)
            # That there are no compiled modules may be this machine's fault, mended since: it is
            # believed only of a wheel for every platform, where nobody asked for compiled ones.
            kept = built and (built["compiled"] or (built["pure_wheel"] and not asked))
            if not kept and not (built and variant.kind == "pure"):
                started = time.monotonic()
                self.tell.line(f"{name}: building")
                with files.scratch(self.cache) as scratch:
                    wheel = self._wheel(target, variant, scratch, flags, tools)
                    built = self._keep(target, wheel, record.parent, checkout.package)
                self.tell.line(f"{name}: built in {time.monotonic() - started:.0f} s")
            else:
                self.tell.line(f"{name}: built before, taken from the cache")
        if built["compiled"] or variant.kind == "pure":
            return self._built(key, variant, built, why_pure)
        if asked:
            raise BuildError(
                f"{target.spec.text} has no compiled modules, which its variant {variant.name} "
                "expects"
            )
        if not built["pure_wheel"]:
            why_pure = self.toolchain.why_not or (
                "its extensions did not compile, and its build goes on without them"
            )
        elif variant.kind == "compiled":
            why_pure = "it has no compiled modules"
        if variant.kind == "compiled":
            variant = _uncompiled(checkout.variants)
        return self._built(key, variant, built, why_pure)

    def _variant(self, target: Target) -> tuple[Variant, str]:
        """In which variant a side is built, and why not in the project's first one, or "".

        Raises:
            BuildError: no compiler works for it.
        """
        known = self._checkout(target).variants
        why, wanted = self.toolchain.why_not, target.spec.impl
        variant = known[0]
        if wanted is not None:
            variant = variants.named(known, wanted, target.spec.text)
        elif why and variant.kind == "compiled" and _uncompiled(known).kind != "compiled":
            return _uncompiled(known), why
        if why and variant.kind == "compiled":
            raise BuildError(
                f"{target.spec.text} asks for {variant.name}, which is compiled, but no C compiler "
                f"works here: {why}"
            )
        return variant, ""

    def share(self, found: Mapping[SideName, list[Built]]) -> dict[SideName, list[Built]]:
        """Give both sides the same packages, as far as they allow it.

        A side with an interpreter of its own has what is installed there, and nothing else.
        """
        programs = {side: each[0].python for side, each in found.items()}
        if len(set(programs.values())) > 1:
            self.tell.line(f"two interpreters run the sides: {' and '.join(programs.values())}")
        wanted = self.environments.with_imported(
            {side: self._wanted(each[0]) for side, each in found.items() if not each[0].program},
            self.checkout.imported,
        )
        packages = self.environments.together(wanted)
        # Of an interpreter it is known what the package leads to, and not what its benchmarks do.
        told = wanted if len(wanted) == len(found) else {
            side: found[side][0].needs for side in wanted
        }  # fmt: skip
        held = {
            side: dependencies.versions(told[side], self.environments.path(packages[side]))
            for side in wanted
        }
        return {
            side: [
                replace(each, packages=packages.get(side, ""),
                        versions=held[side] if side in held else _pinned(each.needs))
                for each in built
            ]
            for side, built in found.items()
        }  # fmt: skip

    def _wanted(self, built: Built) -> set[str]:
        """What a side requires, and what the project says that its benchmarks do."""
        return {*built.needs, *self._beside(built.variant)}

    def _beside(self, variant: Variant) -> set[str]:
        """What the benchmarks require in a variant."""
        chosen = {*map(dependencies.named, variant.requires)}
        known = {each for each in self.checkout.requirements
                 if dependencies.named(each) not in chosen}  # fmt: skip
        return {*known, *variant.requires}

    def _released(self, target: Target) -> Built:
        """Unpack a wheel, or find it unpacked."""
        key = hashlib.sha256(f"{_LAYOUT} wheel {target.content}".encode()).hexdigest()[:24]
        self.cache.mkdir(parents=True, exist_ok=True)
        with FileLock(self.cache / f"{key}.lock"):
            record = self.cache / "sides" / key / RECORD
            built = files.contents(record) or self._keep(
                target, Path(target.wheel), record.parent, self.checkout.package
            )
        made = self._built(key, UNNAMED, built, "")
        return replace(made, program=target.program)

    def _built(self, key: str, variant: Variant, record: Mapping[str, Any], why_pure: str) -> Built:
        """A side that is in the cache."""
        return Built(
            key, variant, record["compiled"], record["wheel_sha256"], record["folder"], why_pure,
            content_of(Path(record["folder"])), record["package"], tuple(record["needs"]),
            proof=self.checkout.proof,
        )  # fmt: skip

    def _checkout(self, target: Target) -> Checkout:
        """The repository of a side."""
        return target.repository or self.checkout

    def _build_requirements(self, target: Target) -> set[str]:
        """What builds a side; nothing where that is done already."""
        checkout = self._checkout(target)
        if target.wheel:
            return set()
        text = checkout.read(target.read_from, PROJECT).decode(errors="replace")
        try:
            wanted = tomllib.loads(text).get("build-system", {}).get("requires", [])
        except tomllib.TOMLDecodeError:
            wanted = []  # the build says what is wrong with it
        return {*map(str, wanted)}

    def key(self, target: Target, variant: Variant, flags: str = "", tools: str = "") -> str:
        """The name of a build in the cache."""
        passed = [f"{k}={v}" for k, v in {**self._passed, **variant.build}.items()]
        parts = [_LAYOUT, variant.kind, target.content, *self.toolchain.identity, *passed,
                 *filter(None, [flags, dependencies.identity(tools)])]  # fmt: skip
        commands = self._checkout(target).commands
        if commands:
            parts += [*map(str, commands), *sorted(self._beside(variant))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]

    @property
    def _passed(self) -> dict[str, str]:
        """The variables that a build here gets."""
        return variables.passed(self.checkout.build_variables)

    def _keep(self, target: Target, wheel: Path, folder: Path, place: str) -> dict[str, Any]:
        """Unpack a wheel, and move it into place as one step; the record of it."""
        with files.scratch(self.cache) as scratch:
            side = scratch / "side"
            side.mkdir()
            name, compiled, metadata = unpack(wheel, side, place)
            record = {
                "folder": str(folder),
                "package": name,
                "compiled": compiled,
                "pure_wheel": wheel.stem.endswith("-none-any"),
                "wheel_sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
                "needs": dependencies.of_wheel(metadata),
                "target": target.description,
            }
            if target.program:
                # Byte code of its own version: workers write none.
                words = ["-m", "compileall", "-q", "-s", str(side), "--invalidation-mode",
                         "unchecked-hash", str(side)]  # fmt: skip
                subprocess.run([target.program, *words], capture_output=True, check=False)  # noqa: S603
            shutil.copy2(wheel, side / wheel.name)
            (side / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            folder.parent.mkdir(exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            side.rename(folder)
        return record

    def _export(self, target: Target, tree: Path) -> None:
        """Copy what is built: a commit's tree, or the working tree's sources."""
        checkout = self._checkout(target)
        if not target.is_working_tree and target.commit:
            checkout.export(target.commit, tree)
            return
        paths = checkout.sources
        for name in checkout.working((*paths, *_ALSO_COPIED) if paths else ()):
            copy = tree / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(checkout.root / name, copy)

    def _wheel(
        self, target: Target, variant: Variant, scratch: Path, flags: str, tools: str
    ) -> Path:
        """Let the project's backend make a wheel, or asv's commands; its path."""
        tree = scratch / "tree"
        tree.mkdir()
        self._export(target, tree)
        env = build_environment(self._passed, variant.build, tree, flags)
        by_pip = partial(self._by_pip, target, variant, tree, scratch, env, tools)
        if commands := self._checkout(target).commands:
            requires = {*self._build_requirements(target), *self._beside(variant)}
            return asv_build.wheel(commands, self, target, tree, env, requires, by_pip)
        return by_pip()

    def _by_pip(
        self, target: Target, variant: Variant, tree: Path, scratch: Path,
        env: Mapping[str, str], tools: str,
    ) -> Path:  # fmt: skip
        """Run pip; the path of the one wheel that it made."""
        if tools:
            folders = [tools, *self._asked_for(tree, tools, env, scratch)]
            programs = [*(f"{each}/bin" for each in folders), env["PATH"]]
            env = {**env, "PYTHONPATH": os.pathsep.join(folders),
                   "PATH": os.pathsep.join(programs)}  # fmt: skip
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
                   "--no-index", "--no-cache-dir", "--disable-pip-version-check",
                   "--wheel-dir", str(scratch), str(tree)]  # fmt: skip
        child = self.crew.start(command, log=scratch / "build.log", cwd=scratch, env=env)
        name = target.spec.text
        ended = self.wait(child, name + f" [{variant.name}]" * bool(variant.name))
        wheels = sorted(scratch.glob("*.whl"))
        if ended.status or len(wheels) != 1:
            raise failure(f"{name} does not build", ended, self.cache)
        return wheels[0]

    def _asked_for(
        self, tree: Path, tools: str, env: Mapping[str, str], scratch: Path
    ) -> list[str]:
        """What a backend that is not installed here asks for beside its requirements (ninja, say).

        An answer that cannot be had is none: the build says what is wrong.
        """
        table = tomllib.loads((tree / PROJECT).read_text(encoding="utf-8"))["build-system"]
        out = scratch / "asked.json"
        paths = [str(tree / each) for each in table.get("backend-path", [])]
        words = json.dumps([table.get("build-backend", "setuptools.build_meta"), paths, str(out)])
        child = self.crew.start(
            [sys.executable, "-c", _ASK, words], log=scratch / "asked.log", cwd=tree,
            env={**env, "PYTHONPATH": tools, "PATH": f"{tools}/bin{os.pathsep}{env['PATH']}"},
        )  # fmt: skip
        if self.crew.wait(child).status or not out.exists():
            return []
        found = self.dependencies.provide(json.loads(out.read_text(encoding="utf-8")))
        return [found] if found else []

    def wait(self, child: Child, name: str) -> Finished:
        """Wait for a build, not in silence."""
        started = time.monotonic()
        while True:
            try:
                child.process.wait(_STILL)
                return self.crew.wait(child)
            except subprocess.TimeoutExpired:
                self.tell.line(f"{name}: still building, {time.monotonic() - started:.0f} s so far")


def _pinned(needs: Iterable[str]) -> dict[str, str]:
    """The versions that requirements of one version each name."""
    return {name: held for name, _, held in (each.partition("==") for each in needs)}


def _uncompiled(known: Sequence[Variant]) -> Variant:
    """The variant that stands in where nothing was compiled; the first one if there is no other."""
    return next((each for each in known if each.kind != "compiled"), known[0])


def build_environment(
    passed: Mapping[str, str], own: Mapping[str, str], tree: Path, more: str = ""
) -> dict[str, str]:
    """The environment of a build: reproducible, whatever directory and terminal it happens in.

    Args:
        passed: what it gets of the environment here, all of it in its key.
        own: of the variant that is built.
        tree: the directory.
        more: flags for the compiler.
    """
    # setuptools takes CFLAGS instead of the interpreter's own flags, so those must be in it.
    flags = (
        own.get("CFLAGS")
        or passed.get("CFLAGS")
        or str(sysconfig.get_config_var("CFLAGS") or "-O2")
    )
    return {**variables.matching(variables.SCRATCH), **passed, **own} | {
        "CFLAGS": f"{flags} {more} -ffile-prefix-map={tree}=.",
        "SOURCE_DATE_EPOCH": "315532800",  # the first instant that a zip file can hold
        # A version that is read from git is no property of the code, and the copy has no git.
        "SETUPTOOLS_SCM_PRETEND_VERSION": "0",
        "PDM_BUILD_SCM_VERSION": "0",
        "PYTHONHASHSEED": "0",
    }


def unpack(wheel: Path, side: Path, place: str = "") -> tuple[str, bool, str]:
    """Unpack a wheel and byte-compile it.

    The byte code names files relative to the side, so that equal sources give equal byte code.

    Args:
        wheel: the file.
        side: the folder.
        place: where the package lies in its project; "" to take what the wheel is named for.

    Returns:
        The name by which the package is imported, whether compiled modules are in the wheel, and
        its METADATA.

    Raises:
        BuildError: the wheel holds no such package, or cannot be read.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            for each in names:
                inner = _DATA.sub("", each, count=1)
                if ".data/" in inner or inner.endswith("/"):
                    continue  # scripts and headers
                target = side / inner
                if not target.resolve().is_relative_to(side.resolve()):
                    raise BuildError(f"{wheel.name} holds a file outside of it: {each}")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(each))
            about = next((each for each in names if each.endswith(".dist-info/METADATA")), "")
            metadata = archive.read(about).decode(errors="replace") if about else ""
    except (OSError, zipfile.BadZipFile) as error:
        raise BuildError(f"{wheel.name} cannot be read as a wheel: {error}") from error
    package = _package_in([_DATA.sub("", each, count=1) for each in names], place, wheel)
    compileall.compile_dir(
        side, quiet=2, stripdir=str(side),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )  # fmt: skip
    return package, any(each.endswith((".so", ".pyd")) for each in names), metadata


def _package_in(names: list[str], place: str, wheel: Path) -> str:
    """The name of the package in a wheel.

    Raises:
        BuildError: it holds none, or several and none of its name.
    """
    parts = PurePosixPath(place).parts
    for start in range(len(parts)):
        wanted = "/".join(parts[start:])
        if any(each == f"{wanted}.py" or each.startswith(f"{wanted}/") for each in names):
            return wanted.replace("/", ".")
    found = {
        str(PurePosixPath(each).parent if "/" in each else PurePosixPath(each).stem)
        for each in names
        if each.endswith(".py") and (each.count("/") == 0 or each.endswith("/__init__.py"))
    }
    tops = sorted(each for each in found if str(PurePosixPath(each).parent) not in found)
    wanted = wheel.name.partition("-")[0].lower()
    fitting = [each for each in tops if each.replace("/", "_").lower() == wanted]
    if fitting or len(tops) == 1:
        return (fitting or tops)[0].replace("/", ".")
    held = f"the packages {', '.join(tops)}" if tops else "no package"
    raise BuildError(
        f"{wheel.name} holds {held}: 'package' of [tool.benchproof] says which is measured"
    )


def content_of(folder: Path) -> str:
    """Hash of the names and bytes of all files of a side but byte code, which follows them.

    What says where a wheel came from, and its version, is no part of what runs.
    """
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        inner = file.relative_to(folder)
        about = inner.parts[0].endswith((".dist-info", ".whl")) or inner.parts[0] == RECORD
        if file.is_file() and file.suffix != ".pyc" and not about:
            data = file.read_bytes()
            found.update(f"{inner.as_posix()}\0{len(data)}\0".encode())
            found.update(data)
    return found.hexdigest()
