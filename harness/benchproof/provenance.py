"""Where and with what a result was measured."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .toolchain import Toolchain

#: Packages that change what is measured or how it is judged.
PACKAGES = (
    "asv", "asv_runner", "benchproof", "cramjam", "cryptography", "cython", "lz4", "memray",
    "numpy", "pyperf", "scipy", "setuptools", "statsmodels",
)  # fmt: skip


def gather(toolchain: Toolchain) -> dict[str, Any]:
    """The facts of this machine and this interpreter, now."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler": toolchain.compiler or f"none ({toolchain.why_not})",
        "cpu": cpu_model(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": len(usable_cores()),
        "load": round(os.getloadavg()[0], 2),
        "valgrind": valgrind_version(),
        "debug": debug(os.environ),
        "packages": {name: version for name in PACKAGES if (version := version_of(name))},
    }


def own_version() -> str:
    """Of benchproof, with a hash of its sources: a checkout's change and its version does not."""
    here, code = Path(__file__).parent, hashlib.sha256()
    for file in sorted(here.rglob("*.py")):
        code.update(file.relative_to(here).as_posix().encode() + file.read_bytes())
    return f"{importlib.metadata.version('benchproof')} {code.hexdigest()[:8]}"


def debug(environment: Mapping[str, str]) -> list[str]:
    """In words, what makes this interpreter, or what is built here, slower than what is shipped.

    Args:
        environment: variables of the process.
    """
    found = []
    if hasattr(sys, "gettotalrefcount"):
        found.append("the interpreter is a debug build (--with-pydebug)")
    flags = environment.get("CFLAGS") or str(sysconfig.get_config_var("CFLAGS") or "-O2")
    # Of several such flags a compiler takes the last one.
    level = ([each for each in flags.split() if each.startswith("-O")] or ["-O0"])[-1]
    if level in {"-O0", "-Og"}:
        found.append(f"extensions are compiled without optimisation ({level} in CFLAGS)")
    modes = ("PYTHONDEVMODE", "PYTHONTRACEMALLOC", "PYTHONASYNCIODEBUG")
    set_ = [name for name in modes if environment.get(name)]
    if "debug" in environment.get("PYTHONMALLOC", ""):
        set_.append("PYTHONMALLOC")
    found += [f"{name} is set, and workers check more than usual" for name in set_]
    return found


def usable_cores() -> list[int]:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def pinned_core() -> int | None:
    """The core for wall time: the last usable one, or None where processes cannot be pinned."""
    return usable_cores()[-1] if hasattr(os, "sched_setaffinity") else None


def cpu_model() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def valgrind_version() -> str:
    """As valgrind says it, or "absent"."""
    if shutil.which("valgrind") is None:
        return "absent"
    answer = subprocess.run(
        ["valgrind", "--version"],  # noqa: S607  (found as people do)
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return answer.stdout.strip() or "does not run"


def version_of(distribution: str, absent: str = "") -> str:
    """An installed distribution's version, or what stands for none."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return absent
