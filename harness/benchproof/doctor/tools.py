"""The tools: this Python, the harness's packages, the compiler, valgrind, memray."""

import importlib.metadata
import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from importlib.util import find_spec

from benchproof import provenance
from benchproof.errors import EXTRAS
from benchproof.meters import allocations, instructions
from benchproof.suite import TIMED
from benchproof.toolchain import Toolchain

from .machine import COMPILED, MAIN_JOB, Finding, degraded, missing, named, ok

#: What the harness imports, each with what fails without it.
_PACKAGES = ("asv_runner", "filelock", "numpy", "psutil", "pyperf", "scipy")
#: Settings of Python that reach the workers and change what is measured.
_DISTURBING = (
    "PYTHONDEVMODE", "PYTHONFAULTHANDLER", "PYTHONMALLOC", "PYTHONMALLOCSTATS", "PYTHONOPTIMIZE",
    "PYTHONPROFILEIMPORTTIME", "PYTHONTRACEMALLOC", "PYTHON_GIL", "PYTHON_JIT",
)  # fmt: skip


def check(toolchain: Toolchain, *, compiled: bool = True) -> list[Finding]:
    """All findings about the tools.

    Args:
        toolchain: what builds the sides.
        compiled: whether the project has anything to compile.
    """
    building = {"compiler": compiler(toolchain)} if compiled else {}
    return named(
        python=python(), environment=environment(os.environ), packages=packages(), **building,
        valgrind=valgrind(), addresses=addresses(), memray=memray(),
    )  # fmt: skip


def install(name: str) -> str:
    """The line that installs a system package here."""
    for manager, line in (
        ("apt-get", f"sudo apt-get install --yes {name}"),
        ("dnf", f"sudo dnf install --assumeyes {name}"),
        ("pacman", f"sudo pacman --sync --noconfirm {name}"),
        ("brew", f"brew install {name}"),
    ):
        if shutil.which(manager):
            return line
    return f"install {name} with this system's package manager"


def python() -> Finding:
    """The interpreter that runs the harness, builds the sides and runs the workers."""
    built = str(sysconfig.get_config_var("CONFIG_ARGS") or "")
    detail = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.implementation.name != "cpython":
        return missing(detail, "use CPython 3.11 or newer", MAIN_JOB)
    unusual = ""
    if sysconfig.get_config_var("Py_DEBUG"):
        unusual = "a debug build: several times slower than a release"
    elif built and "--enable-optimizations" not in built:
        unusual = "built without profile-guided optimisation, unlike what most people run"
    if unusual:
        remedy = "measure with an interpreter that is built like the one your users have"
        return degraded(f"{detail}, {unusual}", remedy, "wall", "instructions")
    threads = ", free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return ok(f"{detail}{threads}")


def environment(variables: Mapping[str, str]) -> Finding:
    """Settings of Python that would reach the workers, and the hash seed."""
    found = [name for name in _DISTURBING if variables.get(name)]
    if found:
        return degraded(
            f"{', '.join(found)} set: the workers would run with it",
            f"unset {' '.join(found)}",
            *TIMED,
        )
    return ok("hash seed varied for wall time, fixed for counters, by the harness")


def packages() -> Finding:
    """What the harness needs to be installed beside it."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    if absent:
        return missing(f"not installed: {', '.join(absent)}", "pip install benchproof", MAIN_JOB)
    extras = [
        extra for extra, (_, modules) in EXTRAS.items()
        if any(find_spec(name) is None for name in modules)
    ]  # fmt: skip
    if extras:
        does = ", or ".join(EXTRAS[extra][0] for extra in extras)
        remedy = f"pip install 'benchproof[{','.join(extras)}]'"
        return degraded(f"nothing here {does}; all else works", remedy)
    return ok("all that benchproof imports are installed")


def compiler(toolchain: Toolchain) -> Finding:
    """Whether a C file that includes Python.h compiles, with the CC of the environment."""
    given = os.environ.get("CC")
    if toolchain.compiles:
        return ok(toolchain.compiler + (f" (CC={given})" if given else ""))
    remedy = install("gcc") + "; if Python.h is what is missing, Python's headers (python3-dev)"
    return missing(
        f"{toolchain.why_not}" + (f" (CC={given})" if given else ""),
        f"unset CC, or set it to a compiler that works; {remedy}" if given else remedy,
        COMPILED,
    )


def valgrind() -> Finding:
    """What counts instructions."""
    why_not = instructions.why_not()
    if not why_not:
        return ok(provenance.valgrind_version())
    remedy = install("valgrind")
    if sys.platform == "darwin":
        remedy = "none: valgrind has no release for this macOS; count instructions on Linux"
    return missing(why_not, remedy, "instructions")


def addresses() -> Finding:
    """Whether workers that count instructions can run at fixed addresses."""
    if instructions.fixed_addresses():
        return ok("setarch -R switches their randomisation off for counters")
    remedy = install("util-linux")
    if shutil.which("setarch"):
        remedy = "allow the personality system call (docker run --security-opt seccomp=unconfined)"
    return degraded(
        "randomised in every process: instruction counts of equal code differ by about 2 %",
        remedy,
        "instructions",
    )


def memray() -> Finding:
    """What counts allocations."""
    why_not = allocations.why_not()
    if why_not:
        return missing(why_not, "pip install memray", *allocations.METERS)
    return ok(importlib.metadata.version("memray"))
