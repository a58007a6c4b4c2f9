"""`benchproof gate` as a person or a CI system runs it, on the toy driver."""

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import psutil
import pytest

from benchproof.compare import Request
from benchproof.errors import BenchproofError
from benchproof.gate import passed
from benchproof.gate.report import words
from benchproof.meters import instructions
from tests.harness.conftest import SUITES

ROOT = Path(__file__).resolve().parents[2]
PART = ("--impl", "python", "--meters", "allocations", "--bench", "spin", "--no-profile")


def benchproof(toy, cache, *words):
    """Run the command in a repository."""
    env = os.environ | {"BENCHPROOF_CACHE": str(cache), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "gate", *words, "--suites", str(SUITES)],
        check=False, capture_output=True, text=True, env=env, cwd=toy.root,
    )  # fmt: skip


@pytest.fixture
def heavier(toy):
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more")
    return toy


@pytest.mark.slow
def test_a_regression_is_told_to_people_machines_and_pull_requests(heavier, cache, tmp_path):
    files = {name: tmp_path / "out" / f"gate.{name}" for name in ("json", "markdown", "junit")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    answer = benchproof(heavier, cache, "HEAD~1", "HEAD", *PART, *options)
    assert answer.returncode == 1, answer.stderr
    assert answer.stdout.strip().splitlines()[-1].startswith("regression: 1 benchmark: 1 regre")
    assert json.loads(files["json"].read_text())["verdict"]["exit"] == 1
    assert "toy.time_spin" in files["markdown"].read_text()
    (suite,) = ET.parse(files["junit"]).getroot()  # noqa: S314  (we wrote it)
    assert suite.get("failures") == "1"


@pytest.mark.slow
def test_what_an_earlier_gate_wrote_does_not_outlive_one_that_cannot_begin(toy, cache, tmp_path):
    old = tmp_path / "gate.json"
    old.write_text('{"verdict": {"exit": 0}}')
    answer = benchproof(toy, cache, "no-such-commit", "HEAD", "--json", str(old))
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "unknown commit: 'no-such-commit'" in answer.stderr
    assert not old.exists()


@pytest.mark.slow
def test_a_head_that_does_not_build_still_gets_a_document(toy, cache, tmp_path):
    toy.write("setup.py", "raise SystemExit('no build today')\n")
    toy.commit("broken")
    file = tmp_path / "gate.json"
    answer = benchproof(toy, cache, "HEAD~1", "HEAD", *PART, "--json", str(file))
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
    kept = json.loads(file.read_text())
    assert kept["verdict"]["status"] == "could not measure"
    assert "no build today" in kept["trouble"][0]["why"]


def test_without_a_record_of_a_pass_the_gate_says_what_to_do(toy, cache):
    answer = benchproof(toy, cache, "--meters", "exact")
    assert answer.returncode == 2
    assert "no gate has passed yet" in answer.stderr
    assert "benchproof gate BASE HEAD --record" in answer.stderr


@pytest.mark.slow
@pytest.mark.skipif(bool(instructions.why_not()), reason=f"{instructions.why_not()}")
@pytest.mark.usefixtures("compiler")
def test_ctrl_c_while_both_implementations_are_counted_ends_all_workers(toy, cache, tmp_path):
    toy.edit("driver/work.py", "total = 0", "total = 0  # a word")
    toy.commit("a word")
    kept = tmp_path / "gate.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "benchproof.cli", "gate", "HEAD~1", "HEAD", "--meters", "exact",
         "--suites", str(SUITES), "--json", str(kept)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=toy.root,
        env=os.environ | {"BENCHPROOF_CACHE": str(cache)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (the session has one thread)
    )  # fmt: skip
    seen = ""
    while seen.count("counting instructions") < 2:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "Traceback" not in words
    assert "killed" not in words
    if kept.exists():  # on a busy machine one of the two may have numbers before the other begins
        assert json.loads(kept.read_text())["partial"]
    else:  # one line, and no table of what was not reached
        assert words.strip().splitlines()[-1] == "benchproof: stopped before anything was measured"
    assert not [child for child in children if child.is_running()]


# The record of the last pass.


def document(toy, **head):
    about = {"commit": toy.git("rev-parse", "HEAD"), "content": "c", "dirty": False} | head
    left = {"commit": "b" * 40, "content": "before"}
    return {"left": left, "right": about, "created": "2026-01-02T03:04:05+00:00",
            "provenance": {"cpu": "a processor"}, "accepted": [], "cases": [], "suites": [],
            "verdict": {"status": "no regression", "exit": 0}}  # fmt: skip


def content(place, revision):
    from benchproof import targets

    return targets.content_of(place.checkout, place.checkout.commit(revision))


def test_a_recorded_pass_is_the_next_gate_s_base(toy, place, tmp_path):
    file = tmp_path / "reports" / passed.FILE
    kept = passed.record(document(toy), file)
    assert passed.load(file) == kept
    toy.commit("later")
    assert passed.base(kept, place.checkout, "HEAD") == (toy.git("rev-parse", "HEAD~1"), "")


def test_a_pass_whose_commit_was_rebased_away_is_found_by_its_driver(toy, place):
    kept = passed.Passed("f" * 40, content(place, "HEAD"), "")
    first = toy.git("rev-parse", "HEAD")
    toy.edit("driver/work.py", "total = 0", "total = 0  # a word")
    toy.commit("later")
    commit, words = passed.base(kept, place.checkout, "HEAD")
    assert commit == first
    assert "ffffffffff, which is not in this clone" in words


def test_a_pass_that_no_ancestor_shares_is_told_with_what_to_do(toy, place, tmp_path):
    kept = passed.Passed("f" * 40, "another driver", "")
    with pytest.raises(passed.NoBaseError, match="git fetch, or name the base"):
        passed.base(kept, place.checkout, "HEAD")
    toy.commit("second")
    clone = tmp_path / "shallow"
    toy.git("clone", "--quiet", "--depth=1", f"file://{toy.root}", str(clone))
    shallow = type(place.checkout)(clone)
    with pytest.raises(passed.NoBaseError, match="git fetch --unshallow"):
        passed.base(kept, shallow, "HEAD")


def test_a_record_that_cannot_be_read_is_told(tmp_path):
    file = tmp_path / "passed.json"
    file.write_text("[]")
    with pytest.raises(passed.NoBaseError, match="cannot be read"):
        passed.load(file)


def drifted(toy, left, right, **ratios):
    """A gate of two contents in which a case has these ratios."""
    meters = {meter: {"ratio": ratio, "limit": 0.003} for meter, ratio in ratios.items()}
    case = {"impl": "cython", "name": "bind.time_x(1, 2)", "meters": meters}
    return document(toy, content=right) | {
        "left": {"commit": "b" * 40, "content": left},
        "cases": [case],
    }


def test_small_steps_of_many_passes_are_seen_as_drift(toy, tmp_path):
    file = tmp_path / "passed.json"
    for n in range(4):
        passed.record(drifted(toy, f"c{n}", f"c{n + 1}", instructions=1.002, bytes=1.0), file)
    kept = passed.load(file).pin
    assert (kept.name, kept.passes) == ("b" * 10, 4)
    found = kept.drift(drifted(toy, "c4", "c5", instructions=1.002, bytes=1.0))
    (row,) = found["rows"]
    assert row == {"impl": "cython", "meter": "instructions", "name": "bind.time_x(1, 2)",
                   "ratio": pytest.approx(1.002**5, abs=1e-5)}  # fmt: skip
    (told,) = words.drift({"drift": found})
    assert told.startswith("Drift since bbbbbbbbbb, 4 passes ago: 1 worse, 0 better: bind.time_x")
    assert kept.drift(drifted(toy, "c4", "c5", instructions=0.99))["rows"] == []
    assert kept.drift(document(toy))["rows"] == [], "a case that is gone has no drift"


def test_drift_begins_anew_where_a_release_is_pinned_or_the_base_was_another(toy, tmp_path):
    file = tmp_path / "passed.json"
    passed.record(drifted(toy, "c0", "c1", instructions=1.002), file)
    passed.record(drifted(toy, "c1", "c2", instructions=1.002), file, "2.1")
    assert passed.load(file).pin == passed.Pin("2.1")
    passed.record(drifted(toy, "c2", "c3", instructions=1.002), file)
    assert passed.load(file).pin.passes == 1
    passed.record(drifted(toy, "another", "c4", instructions=1.002), file)
    assert passed.load(file).pin.name == "b" * 10


def test_a_pin_without_a_record_is_refused(toy, cache):
    answer = benchproof(toy, cache, "HEAD", "HEAD", "--pin", "2.1")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "add --record" in answer.stderr


@pytest.mark.parametrize("head", [{"dirty": True}, {"commit": None}])
def test_a_working_tree_is_not_recorded(toy, tmp_path, head):
    with pytest.raises(BenchproofError, match="a commit passes"):
        passed.record(document(toy, **head), tmp_path / "passed.json")


def test_a_part_of_a_gate_is_not_recorded(place):
    for part in (
        {"bench": "spin"}, {"impls": ("python",)}, {"meters": ("instructions",)},
    ):  # fmt: skip
        asked = Request("HEAD", "HEAD", **part)
        with pytest.raises(BenchproofError, match="needs the whole gate"):
            passed.refuse_part(asked, place)


def test_a_part_of_a_gate_to_be_recorded_is_refused_before_anything_is_built(toy, cache):
    answer = benchproof(toy, cache, "HEAD", "HEAD", "--record", "--bench", "spin")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "needs the whole gate" in answer.stderr
    assert "building" not in answer.stderr


@pytest.mark.slow
def test_a_pass_is_recorded_and_gates_the_next_commit(toy, cache, tmp_path):
    reports = ("--reports", str(tmp_path / "reports"), "--meters", "exact")
    toy.write("README.md", "words")
    toy.commit("words only")
    answer = benchproof(toy, cache, "HEAD~1", "HEAD", "--record", *reports)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    head = toy.git("rev-parse", "HEAD")
    assert json.loads((tmp_path / "reports" / passed.FILE).read_text())["commit"] == head
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more")
    answer = benchproof(toy, cache, *reports, "--bench", "spin", "--impl", "python")
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "Drift since" in answer.stdout
    assert head[:10] in answer.stdout
