"""asv itself: a quick run of HEAD in a clone of this checkout, and the site with both graphs."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import driver

ROOT = Path(__file__).resolve().parents[2]
SUITE, CASE = "routing_key", "routing_key.time_pack_parts_single_int"
#: asv builds the driver without a compiled file to take over: minutes.
pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone in which asv has run and published, with a home of its own."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: asv has no commit to build")
    folder = tmp_path_factory.mktemp("asv")
    clone = folder / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True, timeout=60)
    environment = {**os.environ, "HOME": str(folder)}
    for arguments in (
        ["machine", "--yes"],
        ["run", "--quick", "--bench", CASE, "HEAD^!"],
        ["publish"],
    ):
        outcome = subprocess.run(
            [sys.executable, "-m", "asv", *arguments],
            cwd=clone,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert outcome.returncode == 0, f"asv {arguments}:\n{outcome.stdout}\n{outcome.stderr}"
    return clone


def results(clone):
    """The result files of the commit: not asv's own descriptions, nor the history that is kept."""
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True
    ).stdout.strip()
    names = (clone / "reports" / "results" / "asv").glob(f"*/{head[:8]}-*.json")
    return [json.loads(path.read_text()) for path in names]


def test_each_implementation_has_its_results(clone):
    found = {document["env_vars"]["DRIVER_IMPL"]: document for document in results(clone)}
    assert set(found) == {"cython", "python"}
    (seconds,) = found["python"]["results"][CASE][0]
    assert 0 < seconds < 1
    (compiled,) = found["cython"]["results"][CASE][0]  # NaN is asv's n/a
    # The clone is built anew: compiled exactly if this checkout could be.
    assert math.isnan(compiled) == bool(driver.implementation._missing())


def test_the_site_draws_both_implementations(clone):
    graphs = [
        path.relative_to(clone)
        for path in (clone / "reports" / "html" / "asv" / "graphs").rglob(f"{CASE}.json")
        if "summary" not in path.parts
    ]
    for implementation in ("cython", "python"):
        assert any(f"env-DRIVER_IMPL-{implementation}" in path.parts for path in graphs), graphs
