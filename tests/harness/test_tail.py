"""The slowest calls of a process: taken where a benchmark asks, judged beside the others."""

import json
import math
import os
import re
import subprocess
import sys
from itertools import count

import pytest

from benchproof import judge, records
from benchproof.meters import wall
from tests.harness import loop_project as loop

#: A call that takes long now and then: too rarely for the median of a process to see it. Which call
#: is the first one differs from process to process. Only the calls move the clock, since on a busy
#: machine every call may wait.
WAITS = """
import random

from benchproof.meters import wall

now, calls = 0.0, random.randrange(40)


def spin(times):
    global now, calls
    calls += 1
    now += 0.2 if calls % {every} == 0 else random.uniform(0.001, 0.0011)


wall.perf_counter = wall.thread_time = wall._steady = lambda: now


def shout("""
SUITE = """from acme import work


def time_plain():
    return work.spin(0)


def time_tail():
    return work.spin(0)


time_tail.tail = True
"""


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the calls move: every so many of them takes 100 s, all others one."""
    now, calls = [0.0], count(1)
    for name in ("perf_counter", "thread_time", "_steady"):
        monkeypatch.setattr(wall, name, lambda: now[0])

    def calls_of(every):
        def call():
            now[0] += 100.0 if next(calls) % every == 0 else 1.0

        return call

    return calls_of


@pytest.mark.parametrize("loops", [1, 60, 10_000])
@pytest.mark.parametrize(("every", "expected"), [(math.inf, 1.0), (50, 100.0), (201, 1.0)])
def test_the_tail_is_what_one_call_in_a_hundred_is_slower_than(clock, loops, every, expected):
    assert wall.tail(clock(every), loops) == expected


def test_so_many_calls_make_a_tail(clock):
    found = []
    for loops in (1, 6, 10_000):
        made = count()
        wall.tail(lambda made=made: next(made), loops, clock(math.inf))
        found.append(next(made))
    assert found == [200, 1200, 2000]


@pytest.mark.slow
def test_calls_that_wait_now_and_then_are_a_regression_where_the_benchmark_asks(tmp_path, cache):
    project = loop.make(tmp_path / "acme")
    project.write("benchmarks/waits.py", SUITE)
    project.edit(loop.WORK, "def shout(", WAITS.format(every="10**9"))
    project.commit("never waits")
    project.edit(loop.WORK, "10**9", "40")
    project.commit("waits now and then")
    file, kept = tmp_path / "found.json", tmp_path / "kept.jsonl.gz"
    done = subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "compare", "HEAD~1", "HEAD", "--bench", "waits",
         "--meters", "wall", "--budget", "1", "--json", file, "--records", kept],
        cwd=project.root, capture_output=True, text=True, check=False,
        env=os.environ | {"BENCHPROOF_CACHE": str(cache)},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    document = json.loads(file.read_text())
    plain, tail = document["cases"]
    assert set(plain["meters"]) == {"wall"}
    assert tail["meters"]["tail"]["verdict"] == tail["verdict"] == "regressed", done.stdout
    assert tail["meters"]["tail"]["right"] > 0.1
    assert "slowest calls regressed" in tail["note"]
    assert tail["meters"]["wall"]["verdict"] != "regressed"
    assert re.search(r"regressed waits\.time_tail +tail ", done.stdout)
    assert document["meters"]["tail"]["unit"] == "s"
    assert done.returncode == 1
    again = json.loads(json.dumps(judge.document(records.read(kept))))
    assert again["cases"] == document["cases"]


@pytest.mark.slow
def test_a_list_says_of_which_benchmarks_the_slowest_calls_are_timed(tmp_path, cache):
    project = loop.make(tmp_path / "acme")
    project.write("benchmarks/waits.py", SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "list", "--bench", "waits"],
        cwd=project.root, capture_output=True, text=True, check=True,
        env=os.environ | {"BENCHPROOF_CACHE": str(cache)},
    )  # fmt: skip
    assert re.search(r"waits\.time_tail\s+time, tail *\n", done.stdout)
    assert re.search(r"waits\.time_plain\s+time *\n", done.stdout)
