"""Measures a change in its own repository by `benchproof compare`, and keeps the samples."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchproof import judge, records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .table import Change, Table

SUITE = Path(__file__).parent / "suite"
METERS = "instructions,allocations,bytes"
#: What a project that is measured says of itself; the driver's own pyproject.toml says none of it.
_PROJECT = '[tool.benchproof]\npackage = "cassandra"\nbuild-variables = ["CASS_DRIVER_*"]\n'


def kept_at(folder: Path, change: str, build: str) -> Path:
    """Where the samples of a change in a build are kept."""
    return folder / f"{change}.{build}.jsonl.gz"


def measure(
    table: Table, change: Change, build: str, folder: Path, cache: Path, mirror: Path | None
) -> str:
    """Measure a change in a build.

    Args:
        table: that names it.
        change: two commits.
        build: of both.
        folder: where samples are kept.
        cache: of what is built.
        mirror: a copy of the repository on this machine, asked instead of its address.

    Returns:
        Why there are no samples, in a line, or "".
    """
    target = kept_at(folder, change.id, build).resolve()
    chosen = "|".join(map(re.escape, table.benchmarks(change.id)))
    sides = [f"repo:{table.repository}@{commit}" for commit in (change.base, change.head)]
    command = [
        sys.executable, "-m", "benchproof.cli", "compare", *sides, "--suites", str(SUITE),
        "--bench", f"^({chosen})$", "--meters", METERS, "--records", "samples.jsonl.gz",
    ]  # fmt: skip
    env = os.environ | table.builds[build] | {"BENCHPROOF_CACHE": str(cache.resolve())}
    if mirror is not None:
        env |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_VALUE_0": table.repository,
                "GIT_CONFIG_KEY_0": f"url.{mirror.resolve()}.insteadOf"}  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as empty:
        Path(empty, "pyproject.toml").write_text(_PROJECT, encoding="utf-8")
        ended = subprocess.run(
            command, cwd=empty, env=env, check=False, capture_output=True, text=True
        )
        # What was kept before stays until there is something in its place.
        samples = Path(empty, "samples.jsonl.gz")
        data = samples.read_bytes() if samples.is_file() else b""
    why = target.with_suffix("").with_suffix(".failed.json")
    if data:
        target.write_bytes(data)
        why.unlink(missing_ok=True)
        return ""
    target.unlink(missing_ok=True)
    lines = (ended.stderr or ended.stdout).strip().splitlines() or [f"status {ended.returncode}"]
    said = next((each for each in lines if each.startswith("benchproof: ")), lines[-1])
    why.write_text(json.dumps({"why": said}) + "\n", encoding="utf-8")
    return said


def kept(folder: Path, change: str, build: str) -> Mapping[str, Any] | None:
    """The judged document of a change in a build; `why` alone where it does not build; or None.

    It is computed from the samples that are kept, by the rules of today.
    """
    file = kept_at(folder, change, build)
    if file.is_file():
        return judge.document(records.read(file))
    failed = file.with_suffix("").with_suffix(".failed.json")
    return json.loads(failed.read_text(encoding="utf-8")) if failed.is_file() else None
