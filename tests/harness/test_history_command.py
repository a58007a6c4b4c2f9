"""`benchproof history` as people run it: one line for what is wrong, and Ctrl-C loses nothing."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from benchproof.history import asv_files
from benchproof.history.choice import Job, Plan
from benchproof.history.measure import Asked, Measured
from benchproof.history.running import Outcome, Runner
from tests.harness.test_meters import needs_memray

ROOT = Path(__file__).resolve().parents[2]
SUITES = Path(__file__).resolve().parent / "suites"


@pytest.fixture
def start(toy, cache):
    """Start the command in the toy's checkout."""

    def start(*arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "benchproof.cli", "history", *arguments, "--suites", SUITES],
            cwd=toy.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"BENCHPROOF_CACHE": str(cache),
                              "COLUMNS": "100"},
            # A session in the background of a shell ignores SIGINT, and what it starts inherits it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (the session has one thread)
        )  # fmt: skip

    return start


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nope..HEAD"], "unknown range: 'nope..HEAD'"),
        (["HEAD..HEAD"], "holds no commit"),
        (["--meters", "wall"], "--wall"),
        (["--machine", "../../elsewhere"], "no name of a machine"),
        (["--impl", "rust"], "the variants of this project are cython, python"),
        (["--bench", "nothing_like_it", "--impl", "python"], "matches none"),
    ],
)
def test_what_a_person_can_mend_is_one_line_and_status_2(start, arguments, line):
    process = start(*arguments)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert line in err
    assert "Traceback" not in err


@needs_memray
@pytest.mark.slow
def test_ctrl_c_ends_all_children_and_keeps_what_was_measured(toy, start):
    for size in range(200, 900, 100):
        toy.edit("driver/work.py", f"bytearray({size - 100})", f"bytearray({size})")
        toy.commit(f"boxes of {size}")
    process = start("--impl", "python", "--jobs", "1", "--meters", "bytes", "--bench", "boxes")
    said = []
    for line in process.stderr:
        said.append(line)
        if "1/8" in line:
            break
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, said
    assert "the same command goes on from here" in err
    assert "left" in out
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    found = asv_files.load(toy.root / "reports" / "results" / "asv", toy.root)
    (series,) = found.series.values()
    assert 1 <= len(series) < 8
    assert not found.left_out
    assert not list((toy.root / "reports").rglob("*partial*"))


def test_the_end_says_what_has_no_number_and_why():
    outcome = Outcome(3, 1, 2, 4, {("a" * 40, "python"): "it does not build"},
                      {f"reason {number}": number for number in range(1, 16)})  # fmt: skip
    out = Console(file=io.StringIO(), width=100)
    outcome.show(out)
    text = out.file.getvalue()
    assert "3 measured, 1 shared" in text
    assert "2 known before, 4 left" in text
    assert "aaaaaaaaaa python: it does not build" in text
    assert "15 without a number: reason 15" in text
    assert "6 more, for 3 other reasons" in text


def test_the_time_left_is_said_once_and_by_what_builds_took(tell):
    jobs = [Job(Asked(commit * 40, "", frozenset()), "", {}) for commit in "abc"]
    runner = Runner(Plan(jobs), None, lambda *_: None, Outcome(), tell)
    runner.count(lambda _: Measured(), 1)
    said = [line.partition(" ")[2] for line in tell.text.splitlines()]
    # Next to nothing, after a guess of minutes; and a variant without a name leaves no gap.
    assert "measuring 2 more builds; about 0 s left" in said
    assert said[1].startswith("1/3 ")
    assert said[1].endswith("aaa: 0 numbers in 0 s")
