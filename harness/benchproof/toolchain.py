"""What builds the sides: this interpreter, its pinned Cython and setuptools, the C compiler."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import files
from .errors import BuildError, no_space
from .provenance import version_of

if TYPE_CHECKING:
    from .processes import Finished

#: Lines of pip and setuptools about themselves, which hide the compiler's.
_TALK = (
    "note:", "hint:", "[notice]", "ERROR: Failed", "Failed to build", "╰─>", "[end of",
    "Building wheel", "Processing ", "Preparing metadata", "INFO: pip is looking",
    "\N{MULTIPLICATION SIGN} ", "error: metadata-generation",
    "error: subprocess", "copying ", "creating ", "writing ", "reading ", "running ", "adding ",
    "building ", "warning: build_py",
)  # fmt: skip
#: What a reader needs of a compiler that failed.
_LAST_LINES = 12
_LINE_WIDTH = 150
_PROBE = "#include <Python.h>\nint benchproof_probe(void) { return PY_MAJOR_VERSION; }\n"


@dataclass(frozen=True)
class Toolchain:
    """What decides what a build gives, beside the sources and the environment (`variables`).

    Attributes:
        compiler: the compiler's first line about itself, or "" if none works.
        why_not: why no compiler works, or "".
        identity: what goes into a build's key.
    """

    compiler: str
    why_not: str
    identity: tuple[str, ...]

    @property
    def compiles(self) -> bool:
        """Whether a C extension can be built here."""
        return not self.why_not


def command_of() -> list[str]:
    """The C compiler that setuptools would use, with its options."""
    return shlex.split(os.environ.get("CC") or str(sysconfig.get_config_var("CC") or "cc"))


def find() -> Toolchain:
    """Try the compiler that setuptools would use on a file that includes Python.h."""
    command = command_of()
    with files.scratch() as folder:
        source = folder / "probe.c"
        source.write_text(_PROBE, encoding="utf-8")
        why_not = compile_library(source, folder / "probe.so")
    compiler = "" if why_not else _first_line([*command, "--version"])
    identity = (
        sys.version,
        str(sysconfig.get_config_var("SOABI")),
        compiler,
        *(f"{name} {version_of(name, 'absent')}" for name in ("cython", "setuptools")),
    )
    return Toolchain(compiler, why_not, identity)


def compile_library(source: Path, place: Path, *options: str) -> str:
    """Compile a C file, which may include Python.h, into a library; why that fails, or ""."""
    command = command_of()
    include = sysconfig.get_paths()["include"]
    arguments = ["-shared", "-fPIC", f"-I{include}", *options, str(source), "-o", str(place)]
    try:
        answer = subprocess.run(  # noqa: S603  (the user's compiler, no shell)
            [*command, *arguments], capture_output=True, text=True, check=False,
            env=os.environ | {"TMPDIR": str(place.parent)},
        )  # fmt: skip
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    if answer.returncode:
        lines = answer.stderr.strip().splitlines()
        return lines[0] if lines else f"{command[0]} ended with status {answer.returncode}"
    return ""


def _first_line(command: list[str]) -> str:
    """The first line that a program prints."""
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return (answer.stdout.splitlines() or [""])[0]


def failure(words: str, ended: Finished, cache: Path) -> BuildError:
    """The error of a failed build: one line that begins with words, then the compiler's last ones.

    Raises:
        NoSpaceError: the disk that holds the cache is full.
    """
    lines = ended.last_lines(200)
    if any("No space left on device" in line for line in lines):
        raise no_space(cache)
    said = [line for line in lines if not line.strip().startswith(_TALK)][-_LAST_LINES:]
    quoted = "".join(f"\n  {line.strip()[:_LINE_WIDTH]}" for line in said)
    return BuildError(f"{words} (status {ended.status}):{quoted}")
