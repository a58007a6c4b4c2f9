"""What the doctor finds, a fact with what it costs and what to do about it; first the machine's.

Every check of the machine takes the root of the file system in which it looks for ``/proc`` and
``/sys``, so that other machines can be shown to it.
"""

import os
import platform
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from benchproof import provenance

State = Literal["ok", "degraded", "missing"]

#: What a finding can affect beside meters: everything, or one half of `benchproof run`.
MAIN_JOB = "everything"
COMPILED = "compiled against pure"
COMMITS = "commit against commit"


@dataclass(frozen=True)
class Finding:
    """One fact.

    Attributes:
        name: What was looked at.
        state: ``ok``; ``degraded`` (it measures, but worse than it could); ``missing``.
        detail: What was found.
        remedy: What to do about it; empty if there is nothing to do.
        affects: Meters (``wall``, ``instructions``, ``allocations``, ``bytes``) or parts of
            `benchproof run` that suffer; empty if ``state`` is ``ok``.
    """

    name: str
    state: State
    detail: str
    remedy: str = ""
    affects: tuple[str, ...] = ()

    @property
    def stops_the_main_job(self) -> bool:
        """Whether ``benchproof run`` can't run because of this."""
        return self.state == "missing" and MAIN_JOB in self.affects


def ok(detail: str) -> Finding:
    """Nothing to do."""
    return Finding("", "ok", detail)


def degraded(detail: str, remedy: str, *affects: str) -> Finding:
    """It measures, but worse than it could."""
    return Finding("", "degraded", detail, remedy, affects)


def missing(detail: str, remedy: str, *affects: str) -> Finding:
    """It does not measure."""
    return Finding("", "missing", detail, remedy, affects)


def named(**found: Finding) -> list[Finding]:
    """Findings with their names."""
    return [replace(each, name=name) for name, each in found.items()]


ROOT = Path("/")
#: Of one core: from here on other work disturbs time measurements.
_BUSY = 0.3
_MEGA = 1_000_000
#: Two environments' worth of wheels and builds, in MB: what the main job writes, and twice that.
_DISK_NEEDED, _DISK_WANTED = 200, 400
#: A worker under valgrind takes about 300 MB; two builds at a time take less.
_MEMORY_WANTED = 600
#: Where Linux tells of the clock; below it, the switches of turbo: its value while on, the remedy.
_CPU = "sys/devices/system/cpu"
_TURBO = (("intel_pstate/no_turbo", "0", "echo 1"), ("cpufreq/boost", "1", "echo 0"))


def check(root: Path = ROOT, cache: Path | None = None) -> list[Finding]:
    """All findings about the machine."""
    return named(
        cores=cores(root), affinity=affinity(), load=load(os.getloadavg()[0]), clock=clock(root),
        memory=memory(root), disk=disk(cache or Path.cwd()),
    )  # fmt: skip


def cores(root: Path = ROOT) -> Finding:
    """How many cores this process may use, and how much of them."""
    usable, quota = len(provenance.usable_cores()), _quota(root)
    detail = f"{usable} usable of {os.cpu_count() or usable}, {provenance.cpu_model()}"
    if quota is not None and quota < usable:
        return degraded(
            f"{detail}; a control group allows the time of {quota:g}",
            "raise the container's CPU limit: a throttled process is slow in bursts",
            "wall",
        )
    if usable < 2:
        return degraded(
            detail,
            "use two cores or more, so that the harness and the measured process do not share one",
            "wall",
        )
    return ok(detail)


def affinity() -> Finding:
    """Whether a process can be bound to a core."""
    core = provenance.pinned_core()
    if core is None:
        return degraded(
            f"{platform.system()} does not bind processes to cores",
            "measure wall time on Linux; elsewhere expect wider intervals",
            "wall",
        )
    return ok(f"wall time is measured on core {core}")


def load(average: float) -> Finding:
    """What else runs here now."""
    usable = len(provenance.usable_cores())
    detail = f"{average:.2f} over the last minute, on {usable} usable cores"
    if average > _BUSY * usable:
        return degraded(detail, "end other work first, or wait until it has ended", "wall")
    return ok(detail)


def clock(root: Path = ROOT) -> Finding:
    """What makes the clock unsteady, or takes time from a process unseen."""
    governors = sorted({_read(path) for path in (root / _CPU).glob("cpu[0-9]*/*/scaling_governor")})
    found = {}
    if not governors:
        found["the machine does not show its clock (usual in a virtual machine)"] = (
            "trust instructions and allocations first, and wall time only with its interval"
        )
    elif governors != ["performance"]:
        found[f"governor {', '.join(governors)}: the clock follows the load"] = (
            "sudo cpupower frequency-set --governor performance"
        )
    for file, on, command in _TURBO:
        if _read(root / _CPU / file) == on:
            told = "turbo is on: the clock depends on heat and on other cores"
            found[told] = f"{command} | sudo tee /{_CPU}/{file}"
    if re.search(r"^flags\b.*\bhypervisor\b", _read(root / "proc/cpuinfo"), re.MULTILINE):
        found["inside a virtual machine: neighbours can slow a process down unseen"] = (
            "for verdicts on wall time below a few per cent use hardware of your own"
        )
    return degraded("; ".join(found), "\n".join(found.values()), "wall") if found else ok("steady")


def memory(root: Path = ROOT) -> Finding:
    """Whether a worker under valgrind fits."""
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024 // _MEGA
            if free < _MEMORY_WANTED:
                return degraded(
                    f"{free:,} MB available",
                    f"free memory: a worker under valgrind and a build want {_MEMORY_WANTED} MB",
                    "wall",
                    "instructions",
                )
            return ok(f"{free:,} MB available")
    return ok("not shown by this system")


def disk(cache: Path, free_bytes: int | None = None) -> Finding:
    """Whether wheels, builds and results fit."""
    place = next(path for path in (cache, *cache.absolute().parents) if path.exists())
    free = (shutil.disk_usage(place).free if free_bytes is None else free_bytes) // _MEGA
    detail = f"{free:,} MB free at {place}"
    remedy = "free some, or point BENCHPROOF_CACHE and TMPDIR at another disk"
    if free < _DISK_NEEDED:
        return missing(detail, remedy, MAIN_JOB)
    if free < _DISK_WANTED:
        return degraded(detail, remedy, MAIN_JOB)
    return ok(detail)


def _quota(root: Path) -> float | None:
    """The cores' worth of time that a control group (version 2) allows; None without a limit."""
    words = _read(root / "sys/fs/cgroup/cpu.max").split()
    if len(words) != 2 or words[0] == "max":
        return None
    return int(words[0]) / int(words[1])


def _read(path: Path) -> str:
    """A small file of the kernel; empty if it can't be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
