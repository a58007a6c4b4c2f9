"""Where and with what a result was measured."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .toolchain import Toolchain

#: Packages that change what is measured or how it is judged.
PACKAGES = (
    "asv", "asv_runner", "cramjam", "cryptography", "cython", "lz4", "memray", "numpy", "pyperf",
    "scipy", "setuptools", "statsmodels",
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
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
    }


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


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
