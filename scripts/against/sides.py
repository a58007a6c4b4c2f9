"""Who is compared, and how a process of each is started."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchproof import toolchain

ROOT = Path(__file__).resolve().parents[2]
#: Released versions of others; they are installed beside the checkout, not into it.
OTHERS = ("cassandra-driver==3.30.1", "scylla-driver==3.29.12")
#: The one that is also measured without its compiled modules.
PURE = "scylla-driver==3.29.12"
#: The side that is no driver, and its compiled module.
LIMITS, MODULE = "C alone", "against_limits"
#: Seconds after which a process is given up.
LIMIT = 900


class SideError(Exception):
    """A side that does not run, or does other work."""


@dataclass(frozen=True)
class Side:
    """A driver in one implementation.

    Attributes:
        name: in tables.
        driver: which class of the worker.
        environment: what its processes get beside this one's variables.
        only: what the names of operations have to contain; empty for all of them.
        python: whose interpreter runs them.
        limit: seconds after which one is given up; None: `LIMIT`.
        is_partial: whether it has some of the operations, where a driver has all.
    """

    name: str
    driver: str
    environment: dict[str, str] = field(default_factory=dict)
    only: str = ""
    python: str = sys.executable
    limit: float | None = None
    is_partial: bool = False

    def command(self, task: str, module: str = "worker", **asked: Any) -> list[str]:  # noqa: ANN401  (JSON)
        """The command line of a process: a module of this package, and what it is asked."""
        request = json.dumps({"driver": self.driver, "task": task, "only": self.only, **asked})
        return [self.python, "-P", "-m", f"against.{module}", request]

    def run(self, command: list[str], core: int | None = None, **more: str) -> dict[str, Any]:
        """Run a worker to its end; what it says.

        Raises:
            SideError: it failed.
        """
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        paths = [self.environment.get("PYTHONPATH", ""), str(ROOT / "scripts"), str(ROOT)]
        variables = os.environ | self.environment | more
        variables |= {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        limit = self.limit or LIMIT
        try:
            done = subprocess.run(
                [*pinned, *command], env=variables, capture_output=True, text=True, check=False,
                timeout=limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise SideError(f"{self.name}: no answer within {limit:g} s") from error
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no word"])[-1]
            raise SideError(f"{self.name}: {last}")
        said: dict[str, Any] = json.loads(done.stdout)
        return said


def all_sides(cache: Path, only: str = "") -> list[Side]:
    """This driver compiled and pure, the others, installed where they are not yet, and one pure.

    The last one is C that does what a step needs and nothing else.

    Raises:
        SideError: one cannot be installed or compiled.
    """
    ours = [
        Side("cqlpath, Cython", "ours", {"DRIVER_IMPL": "cython"}, only),
        Side("cqlpath, pure Python", "ours", {"DRIVER_IMPL": "python"}, only),
    ]
    others = [
        Side(
            wanted.replace("==", " "), "theirs",
            {"PYTHONPATH": str(_installed(wanted, cache))}, only,
        )
        for wanted in OTHERS
    ]  # fmt: skip
    pure = {"PYTHONPATH": str(_without_compiled(_installed(PURE, cache)))}
    return [
        *ours, *others, Side(f"{PURE.replace('==', ' ')}, pure Python", "theirs", pure, only),
        limits_side(cache, only),
    ]  # fmt: skip


def digest(source: Path) -> str:
    """By which what is compiled from a file is kept."""
    return hashlib.sha256(source.read_bytes()).hexdigest()[:12]


def compiled(what: str, source: Path, place: Path, *options: str) -> Path:
    """A C file compiled into its place, unless it is there.

    Raises:
        SideError: there is no compiler, or it does not compile.
    """
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_suffix(".partial")
        command = [*toolchain.command_of(), "-O2", *options, "-o", str(partial), str(source)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise SideError(f"{what} cannot be compiled: {error}") from error
        if done.returncode:
            told = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
            why = next((line for line in told if "error" in line), told[-1])
            raise SideError(f"{what} cannot be compiled: {why}")
        partial.rename(place)
    return place


def limits_side(cache: Path, only: str) -> Side:
    """C alone, compiled once for each version of Python and of its source.

    Raises:
        SideError: there is no compiler, or it does not compile.
    """
    source = Path(__file__).with_name("limits.c")
    folder = cache / f"limits-{digest(source)}"
    place = folder / f"{MODULE}{sysconfig.get_config_var('EXT_SUFFIX')}"
    compiled("limits.c", source, place, "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}")
    paths = {"DRIVER_IMPL": "python", "PYTHONPATH": str(folder)}
    return Side(LIMITS, "limits", paths, only, is_partial=True)


def _installed(wanted: str, cache: Path) -> Path:
    """The folder that holds a release, for this version of Python."""
    place = cache / "others" / f"{wanted.replace('==', '-')}-{sys.implementation.cache_tag}"
    if not place.exists():
        partial = place.with_name(place.name + ".partial")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(partial),
                   "--disable-pip-version-check", "--only-binary", ":all:", wanted]  # fmt: skip
        _install(wanted, command)
        partial.rename(place)
    return place


def _install(wanted: str, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SideError(f"{wanted} cannot be installed: {done.stderr.strip()[-200:]}")


def environment(wanted: str, cache: Path) -> str:
    """The Python of a virtual environment that holds a release and what it needs, nothing else.

    Raises:
        SideError: it cannot be installed.
    """
    place = cache / "others" / f"{wanted.replace('==', '-')}-{sys.implementation.cache_tag}-env"
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        venv.create(place, clear=True, with_pip=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "--only-binary", ":all:", wanted]  # fmt: skip
        _install(wanted, command)
        (place / "ready").touch()
    return str(python)


def _without_compiled(place: Path) -> Path:
    """A copy of an installed release that has only its Python modules."""
    pure = place.with_name(f"{place.name}-pure")
    if not pure.exists():
        partial = pure.with_name(f"{pure.name}.partial")
        shutil.copytree(place, partial, ignore=shutil.ignore_patterns("*.so", "*.pyd"))
        partial.rename(pure)
    return pure
