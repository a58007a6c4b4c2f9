"""Programs that need no server print the same under cassandra-driver and under driver.compat."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted((ROOT / "tests" / "compat_programs").glob("offline_*.py"))


def output(*command):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_there_are_programs():
    assert len(PROGRAMS) > 4


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_output_is_the_same(program):
    pytest.importorskip("cassandra", reason="cassandra-driver is not installed")
    assert output("-m", "driver.compat", program) == output(program)
