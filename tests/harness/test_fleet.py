"""`benchproof history --scheduler`: real workers of dask, which die, differ, or are not there."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from calibration.kept import Kept

from tests.harness import loop_project as loop
from tests.harness.conftest import NIGHTLY, SUITES
from tests.harness.test_meters import needs_memray

distributed = pytest.importorskip("distributed")
fleet, config = pytest.importorskip("benchproof.fleet"), pytest.importorskip("dask.config")
pytestmark = pytest.mark.slow
#: A history that is counted twice, with all meters each night: 12 seconds for a commit.
COMMITS, METERS = (20, "exact") if NIGHTLY else (4, "bytes")
#: What a worker is told to be, by what of it is replaced before it starts.
OTHER = {
    "processor": "from benchproof import provenance\nprovenance.cpu_model = lambda: 'abacus'\n",
    "Python": "import platform\nplatform.python_version = lambda: '2.7.18'\n",
    "benchproof": "import importlib.metadata as m\nm.version = lambda name, old=m.version: "
                  "'0.0.7' if name == 'benchproof' else old(name)\n",
    "variables": "import os\nos.environ['CFLAGS'] = '-O0'\n",
}  # fmt: skip
#: Of a build that writes a variable down, and what the benchmark does with it.
SETUP = """import os
from setuptools import setup

with open("src/acme/built.py", "w") as out:
    out.write(f'SIZE = {os.environ.get("ACME_SIZE")}')
setup()
"""
SIZED = """from acme.built import SIZE


def spin(times):
    bytearray(SIZE)"""


@pytest.fixture
def variables(cache):
    """Of the client and its workers, whose folders are below a TMPDIR that nothing else uses."""
    with tempfile.TemporaryDirectory() as folder:
        yield os.environ | {"BENCHPROOF_CACHE": str(cache), "TMPDIR": folder}


@pytest.fixture
def dask(tmp_path, variables):
    """Start parts of dask on loopback; all are ended, by their numbers."""
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments], stderr=subprocess.PIPE, text=True,
            cwd=tmp_path, env=variables,
        )  # fmt: skip
        started.append(process)
        for line in process.stderr:
            if "Scheduler at:" in line:
                return re.search(r"tcp://127\.0\.0\.1:\d+", line)[0]
            if "Starting established connection" in line:
                break
        return process

    yield start
    for process in started:
        for each in (*psutil.Process(process.pid).children(recursive=True), process) * (
            process.poll() is None
        ):
            each.kill()
        process.communicate()


@pytest.fixture
def scheduler(dask):
    return dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")


@pytest.fixture
def worker(dask, scheduler, tmp_path):
    def start(preload=""):
        more = []
        if preload:
            (tmp_path / "other.py").write_text(preload)
            more = ["--preload", str(tmp_path / "other.py")]
        return dask("worker", scheduler, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny",
                    "--no-dashboard", *more)  # fmt: skip

    return start


@pytest.fixture
def measured(toy):
    for file in SUITES.glob("*.py"):
        toy.write(f"asv_benchmarks/{file.name}", file.read_text())
    toy.git("add", "--all")
    toy.git("commit", "--quiet", "--amend", "--no-edit")
    return toy


@pytest.fixture
def history(measured, variables):
    def start(results, *arguments):
        command = [sys.executable, "-m", "benchproof.cli", "history",
                   "--impl", "python", "--machine", "box", "--bench", "spin|boxes",
                   "--results", results, *arguments]  # fmt: skip
        return subprocess.Popen(
            command, cwd=measured.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=variables,
            # A session in the background of a shell ignores SIGINT, and what it starts inherits it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (the session has one thread)
        )  # fmt: skip

    return start


@pytest.fixture
def ranking(tmp_path, variables):
    """Rank three branches of a project, whose build reads a variable."""
    project = loop.make(tmp_path / "acme")
    project.edit("pyproject.toml", "[tool.benchproof]", loop.READS)
    project.write("setup.py", SETUP)
    project.edit(loop.WORK, "def spin(times):", SIZED)
    project.commit("a variable")
    for name in ("sum", "dict"):
        project.git("checkout", "--quiet", "-b", name, "main")
        project.edit(*loop.FASTER[name])
        project.commit(name)
    project.git("checkout", "--quiet", "main")

    def start(document, *arguments):
        command = [sys.executable, "-m", "benchproof.cli", "rank", "--base", "main", "sum", "dict",
                   "--bench", "spin|unique", "--meters", "bytes", "--json", document,
                   *arguments]  # fmt: skip
        return subprocess.Popen(
            command, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=variables | {"ACME_SIZE": "54321"},
        )  # fmt: skip

    return start


def commits(toy, number):
    for size in range(200, 100 + 100 * number, 100):
        toy.edit("driver/work.py", f"bytearray({size - 100})", f"bytearray({size})")
        toy.commit(f"boxes of {size}")


def numbers(results):
    """By file, what stands in it; and what was noted of each commit."""
    held = {file.name: json.loads(file.read_text())["results"]
            for file in results.glob("box/*.json") if file.name != "machine.json"}  # fmt: skip
    lines = (results / "box" / "measured.jsonl").read_text().splitlines()
    return held, [json.loads(line) for line in lines]


@needs_memray
def test_two_workers_one_killed_give_what_one_machine_gives_once_each(
    toy, history, worker, scheduler, tmp_path
):
    commits(toy, COMMITS)
    alone, spread = tmp_path / "alone", tmp_path / "many!"
    _, err = history(alone, "--meters", METERS, "--jobs", "1").communicate(timeout=900)
    one, _ = worker(), worker()
    process = history(spread, "--meters", METERS, "--scheduler", scheduler)
    said = []
    for line in process.stderr:
        said.append(line)
        if f"2/{COMMITS}" in line:
            one.send_signal(signal.SIGKILL)
            break
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, (said, err)
    assert f"{COMMITS} measured" in out
    expected, _ = numbers(alone)
    found, notes = numbers(spread)
    assert len(expected) == COMMITS
    for name, held in expected.items():
        assert found[name] == held, name
    assert len({note["commit"] for note in notes}) == len(notes) == COMMITS
    assert all(note["host"] and note["platform"]["cpu"] for note in notes)


def test_a_worker_that_is_there_is_seen_at_every_look(scheduler, worker):
    worker()
    # A client of dask replaces what it remembers of the workers every 2 s: here, all the time.
    with config.set({"distributed.client.scheduler-info-interval": "1ms"}):
        client = distributed.Client(scheduler, set_as_default=False)
    with client:
        assert {len(fleet.workers(client)) for _ in range(2000)} == {1}


@needs_memray
@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_was_ended_goes_on_where_it_was(
    toy, history, worker, scheduler, tmp_path, number
):
    commits(toy, 4)
    worker()
    arguments = (tmp_path / "kept", "--scheduler", scheduler, "--meters", "bytes")
    process = history(*arguments)
    for line in process.stderr:
        if "2/4" in line:
            process.send_signal(number)
            break
    _, err = process.communicate(timeout=60)
    if number == signal.SIGINT:
        assert process.returncode == 2, err
        assert "the same command goes on" in err
        assert "Traceback" not in err
    out, err = history(*arguments).communicate(timeout=300)
    known = int(re.search(r"(\d+) known before", out)[1])
    assert 2 <= known < 4, err
    found, notes = numbers(tmp_path / "kept")
    assert len(found) == 4
    assert len({note["commit"] for note in notes}) == len(notes)


@needs_memray
@pytest.mark.nightly
def test_a_ranking_by_workers_is_that_of_one_machine(ranking, worker, scheduler, tmp_path, cache):
    workers = worker(), worker()
    process = ranking(tmp_path / "many.json", "--scheduler", scheduler)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert "2 workers measure" in err
    assert len(workers) == 2
    (found := json.loads((tmp_path / "many.json").read_text())).pop("created")
    shutil.rmtree(cache / "rank")
    process = ranking(tmp_path / "alone.json")
    _, err = process.communicate(timeout=600)
    assert "measured before" not in err
    (alone := json.loads((tmp_path / "alone.json").read_text())).pop("created")
    for row in (*found["branches"], *filter(None, [found["together"]])):
        assert row.pop("host")
    assert found == alone
    spin = next(case for case in alone["branches"][0]["cases"] if case["name"] == "work.time_spin")
    assert spin["left"] > 54321  # the client's variable, on each machine


@needs_memray
@pytest.mark.nightly
def test_whole_gates_of_a_calibration_run_on_workers_once_each(
    measured, variables, worker, scheduler, tmp_path
):
    worker(), worker()
    command = [sys.executable, Path(__file__).parents[2] / "scripts/calibrate", "aa", "neutral",
               "--runs", "2", "--bench", "spin", "--meters", "bytes", "--impl", "python",
               "--reports", tmp_path / "reports", "--scheduler", scheduler]  # fmt: skip
    for gates in ("4 gates", "nothing"):
        done = subprocess.run(command, cwd=measured.root, env=variables, timeout=600,
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        rows = Kept(tmp_path / "reports" / "calibration" / "gates.jsonl.gz").rows()
        assert sorted((row["kind"], row["number"]) for row in rows) == [
            ("neutral", 0), ("neutral", 1), ("same", 0), ("same", 1),
        ], gates  # fmt: skip
        assert all(row["host"] and row["seconds"] > 0 and row["said"] == [] for row in rows)
        assert all(row["meters"]["bytes"]["equivalent"] == 1 for row in rows)
        assert ("2 of 2 gates, by " in done.stderr) == (gates == "4 gates")


@pytest.mark.parametrize("what", OTHER)
def test_a_worker_that_is_another_is_left_out_by_a_line(history, worker, scheduler, tmp_path, what):
    worker(OTHER[what])
    process = history(tmp_path / "kept", "--scheduler", scheduler, "--meters", "bytes")
    _, err = process.communicate(timeout=600)
    assert process.returncode == 2, err
    assert re.search(rf"tcp://127\.0\.0\.1:\d+ is left out: {what} ", err)
    assert "none of the 1 workers" in err
    assert "Traceback" not in err
    assert not list((tmp_path / "kept").glob("box/*-*.json"))


def test_a_scheduler_that_does_not_answer_is_one_line_and_status_2(history, tmp_path):
    process = history(tmp_path / "kept", "--scheduler", "tcp://127.0.0.1:9", "--meters", "bytes")
    started = time.monotonic()
    _, err = process.communicate(timeout=600)
    assert process.returncode == 2, started
    assert "no scheduler of dask answers at tcp://127.0.0.1:9" in err
    assert "Traceback" not in err


def test_wall_time_with_a_scheduler_is_refused_by_a_line(history, tmp_path):
    process = history(tmp_path / "kept", "--scheduler", "tcp://127.0.0.1:9", "--wall")
    _, err = process.communicate(timeout=600)
    assert process.returncode == 2, err
    assert "--scheduler is for exact meters" in err
