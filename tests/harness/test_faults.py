"""What goes wrong while a gate runs: a clear line, exit status 2 or a named exclusion, no pass."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from benchproof import judge, timing
from benchproof.compare import Request, compare
from benchproof.errors import WorkerError
from benchproof.meters import instructions
from benchproof.processes import Crew
from tests.harness.conftest import SUITES

ROOT = Path(__file__).resolve().parents[2]
ASKED = Request(
    "HEAD~1", "HEAD", meters=("allocations", "bytes"), impls=("python",), gate=True
)  # fmt: skip
WALL = replace(ASKED, meters=("wall",), budget=1, quick=True, bench="spin")
needs_valgrind = pytest.mark.skipif(
    bool(instructions.why_not()), reason=f"instructions: {instructions.why_not()}"
)


SCHEMA = json.loads(Path(judge.__file__).with_name("schema.json").read_text(encoding="utf-8"))


def gate(asked, place, tell):
    document = json.loads(json.dumps(compare(asked, place, tell).document, allow_nan=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def row(document, case):
    (found,) = [r for r in document["cases"] if r["case"] == case]
    return found


def cannot_measure(document):
    """The words with which a gate says so."""
    assert document["verdict"]["status"] == "could not measure"
    assert document["verdict"]["exit"] == 2
    return document["verdict"]["summary"]


@pytest.fixture
def edited(toy, place):
    """A repository whose newest commit changes a word."""
    toy.edit("driver/work.py", "total = 0", "total = 0  # a word")
    toy.commit("a word")
    return place


# A worker is killed.


@pytest.mark.slow
@pytest.mark.parametrize("task", ["prove", "allocations", "discover"])
def test_a_killed_worker_is_named_with_its_signal(edited, tell, monkeypatch, task):
    start = Crew.start

    def start_and_kill(self, command, *, cwd=None, **more):
        child = start(self, command, cwd=cwd, **more)
        if cwd is not None and cwd.name.startswith(task):
            os.kill(child.process.pid, signal.SIGKILL)
        return child

    monkeypatch.setattr(Crew, "start", start_and_kill)
    assert "SIGKILL" in cannot_measure(document := gate(ASKED, edited, tell))
    assert document["trouble"]


@pytest.mark.slow
def test_a_worker_killed_half_way_leaves_errors_for_what_it_did_not_reach(toy, place, tell):
    # The proof calls it once, counting often.
    toy.edit(
        "driver/work.py",
        "def spin(times):\n",
        """
import os, signal
calls = []
def spin(times):
    calls.append(1)
    if "memray" in __import__("sys").modules:
        os.kill(os.getpid(), signal.SIGKILL)
""",
    )
    toy.commit("is killed while allocations are counted")
    document = gate(ASKED, place, tell)
    cannot_measure(document)
    assert row(document, "spin")["status"] == "error"
    assert "right: the worker was killed by SIGKILL" in row(document, "spin")["why"]


@pytest.mark.slow
def test_a_worker_that_dies_after_its_last_answer_is_not_believed(toy, place, tell):
    toy.edit(
        "driver/work.py",
        "def spin",
        """
import atexit, os, signal
atexit.register(os.kill, os.getpid(), signal.SIGSEGV)
def spin""",
    )
    toy.commit("crashes at the end")
    assert "SIGSEGV" in cannot_measure(gate(ASKED, place, tell))


@pytest.mark.slow
def test_a_regression_of_one_implementation_is_told_though_the_other_cannot_be_measured(
    toy, place, tell, compiler
):
    assert compiler.compiles
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.edit("driver/_cython/work.c", "PyInit_work(void)", "PyInit_work(void")
    toy.commit("heavier, and does not compile")
    document = gate(replace(ASKED, impls=("cython", "python"), bench="spin"), place, tell)
    assert document["verdict"]["exit"] == 1
    assert "HEAD does not build" in document["verdict"]["summary"]
    assert [(each["impl"], each["why"].splitlines()[0]) for each in document["trouble"]] == [
        ("cython", "HEAD does not build (status 1):")
    ]


# A head that does not build, or does not import.


@pytest.mark.slow
def test_a_head_that_does_not_build_cannot_be_measured(toy, place, tell):
    toy.write("setup.py", "raise SystemExit('no build today')\n")
    toy.commit("broken")
    document = gate(ASKED, place, tell)
    assert "HEAD does not build" in cannot_measure(document)
    assert "no build today" in document["trouble"][0]["why"]
    assert document["cases"] == []


@pytest.mark.slow
def test_a_base_that_does_not_build_cannot_be_measured_either(toy, place, tell):
    toy.write("setup.py", "raise SystemExit('no build today')\n")
    toy.commit("broken")
    toy.git("revert", "--no-edit", "HEAD")
    assert "HEAD~1 does not build" in cannot_measure(gate(ASKED, place, tell))


@pytest.mark.slow
def test_a_head_that_does_not_import_cannot_be_measured(toy, place, tell):
    toy.write("driver/__init__.py", "raise RuntimeError('no import today')\n")
    toy.commit("does not import")
    assert "no import today" in cannot_measure(gate(ASKED, place, tell))


# A benchmark raises on one side only.


@pytest.mark.slow
@pytest.mark.parametrize(("base", "head", "side"), [("HEAD~1", "HEAD", "right"),
                                                   ("HEAD", "HEAD~1", "left")])  # fmt: skip
def test_a_benchmark_that_raises_on_one_side_only_is_an_error(toy, place, tell, base, head, side):
    toy.edit("driver/work.py", "[bytearray(100) for _ in range(number)]", "1 / 0")
    toy.edit("driver/work.py", "total = 0", "total = 0  # a word")
    toy.commit("raises")
    document = gate(replace(ASKED, left=base, right=head), place, tell)
    cannot_measure(document)
    boxes = row(document, "boxes")
    assert (boxes["status"], boxes["meters"], boxes["verdict"]) == ("error", {}, None)
    assert boxes["why"].startswith(f"{side}: ZeroDivisionError")
    # What can be measured is.
    assert row(document, "spin")["verdict"] == "equivalent"


# A suite is renamed between base and head.


@pytest.fixture
def renamed(toy, place):
    """Suites inside of the repository, one of which the newest commit renames."""
    shutil.copytree(SUITES, toy.root / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    toy.edit("suites/__init__.py", '"""Bench', 'r"""Bench')
    toy.commit("with suites")
    toy.git("mv", "suites/toy.py", "suites/toys.py")
    toy.edit("driver/work.py", "total = 0", "total = 0  # a word")
    toy.commit("renamed")
    return replace(place, suites=toy.root / "suites")


@pytest.mark.slow
def test_a_renamed_suite_is_measured_as_it_is_called_now_and_its_old_name_is_excluded(
    renamed, tell
):
    document = gate(ASKED, renamed, tell)
    assert {r["name"] for r in document["cases"]} == {
        "toys.time_boxes", "toys.time_newer", "toys.time_spin",
    }  # fmt: skip
    assert [(each["name"], each["why"]) for each in document["excluded"]] == [
        (f"toy.time_{case}", f"at the base but not at the head (renamed to toys.time_{case}?)")
        for case in ("boxes", "newer", "spin")
    ]
    assert "3 excluded by name" in document["verdict"]["summary"]


@pytest.mark.slow
def test_the_head_s_definitions_are_measured_whatever_lies_in_the_working_tree(renamed, toy, tell):
    toy.write("suites/toys.py", "raise RuntimeError('not committed')\n")
    document = gate(replace(ASKED, committed=True, bench="spin"), renamed, tell)
    assert row(document, "spin")["name"] == "toys.time_spin"
    assert row(document, "spin")["verdict"] == "equivalent"


@pytest.mark.slow
def test_a_base_whose_benchmarks_cannot_be_listed_is_no_pass(renamed, toy, tell):
    toy.git("checkout", "--quiet", "-b", "other", "HEAD~1")
    toy.write("suites/toy.py", "import nothing_of_that_name\n")
    toy.commit("cannot be imported")
    toy.git("checkout", "--quiet", "main")
    document = gate(replace(ASKED, left="other"), renamed, tell)
    assert "the base's benchmarks cannot be listed" in cannot_measure(document)


@pytest.fixture
def half_broken(toy, place, tmp_path):
    """Suites of which one module does not import, and a commit that changes a word."""
    suites = tmp_path / "suites"
    shutil.copytree(SUITES, suites, ignore=shutil.ignore_patterns("__pycache__"))
    (suites / "broken.py").write_text("import nonexistent_zz\n\n\ndef time_it():\n    pass\n")
    toy.edit("driver/work.py", "total = 0", "total = 0  # a word")
    toy.commit("a word")
    return replace(place, suites=suites)


BROKEN = "suites/broken.py:1 does not import: ModuleNotFoundError: No module named 'nonexistent_zz'"


@pytest.mark.slow
def test_a_suite_that_does_not_import_stops_no_other_and_is_no_pass(half_broken, tell):
    document = gate(ASKED, half_broken, tell)
    assert cannot_measure(document).startswith(f"{BROKEN}; 3 benchmarks: 2 equivalent")
    assert [each["why"] for each in document["excluded"]] == [f"not measured: {BROKEN}"]
    assert row(document, "spin")["verdict"] == "equivalent"


@pytest.mark.slow
def test_where_no_other_benchmark_was_chosen_the_broken_suite_is_the_answer(half_broken, tell):
    asked = replace(ASKED, bench="broken.time_it", gate=False)
    with pytest.raises(WorkerError) as failure:
        compare(asked, half_broken, tell)
    assert BROKEN in str(failure.value)
    assert "\n" not in str(failure.value)


# Clocks jump.

JUMPS = {
    "forward": "now + 5 * (calls[0] % 2 == 0) * calls[0]",
    "back": "now - calls[0] * 0.01",
    "stands still": "1000.0",
}
CLOCK = """
import time
_clock, calls = time.perf_counter, [0]
def jumping():
    calls[0] += 1
    now = _clock()
    return {formula}
if {condition}:
    time.perf_counter = jumping
def spin"""


def with_clock(toy, formula, condition):
    toy.edit("driver/work.py", "def spin", CLOCK.format(formula=formula, condition=condition))
    toy.commit("a clock that jumps")


#: What only a worker for wall time has in its environment.
TIMING = '__import__("os").environ["PYTHONHASHSEED"] != "0"'


@pytest.mark.slow
@pytest.mark.parametrize("jump", list(JUMPS))
def test_a_clock_that_always_jumps_is_no_clock(toy, place, tell, jump):
    with_clock(toy, JUMPS[jump], TIMING)
    document = gate(WALL, place, tell)
    assert "wall time cannot be measured here" in cannot_measure(document)
    assert "wall" not in row(document, "spin")["meters"]
    assert document["excluded"]
    assert all("right: the clock" in each["why"] for each in document["excluded"])


@pytest.mark.slow
def test_a_process_whose_clock_jumped_once_is_thrown_away_by_name(toy, place, tell):
    # One process in three, by its hash seed.
    seldom = f'{TIMING} and int(__import__("os").environ["PYTHONHASHSEED"]) % 8 == 0'
    with_clock(toy, JUMPS["back"], seldom)
    seed = next(s for s in range(1000) if jumps_once(s))
    document = gate(replace(WALL, seed=seed), place, tell)
    (excluded,) = document["excluded"]
    assert excluded["name"].startswith("wall_time.block_")
    assert excluded["why"].startswith("thrown away: right: the clock")
    wall = row(document, "spin")["meters"]["wall"]
    assert len(wall["left_samples"]) == len(wall["right_samples"]) == timing.QUICK_BLOCKS
    assert "1 excluded by name" in document["verdict"]["summary"]


def jumps_once(seed):
    """Whether exactly one of the first blocks of a seed has a process that jumps."""
    from itertools import islice

    from benchproof import plan

    first = islice(plan.blocks(seed), timing.QUICK_BLOCKS + 1)
    return [block.hash_seed % 8 == 0 for block in first] == [False, True, False, False, False]


@pytest.mark.slow
def test_a_clock_that_jumps_while_loops_are_planned_is_an_error(toy, place, tell):
    with_clock(toy, JUMPS["stands still"], "True")
    document = gate(replace(ASKED, bench="spin"), place, tell)
    cannot_measure(document)
    assert "the clock" in row(document, "spin")["why"]


# The disk is full.


def on_a_small_disk(tmp_path, toy, size, *, scratch, cache, more=()):
    """Run the command where some folder is a disk of its own, that is soon full."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f'mount -t tmpfs -o size={size} none "{disk}"'
    if (
        shutil.which("unshare") is None
        or subprocess.run(
            ["unshare", "-rm", "sh", "-c", mount], check=False, capture_output=True
        ).returncode
    ):
        pytest.skip("no file system can be mounted here")
    env = os.environ | {
        "TMPDIR": str(disk if scratch else tmp_path),
        "BENCHPROOF_CACHE": str(disk if cache else tmp_path / "cache"),
    }
    command = [
        sys.executable, "-m", "benchproof.cli", "gate", "HEAD~1", "HEAD", "--suites", str(SUITES),
        "--impl", "python", "--no-profile", *more,
    ]  # fmt: skip
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh", *command],
        check=False, capture_output=True, text=True, env=env, cwd=toy.root,
    )  # fmt: skip


def says_so(answer):
    words = answer.stdout + answer.stderr
    assert answer.returncode == 2, words
    assert "Traceback" not in words, words
    return " ".join(words.split())


@pytest.mark.slow
@pytest.mark.usefixtures("edited")
def test_a_disk_that_is_full_of_builds_is_told(toy, tmp_path):
    answer = on_a_small_disk(tmp_path, toy, "40k", scratch=False, cache=True)
    assert "no space left on the disk" in says_so(answer)


@pytest.mark.slow
@needs_valgrind
@pytest.mark.usefixtures("edited")
def test_a_disk_that_is_full_of_dumps_is_told(toy, tmp_path):
    more = ("--meters", "instructions")
    answer = on_a_small_disk(tmp_path, toy, "200k", scratch=True, cache=False, more=more)
    assert "no space left on the disk" in says_so(answer)


@pytest.mark.slow
def test_a_disk_that_is_full_of_recordings_is_told(toy, tmp_path):
    toy.edit("driver/work.py", "total = 0", "total = 0 * len([bytearray(9) for _ in range(50000)])")
    toy.commit("so many allocations that recording them takes a megabyte")
    more = ("--meters", "allocations")
    answer = on_a_small_disk(tmp_path, toy, "300k", scratch=True, cache=False, more=more)
    assert "no space left on the disk" in says_so(answer)


@pytest.mark.slow
@pytest.mark.usefixtures("edited")
def test_a_result_that_does_not_fit_on_the_disk_is_no_pass(toy, tmp_path):
    more = ("--meters", "allocations", "--json", str(tmp_path / "disk" / "gate.json"))
    answer = on_a_small_disk(tmp_path, toy, "4k", scratch=False, cache=False, more=more)
    assert "no space left on the disk" in says_so(answer)
