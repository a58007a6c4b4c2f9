"""Exact meters count the same whatever else the machine does: never a time, only counts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchproof import suite
from benchproof.meters import instructions
from tests.harness.toy import last_two

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(instructions.why_not()), reason=f"instructions: {instructions.why_not()}"
    ),
]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
#: Works until it is killed, or for five minutes.
BUSY = "import time\nend = time.monotonic() + 300\nwhile time.monotonic() < end: sum(range(9999))"
#: Cases of a few sizes, so that some lie where a slower clock gives other loop counts; each waits
#: as long as the environment says, which costs no instructions.
CASES = """
import os
import time

from tests_of_counts.proved import proves

WAIT = float(os.environ["TOY_WAIT"])


def case(size):
    def run(spin=None, boxes=None):
        time.sleep(WAIT)
        return spin(size), boxes(size % 7)

    def setup():
        from driver.work import boxes, spin

        run.__defaults__ = spin, boxes

    run.setup = setup
    proves(run)
    return run


for size in (40, 400, 2000):
    case.__globals__[f"time_{size}"] = case(size)
    case.__globals__[f"time_{size}"].__name__ = f"time_{size}"
"""


@pytest.fixture
def sides(toy, tmp_path, monkeypatch):
    """Two builds, in the second of which a function does a little more; and their suites."""
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more")
    suites = tmp_path / "tests_of_counts"
    suites.mkdir()
    (suites / "__init__.py").touch()
    proved = (Path(__file__).parent / "suites" / "toy.py").read_text().partition("def time_spin")[0]
    (suites / "proved.py").write_text(proved)
    (suites / "sizes.py").write_text(CASES)
    monkeypatch.setenv("TOY_WAIT", "0.000")
    return suites


def counted(place, suites, folder, tell):
    """What the exact meters say of every case, and how often each was called."""
    with last_two(place, suites, folder, tell) as bench:
        cases = suite.from_rows(bench.discover())
        bench.prove(cases)
        bench.count_instructions(cases)
        bench.count_allocations(cases)
        loops = {
            name: (each.instructions, each.allocations) for name, each in bench.got.loops.items()
        }
        assert len(loops) == 3
        assert bench.got.failures == {}
        return loops, bench.got.values


def test_a_clock_that_runs_longer_changes_no_count(place, sides, tmp_path, tell, monkeypatch):
    at_once = counted(place, sides, tmp_path / "0", tell)
    monkeypatch.setenv("TOY_WAIT", "0.002")
    assert counted(place, sides, tmp_path / "1", tell) == at_once


@pytest.mark.nightly
def test_the_same_builds_give_the_same_counts_with_every_core_busy_and_idle(
    place, sides, tmp_path, tell
):
    found = [counted(place, sides, tmp_path / f"{number}", tell) for number in range(3)]
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * CORES)]
    try:
        found += [counted(place, sides, tmp_path / f"{number}", tell) for number in range(3, 6)]
    finally:
        for each in busy:
            each.kill()
            each.wait()
    for each in found[1:]:
        assert each == found[0]
