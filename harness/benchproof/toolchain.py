"""What builds the sides: this interpreter, its pinned Cython and setuptools, the C compiler."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from . import files
from .provenance import version_of

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
