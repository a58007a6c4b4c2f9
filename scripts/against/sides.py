"""Who is compared, and how a process of each is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Released versions of others; they are installed beside the checkout, not into it.
OTHERS = ("cassandra-driver==3.30.1", "scylla-driver==3.29.12")
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
    """

    name: str
    driver: str
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, task: str, module: str = "worker", **asked: Any) -> list[str]:  # noqa: ANN401  (JSON)
        """The command line of a process: a module of this package, and what it is asked."""
        request = json.dumps({"driver": self.driver, "task": task, **asked})
        return [sys.executable, "-P", "-m", f"against.{module}", request]

    def run(self, command: list[str], core: int | None = None, **more: str) -> dict[str, Any]:
        """Run a worker to its end; what it says.

        Raises:
            SideError: it failed.
        """
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        paths = [self.environment.get("PYTHONPATH", ""), str(ROOT / "scripts"), str(ROOT)]
        variables = os.environ | self.environment | more
        variables |= {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        try:
            done = subprocess.run(
                [*pinned, *command], env=variables, capture_output=True, text=True, check=False,
                timeout=LIMIT,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise SideError(f"{self.name}: no answer within {LIMIT} s") from error
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no word"])[-1]
            raise SideError(f"{self.name}: {last}")
        said: dict[str, Any] = json.loads(done.stdout)
        return said


def all_sides(cache: Path) -> list[Side]:
    """This driver compiled, this driver pure, and the others, installed where they are not yet.

    Raises:
        SideError: one cannot be installed.
    """
    ours = [
        Side("cqlpath, Cython", "ours", {"DRIVER_IMPL": "cython"}),
        Side("cqlpath, pure Python", "ours", {"DRIVER_IMPL": "python"}),
    ]
    return ours + [
        Side(wanted.replace("==", " "), "theirs", {"PYTHONPATH": str(_installed(wanted, cache))})
        for wanted in OTHERS
    ]


def _installed(wanted: str, cache: Path) -> Path:
    """The folder that holds a release, for this version of Python."""
    place = cache / "others" / f"{wanted.replace('==', '-')}-{sys.implementation.cache_tag}"
    if not place.exists():
        partial = place.with_name(place.name + ".partial")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(partial),
                   "--disable-pip-version-check", "--only-binary", ":all:", wanted]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SideError(f"{wanted} cannot be installed: {done.stderr.strip()[-200:]}")
        partial.rename(place)
    return place
