"""A side becomes a wheel, and the wheel's driver a directory, once for each content.

The wheel is built by the interpreter that runs the harness, with the Cython and setuptools that
are pinned beside it (no build isolation), so that both sides have the same tools. Only the
package `driver` is unpacked; what it imports at run time is the harness's own pinned set, shared
by both sides, so that a ratio never comes from a dependency.
"""

from __future__ import annotations

import compileall
import hashlib
import json
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from . import variables
from .errors import BuildError, no_space
from .package import RECORD
from .package import name as import_name
from .targets import Implementation, Target, sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .checkout import Checkout
    from .processes import Child, Crew, Finished
    from .progress import Teller
    from .toolchain import Toolchain

#: Files beside the sources that a build may read (the project's metadata names them).
_ALSO_COPIED = ("pyproject.toml", "README.md", "LICENSE")
#: Lines of pip and setuptools about themselves, which hide the compiler's.
_TALK = (
    "note:", "hint:", "[notice]", "ERROR: Failed", "Failed to build", "╰─>", "[end of",
    "Building wheel", "\N{MULTIPLICATION SIGN} ", "error: metadata-generation",
    "error: subprocess", "copying ", "creating ", "writing ", "reading ", "running ", "adding ",
    "building ", "warning: build_py",
)  # fmt: skip
#: What a reader needs of a compiler that failed.
_LAST_LINES = 12
_LINE_WIDTH = 150
#: Bump when the layout of a cached side changes.
_LAYOUT = "2"
#: Seconds after which a build that still runs says so.
_STILL = 30


@dataclass(frozen=True)
class Built:
    """A side that is ready to be imported.

    Attributes:
        key: hash of the sources, the tools and the way of building.
        impl: which implementation its workers ask for.
        compiled: whether compiled modules are in it.
        wheel_sha256: of the wheel that it was unpacked from.
        folder: goes first on a worker's ``sys.path``; holds only the package.
        why_pure: why it was not compiled though nobody asked for Python, or "".
        content: hash of the files of the package, as they were built.
    """

    key: str
    impl: Implementation
    compiled: bool
    wheel_sha256: str
    folder: str
    why_pure: str
    content: str = ""

    def same_as(self, other: Built) -> bool:
        """Whether two sides run the same files in the same way."""
        return self.key == other.key or (
            self.impl == other.impl and bool(self.content) and self.content == other.content
        )


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
    tell: Teller | None = None

    def build(self, target: Target, flags: str = "") -> Built:
        """Build a side, or find it built.

        Args:
            target: the side.
            flags: of the compiler, beside its own.

        Raises:
            BuildError: it does not build, or not as the implementation that was asked for.
            NoSpaceError: the disk is full.
        """
        wanted = target.spec.impl
        why_pure = "" if wanted or self.toolchain.compiles else self.toolchain.why_not
        impl: Implementation = "python" if why_pure else wanted or "cython"
        if impl == "cython" and not self.toolchain.compiles:
            raise BuildError(
                f"{target.spec.text} asks for the compiled driver, but no C compiler works here: "
                f"{self.toolchain.why_not}"
            )
        key = self.key(target, impl, flags)
        name = f"{target.spec.text} [{impl}]"
        script = self.checkout.read(None if target.is_working_tree else target.commit, "setup.py")
        for unseen in variables.withheld(script.decode(errors="replace"), self._passed):
            self._say(
                f"{name}: setup.py reads {unseen}, which is set here but not passed to builds: "
                "name it in build-variables of [tool.benchproof]"
            )
        self.cache.mkdir(parents=True, exist_ok=True)
        with FileLock(self.cache / f"{key}.lock"):
            record = self.cache / "sides" / key / RECORD
            built = _read(record)
            if built is None or (impl == "cython" and not _is_kept(built, wanted)):
                started = time.monotonic()
                self._say(f"{name}: building")
                built = self._make(target, impl, record.parent, flags)
                self._say(f"{name}: built in {time.monotonic() - started:.0f} s")
            else:
                self._say(f"{name}: built before, taken from the cache")
        if impl == "cython" and not built["compiled"]:
            if wanted:
                raise BuildError(
                    f"{target.spec.text} has no compiled modules to ask for (--impl python)"
                )
            impl = "python"
            why_pure = "it has no compiled modules" if built["pure_wheel"] else (
                "its extensions did not compile, and its build goes on without them"
            )  # fmt: skip
        return Built(
            key, impl, built["compiled"], built["wheel_sha256"], built["folder"], why_pure,
            content_of(Path(built["folder"], built["package"])),
        )  # fmt: skip

    def key(self, target: Target, impl: Implementation, flags: str = "") -> str:
        """The name of a build in the cache."""
        passed = [f"{name}={value}" for name, value in self._passed.items()]
        parts = [_LAYOUT, impl, target.content, *self.toolchain.identity, *passed,
                 *filter(None, [flags])]  # fmt: skip
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]

    @property
    def _passed(self) -> dict[str, str]:
        """The variables that a build here gets."""
        return variables.passed(self.checkout.build_variables)

    def _say(self, words: str) -> None:
        """Tell whoever waits."""
        if self.tell is not None:
            self.tell.line(words)

    def _make(
        self, target: Target, impl: Implementation, folder: Path, flags: str
    ) -> dict[str, Any]:
        """Export, build, unpack, and move into place as one step; the record of it."""
        with tempfile.TemporaryDirectory(prefix="build-", dir=self.cache) as scratch:
            tree, side = Path(scratch, "tree"), Path(scratch, "side")
            tree.mkdir()
            side.mkdir()
            self._export(target, tree)
            wheel = self._wheel(target, impl, tree, Path(scratch), flags)
            name = import_name(self.checkout.package)
            compiled = unpack(wheel, side, name)
            record = {
                "folder": str(folder),
                "package": name,
                "compiled": compiled,
                "pure_wheel": wheel.stem.endswith("-none-any"),
                "wheel": wheel.name,
                "wheel_sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
                "target": asdict(target),
            }
            shutil.copy2(wheel, side / wheel.name)
            (side / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            folder.parent.mkdir(exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            side.rename(folder)
        return record

    def _export(self, target: Target, tree: Path) -> None:
        """Copy what is built: a commit's tree, or the working tree's sources."""
        if not target.is_working_tree and target.commit:
            self.checkout.export(target.commit, tree)
            return
        for name in self.checkout.working((*sources(self.checkout), *_ALSO_COPIED)):
            copy = tree / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.checkout.root / name, copy)

    def _wheel(
        self, target: Target, impl: Implementation, tree: Path, scratch: Path, flags: str
    ) -> Path:
        """Run pip; the path of the one wheel that it made."""
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
                   "--no-index", "--no-cache-dir", "--disable-pip-version-check",
                   "--wheel-dir", str(scratch), str(tree)]  # fmt: skip
        env = build_environment(self._passed, impl, tree, flags)
        child = self.crew.start(command, log=scratch / "build.log", cwd=scratch, env=env)
        ended = self._wait(child, f"{target.spec.text} [{impl}]")
        wheels = sorted(scratch.glob("*.whl"))
        if ended.status or len(wheels) != 1:
            raise _failure(target, ended, self.cache)
        return wheels[0]

    def _wait(self, child: Child, name: str) -> Finished:
        """Wait for a build, not in silence."""
        started = time.monotonic()
        while self.tell is not None:
            try:
                child.process.wait(_STILL)
                break
            except subprocess.TimeoutExpired:
                self._say(f"{name}: still building, {time.monotonic() - started:.0f} s so far")
        return self.crew.wait(child)


def _read(record: Path) -> dict[str, Any] | None:
    """The record of a build that is in the cache."""
    if not record.exists():
        return None
    found: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return found


def _is_kept(built: Mapping[str, Any], wanted: Implementation | None) -> bool:
    """Whether what an earlier build gave is believed.

    Compiled modules are. That there are none may be this machine's fault, mended since: it is
    believed only of a wheel for every platform, and only where nobody asked for compiled ones.
    """
    return bool(built["compiled"] or (built["pure_wheel"] and not wanted))


def build_environment(
    passed: Mapping[str, str], impl: Implementation, tree: Path, more: str = ""
) -> dict[str, str]:
    """The environment of a build: reproducible, whatever directory and terminal it happens in.

    Args:
        passed: what it gets of the environment here, all of it in its key.
        impl: what it builds.
        tree: the directory.
        more: flags for the compiler.
    """
    # setuptools takes CFLAGS instead of the interpreter's own flags, so those must be in it.
    flags = passed.get("CFLAGS") or str(sysconfig.get_config_var("CFLAGS") or "-O2")
    return {**variables.scratch(), **passed} | {
        "DRIVER_BUILD": impl,
        "CFLAGS": f"{flags} {more} -ffile-prefix-map={tree}=.",
        "SOURCE_DATE_EPOCH": "315532800",  # the first instant that a zip file can hold
        "PYTHONHASHSEED": "0",
    }


def unpack(wheel: Path, side: Path, name: str) -> bool:
    """Unpack only a package of a wheel and byte-compile it; whether it holds compiled modules.

    The byte code names files relative to the side, so that equal sources give equal byte code.

    Args:
        wheel: the file.
        side: the folder.
        name: of the package.

    Raises:
        BuildError: the wheel holds no such package.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = [each for each in archive.namelist() if each.startswith(f"{name}/")]
        if not names:
            raise BuildError(f"{wheel.name} holds no package {name!r}")
        archive.extractall(side, members=names)
    compileall.compile_dir(
        side, quiet=2, stripdir=str(side),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )  # fmt: skip
    return any(each.endswith((".so", ".pyd")) for each in names)


def content_of(folder: Path) -> str:
    """Hash of the names and bytes of all files below a folder but byte code, which follows them."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            data = file.read_bytes()
            found.update(f"{file.relative_to(folder).as_posix()}\0{len(data)}\0".encode())
            found.update(data)
    return found.hexdigest()


def _failure(target: Target, ended: Finished, cache: Path) -> BuildError:
    """The error of a failed build: one line, then the compiler's last ones."""
    lines = ended.last_lines(200)
    if any("No space left on device" in line for line in lines):
        raise no_space(cache)
    said = [line for line in lines if not line.strip().startswith(_TALK)][-_LAST_LINES:]
    quoted = "".join(f"\n  {line.strip()[:_LINE_WIDTH]}" for line in said)
    return BuildError(f"{target.spec.text} does not build (status {ended.status}):{quoted}")
