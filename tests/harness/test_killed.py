"""The harness is killed outright: nothing that it started runs on, and the next run clears up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchproof import files, processes
from benchproof.meters import instructions
from tests.harness.conftest import SUITES

#: Starts what `Crew` starts, a shell with a child of its own, says so, and waits to be killed.
OWNER = """
import sys, time
from pathlib import Path
from benchproof.processes import Crew
with Crew() as crew:
    crew.start(["sh", "-c", "sleep 77 & sleep 77"], log=crew.scratch / "log")
    print(crew.scratch, flush=True)
    time.sleep(77)
"""
#: Is killed where it would remove a file, if it does, before the folder of a run is there.
TRIES = """
import os, signal, sys
sys.addaudithook(lambda event, _: event == "os.remove" and os.kill(os.getpid(), signal.SIGKILL))
from benchproof import files
with files.scratch() as folder:
    print(folder, flush=True)
    os._exit(0)
"""
SECONDS = 120


def until(condition, what):
    end = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return found


def below(pid):
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def runs(process):
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def is_counting(process):
    try:
        return "--tool=callgrind" in process.cmdline() and "-P" in process.cmdline()
    except psutil.Error:
        return False


def kill_and_see(started, children):
    """SIGKILL, which no handler hears; then all that it started has to end."""
    started.kill()
    started.wait()
    until(lambda: not any(map(runs, children)), f"still running: {children}")


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(files.tempfile, "tempdir", str(folder))
    return folder


def test_no_trial_file_is_written_that_a_kill_would_leave(scratch):
    done = subprocess.run(
        [sys.executable, "-c", TRIES], capture_output=True, check=False, text=True
    )
    assert [done.returncode, *(str(each) for each in scratch.iterdir())] == [0, done.stdout.strip()]


def test_children_and_theirs_end_with_a_killed_harness_and_the_next_clears_its_folder(scratch):
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE) as owner:
        left = Path(owner.stdout.readline().decode().strip())
        children = until(lambda: (all_of := below(owner.pid))[3:] and all_of, "nothing started")
        kill_and_see(owner, children)
    assert left.parent == scratch.resolve()
    assert left.is_dir()
    with processes.Crew() as crew:
        assert not left.exists()
        assert list(scratch.iterdir()) == [crew.scratch]
    assert not list(scratch.iterdir())


def test_a_folder_in_use_is_not_cleared(scratch):
    with files.scratch() as one, files.scratch() as two:
        assert {one, two} == set(scratch.resolve().iterdir())


def test_a_folder_of_somebody_else_s_making_is_not_cleared(scratch):
    other = scratch / "benchproof-notes"
    other.mkdir()
    (scratch / "benchproof-run-link").symlink_to(other)
    with files.scratch():
        pass
    assert {entry.name for entry in scratch.iterdir()} == {other.name, "benchproof-run-link"}


def test_what_a_child_writes_for_a_moment_lies_in_the_crew_s_folder():
    code = "import tempfile; print(tempfile.gettempdir())"
    with processes.Crew() as crew:
        for env in (None, {"TMPDIR": "/elsewhere"}):
            log = crew.scratch / "log"
            crew.wait(crew.start([sys.executable, "-c", code], log=log, env=env))
            assert log.read_text(encoding="utf-8").strip() == str(crew.scratch)


def test_stopping_ends_a_child_that_ignores_the_polite_signal(monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 0.2)
    with processes.Crew() as crew:
        command = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]
        child = crew.start(command, log=crew.scratch / "log")
        until(child.log.read_text, "it does not start")
        crew.stop()
        assert child.process.returncode == -signal.SIGKILL
        with pytest.raises(RuntimeError, match="stopped"):
            crew.start(["true"], log=child.log)


def test_a_write_that_was_killed_half_way_leaves_the_old_file_and_is_taken_up(tmp_path):
    file = tmp_path / "results.json"
    files.write("old", file)
    code = """
import os, signal, sys
from pathlib import Path
from benchproof import files
def die(partial, file):
    os.truncate(partial, 3)
    os.kill(os.getpid(), signal.SIGKILL)
Path.replace = die
files.write("the new one", Path(sys.argv[1]))
"""
    done = subprocess.run([sys.executable, "-c", code, file], check=False)
    assert done.returncode == -signal.SIGKILL
    assert file.read_text(encoding="utf-8") == "old"
    assert len(list(tmp_path.iterdir())) == 2
    files.write("newer", file)
    assert file.read_text(encoding="utf-8") == "newer"
    assert list(tmp_path.iterdir()) == [file]


def test_many_writers_of_one_file_leave_one_whole_version(tmp_path):
    file = tmp_path / "results.json"
    code = """
import sys
from pathlib import Path
from benchproof import files
for number in range(60):
    files.write(sys.argv[2] * (1 + number * 150), Path(sys.argv[1]))
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, file, word]) for word in "abc"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if file.exists():
            seen.add("".join(sorted(set(file.read_text(encoding="utf-8")))))
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert seen <= {"a", "b", "c"}
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.slow
@pytest.mark.skipif(bool(instructions.why_not()), reason=f"instructions: {instructions.why_not()}")
def test_a_killed_compare_leaves_no_worker_and_the_next_command_clears_up(toy, scratch, cache):
    toy.edit("driver/work.py", "total = 0", "total = 0 * sum(range(100_000))")
    toy.commit("slow enough to be caught")
    env = os.environ | {"BENCHPROOF_CACHE": str(cache)}
    command = [
        sys.executable, "-m", "benchproof.cli", "compare", "HEAD~1", "HEAD", "--impl", "python",
        "--meters", "instructions", "--suites", str(SUITES), "--bench", "spin",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=toy.root, env=env, stderr=subprocess.DEVNULL) as compare:

        def counting():
            found = below(compare.pid)
            return any(map(is_counting, found)) and found

        kill_and_see(compare, until(counting, "no worker was seen"))
    left = set(scratch.iterdir())
    assert left
    done = subprocess.run(
        [*command[:3], "list", "--suites", str(SUITES)],
        cwd=toy.root, env=env, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not left & set(scratch.iterdir())
