"""Programs written for the `cassandra` package run unmodified, and print what they print there."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "compat_programs"
PROGRAMS = sorted(
    path
    for path in FOLDER.glob("*.py")
    if not path.stem.startswith("offline_") and path.stem != "keyspaces"
)
#: Programs that the published cassandra-driver gets wrong, and what they must print.
ONLY_OURS = {
    "arrays": ["c int32 [0, 1, 2]", "v float64 [0.0, 0.5, 1.0]", "s object ['x', 'x', 'x']"],
}

pytestmark = [pytest.mark.once, pytest.mark.within(300)]


def output(*command):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def case(program):
    """A program as the parameter of a test."""
    since = [pytest.mark.since("5.0", "vectors")] if program.stem == "all_types" else []
    return pytest.param(program, id=program.stem, marks=since)


@pytest.mark.parametrize("program", [case(program) for program in PROGRAMS])
def test_a_program_prints_the_same_through_compat(program, one_node):
    arguments = (program, one_node.addresses[0], f"compat_{program.stem}")
    ours = output("-m", "driver.compat", *arguments)
    if program.stem in ONLY_OURS:
        assert ours == ONLY_OURS[program.stem]
    elif find_spec("cassandra") is None:
        assert ours
    else:
        assert ours == output(*arguments)
