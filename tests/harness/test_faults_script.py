"""Kills of commands at random moments and inside of writes; `scripts/faults` does more of them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def faults(*words):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "faults", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_killed_commands_leave_nothing_torn_and_nothing_behind():
    said = faults("--kills", "2", "--commands", "compare", "publish")
    assert said.count("killed 2 times before its end, 1 of them inside") == 2


@pytest.mark.slow
@pytest.mark.nightly
def test_so_do_all_of_them_also_on_bad_disks_and_two_at_once():
    said = faults("--kills", "4", "--disks", "2", "--pairs", "1")
    assert said.count("killed 4 times before its end, 2 of them inside") == 5
