"""The command: one line and status 2 for what a person can mend; no child left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchproof import files
from benchproof.errors import NoSpaceError

ROOT = Path(__file__).resolve().parents[2]
SUITES = Path(__file__).resolve().parent / "suites"


@pytest.fixture
def benchproof(toy, cache):
    """Start the command in the toy's checkout."""

    def start(*arguments, **env):
        return subprocess.Popen(
            [sys.executable, "-m", "benchproof.cli", *map(str, arguments)],
            cwd=toy.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"BENCHPROOF_CACHE": str(cache),
                              "COLUMNS": "100"} | env,
            # A test session in the background of a shell inherits an ignored SIGINT, and so
            # would this process: a terminal's does not.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (the session has one thread)
        )  # fmt: skip

    return start


def finish(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def is_alive(child):
    """Whether a process runs; one that ended, and that nobody has waited for yet, does not."""
    try:
        return child.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["compare", "nope", "HEAD"], "unknown commit: 'nope'"),
        (["compare", "HEAD@impl:rust", "HEAD"], "the variants of this project are cython, python"),
        (["compare", "HEAD", ".", "--bench", "("], "is no regular expression"),
        (["compare", "HEAD", ".", "--meters", "luck"], "choose from wall"),
        (["compare", "HEAD", ".", "--suites", "nowhere"], "no folder of benchmarks"),
    ],
)
def test_bad_input_is_one_line_and_status_2(benchproof, arguments, line):
    status, out, err = finish(benchproof(*arguments))
    assert (status, out) == (2, "")
    assert line in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(("run", "--budget", "-3"), "--budget"),
     (("compare", "HEAD", "HEAD", "--budget", "nan"), "nan is no number of seconds"),
     (("compare", "HEAD", "HEAD", "--picture", "moved.png"), "name it moved.svg")],
)  # fmt: skip
def test_what_an_option_cannot_be_is_refused(benchproof, arguments, told):
    status, out, err = finish(benchproof(*arguments))
    assert (status, out) == (2, "")
    assert told in err


def test_a_history_without_a_number_is_no_pass(toy, benchproof):
    toy.commit("second")
    folder = toy.root / "reports" / "results" / "asv"
    folder.mkdir(parents=True)
    status, _, err = finish(benchproof("changes"))
    assert status == 2
    assert "holds no numbers yet: measure with `benchproof history`" in err


def test_a_dirty_tree_where_a_commit_was_asked_for_is_one_line(toy, benchproof):
    toy.commit("second")
    toy.write("driver/work.py", "x = 1\n")
    for arguments in (["compare", "HEAD~1", "HEAD"], ["run"]):
        status, out, err = finish(benchproof(*arguments, "--suites", SUITES))
        assert (status, out) == (2, "")
        assert "without your changes to driver/work.py" in err


def test_a_place_without_git_is_one_line(tmp_path):
    answer = subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "compare", "HEAD", "."],
        cwd=tmp_path, env=os.environ, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert answer.returncode == 2
    assert "not inside a git checkout" in answer.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_a_side_that_does_not_build_shows_the_compiler_s_last_lines(toy, benchproof):
    toy.edit("driver/_cython/work.c", "PyInit_work(void)", "PyInit_work(void")
    status, out, err = finish(benchproof("compare", "HEAD", ".", "--suites", SUITES))
    assert (status, out) == (2, "")
    assert err.endswith("benchproof: cython: . does not build (status 1)\n")
    assert err.count("work.c:4") == 1


@pytest.mark.slow
def test_without_a_compiler_the_sides_are_pure_and_said_to_be(toy, benchproof):
    toy.write("driver/more.py", "")
    status, out, err = finish(
        benchproof("compare", "HEAD", ".", "--suites", SUITES, "--meters", "allocations",
                "--bench", "spin", CC="/bin/false")
    )  # fmt: skip
    assert status == 0
    assert "measured as python, and not compiled: no C compiler works here" in err
    assert "[python]" in out


def wait_for(process, word):
    """Read the command's standard error up to a word."""
    seen = ""
    while word not in seen:
        line = process.stderr.readline()
        assert line, f"ended without saying {word!r}: {seen}"
        seen += line


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)]
)
def test_ctrl_c_ends_the_workers_and_keeps_a_partial_result(toy, benchproof, tmp_path, number):
    # Another build that is no slower: a regression, once seen, would outweigh the interruption.
    toy.edit("driver/work.py", "total += number", "total += number  # as before")
    toy.commit("a comment")
    kept = tmp_path / "kept.json"
    process = benchproof("compare", "HEAD~1", "HEAD", "--suites", SUITES, "--budget", "600",
                      "--meters", "allocations,wall", "--json", kept)  # fmt: skip
    wait_for(process, "timing")
    children = []
    while not children:
        children = psutil.Process(process.pid).children(recursive=True)
        time.sleep(0.01)
    process.send_signal(number)
    status, out, _ = finish(process)
    assert status == 2
    assert "PARTIAL" in out
    document = json.loads(kept.read_text())
    assert document["partial"]
    assert any(row["meters"] for row in document["cases"])
    assert not [child for child in children if is_alive(child)]


def test_a_full_disk_is_told_and_leaves_no_half_file(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr(files.os, "fdopen", full)
    with pytest.raises(NoSpaceError, match="no space left on the disk"):
        files.write_json({}, tmp_path / "x.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_during_a_comparison_is_one_line(toy, benchproof):
    toy.write("driver/more.py", "")
    status, _, err = finish(
        benchproof("compare", "HEAD", ".", "--suites", SUITES, "--meters", "allocations",
                "--json", "/dev/full/x.json")
    )  # fmt: skip
    assert status == 2
    assert "benchproof: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["compare", "run"])
def test_help_has_examples_and_the_exit_status(benchproof, command):
    status, out, _ = finish(benchproof(command, "--help"))
    assert status == 0
    assert "Examples:" in out
    assert "0 no regression, 1 regression, 2 could not measure" in out
