"""`benchproof history` on a toy: real builds, real meters, asv's files."""

import io
import json
import math

import pytest
from rich.console import Console

from benchproof import files
from benchproof.errors import HistoryError
from benchproof.history import asv_files, campaign, choice, measure, running, writing
from benchproof.history.model import CANARY, SeriesKey
from benchproof.meters import instructions
from tests.harness.test_meters import needs_memray
from tests.harness.toy import KNOWN

pytestmark = pytest.mark.slow
MEMORY = ("allocations", "bytes")


@pytest.fixture
def results(toy):
    return toy.root / "reports" / "results"


@pytest.fixture
def run(place, results, tell):
    """Measure on the toy, in pure Python unless something else is asked for."""

    def measured(**asked):
        wanted = {"impls": ("python",), "meters": MEMORY, "machine": "box"} | asked
        return campaign.run(campaign.Asked(**wanted), place, results, tell)

    return measured


def series(results, toy, case="spin", meter="bytes", impl="python"):
    found = asv_files.load(results, toy.root)
    assert not found.left_out
    return found.series.get(SeriesKey(f"toy.time_{case}", meter, impl, "box"))


def add_newer(toy):
    toy.write("driver/work.py", (toy.root / "driver/work.py").read_text()
              + "\n\ndef newer():\n    return bytearray(1000)\n")  # fmt: skip
    return toy.commit("newer")


@needs_memray
def test_commits_are_measured_kept_and_known_from_then_on(toy, run, results, tell):
    toy.edit("driver/work.py", "bytearray(100)", "bytearray(200)")
    toy.commit("larger boxes\n\nClaim: 1-1")
    outcome = run()
    assert (outcome.measured, outcome.shared, outcome.known) == (2, 0, 0)
    small, large = series(results, toy, "boxes").value
    assert large - small == pytest.approx(400, abs=64)
    assert "2/2" in tell.text
    assert tell.text.rstrip().endswith("writing")
    again = run()
    assert (again.measured, again.shared, again.known) == (0, 0, 2)


@needs_memray
def test_a_commit_without_a_case_has_nan_for_it_and_one_that_does_not_build_null(toy, run, results):
    add_newer(toy)
    toy.write("setup.py", "raise SystemExit('no')")
    broken = toy.commit("broken")
    toy.git("revert", "--no-edit", "HEAD")
    outcome = run()
    assert outcome.measured == 3
    assert list(outcome.failed) == [(broken, "python")]
    assert series(results, toy, "newer").index.tolist() == [1, 3]
    assert series(results, toy, "spin").index.tolist() == [0, 1, 3]
    env = writing.environment(toy.root, KNOWN, "python")
    held = files.contents(writing.path(results, "box", broken, env))["results"]
    assert {row[0] for row in held.values()} == {None}
    first = toy.git("rev-list", "--max-parents=0", "HEAD")
    held = files.contents(writing.path(results, "box", first, env))["results"]
    assert math.isnan(held["toy.track_newer_bytes"][0][0])
    notes = writing.notes(results / "box" / writing.MEASURED)
    reasons = [why for note in notes for why in note.get("why", {})]
    assert any("newer" in why for why in reasons)
    assert not any(str(toy.root.parent) in why for why in reasons)


@needs_memray
def test_commits_with_the_same_driver_share_numbers_also_later(toy, run, results):
    toy.commit("words")
    assert run().shared == 1
    toy.commit("more words")
    outcome = run()
    assert (outcome.measured, outcome.shared, outcome.known) == (0, 1, 2)
    assert series(results, toy).index.tolist() == [0, 1, 2]


@needs_memray
def test_what_was_measured_before_a_stop_is_kept_and_the_next_run_goes_on(
    toy, run, results, monkeypatch, tell
):
    for size in (200, 300):
        toy.edit("driver/work.py", f"bytearray({size - 100})", f"bytearray({size})")
        toy.commit(f"boxes of {size}")
    honest, calls = measure.Measurer.measure, []

    def stops(self, asked):
        calls.append(asked)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return honest(self, asked)

    monkeypatch.setattr(measure.Measurer, "measure", stops)
    outcome = run(jobs=1)
    assert (outcome.measured, outcome.left) == (1, 2)
    assert outcome.status == 2
    assert "the same command goes on" in tell.text
    assert len(series(results, toy)) == 1
    monkeypatch.undo()
    outcome = run(jobs=1)
    assert (outcome.measured, outcome.known, outcome.left) == (2, 1, 0)
    assert outcome.status == 0


@needs_memray
def test_a_history_in_which_nothing_has_a_number_could_not_measure(toy, run):
    toy.edit("driver/work.py", "total = 0", "raise ValueError")
    toy.commit("broken")
    for _ in range(2):  # measured, then known to have failed
        outcome = run(bench="spin", ranges=("HEAD^!",))
        assert outcome.status == 2
        out = io.StringIO()
        outcome.show(Console(file=out, width=200))
        assert out.getvalue().splitlines()[-1].startswith("could not measure: no benchmark of any")
    assert run(bench="spin").status == 0


@pytest.mark.nightly
@needs_memray
def test_a_case_feels_nothing_of_which_others_were_asked_for(toy, run, results):
    add_newer(toy)
    run(bench="boxes", ranges=("HEAD^!",))
    alone = series(results, toy, "boxes").value
    for file in (results / "box").glob("*.json"):
        file.unlink()
    writing.describe_machine(results, {"machine": "box"})
    run(ranges=("HEAD^!",))
    assert series(results, toy, "boxes").value.tolist() == alone.tolist()


@pytest.mark.nightly
@pytest.mark.skipif(bool(instructions.why_not()), reason="no valgrind")
def test_instructions_are_the_same_in_another_run_and_the_canary_in_another_commit(
    toy, run, results
):
    toy.edit("driver/work.py", "range(times)", "range(times + 4)")
    toy.commit("more turns")
    run(meters=("instructions",), bench="spin")
    first = asv_files.load(results, toy.root)
    shorter, longer = series(results, toy, "spin", "instructions").value
    assert 10 < longer - shorter < 3000
    (canary,) = first.canaries.values()
    assert canary.value[0] == canary.value[1]
    assert canary.key.benchmark == CANARY
    for file in (results / "box").glob("*python*.json"):
        file.unlink()
    run(meters=("instructions",), bench="spin")
    assert series(results, toy, "spin", "instructions").value.tolist() == [shorter, longer]


@needs_memray
@pytest.mark.usefixtures("compiler")
def test_both_implementations_are_measured(toy, run, results):
    toy.write("driver/_cython/work.py", "")  # not taken: the compiled module stands before it
    run(impls=("cython", "python"), ranges=("HEAD^!",))
    found = asv_files.load(results, toy.root)
    assert {key.impl for key in found.canaries} == {"cython", "python"}


def test_quick_proves_and_keeps_nothing(run, results):
    outcome = run(quick=True)
    assert outcome.measured == 1
    assert outcome.reasons == {"driver.work.newer is not there": 1}
    assert not results.exists()


def test_wall_time_has_an_interval_from_several_processes(toy, run, results):
    run(meters=MEMORY, processes=3, bench="spin")
    found = series(results, toy, "spin", "wall")
    assert found.unit == "seconds"
    assert 0 < found.low[0] <= found.value[0] <= found.high[0] < 0.01
    env = writing.environment(toy.root, KNOWN, "python")
    file = writing.path(results, "box", toy.git("rev-parse", "HEAD"), env)
    held = files.contents(file)
    columns = held["result_columns"]
    row = dict(zip(columns, held["results"]["toy.time_spin"], strict=False))
    assert len(row["samples"][0]) == 3
    assert CANARY in held["results"]


@needs_memray
def test_a_case_whose_process_dies_has_no_number_and_the_others_have(toy, run, results):
    toy.write(
        "driver/work.py",
        (toy.root / "driver/work.py")
        .read_text()
        .replace(
            "def boxes(number):", "def boxes(number):\n    import os; os.kill(os.getpid(), 9)"
        ),
    )
    toy.commit("dies")
    outcome = run(ranges=("HEAD^!",))
    assert outcome.reasons["its process ended with signal 9"] == 1
    assert series(results, toy, "boxes") is None
    assert len(series(results, toy, "spin")) == 1


def test_two_runs_in_one_checkout_are_refused(run, place):
    with campaign._alone(place.cache), pytest.raises(HistoryError, match="another"):
        run()


@needs_memray
def test_asv_shows_what_was_measured(toy, run):
    import subprocess
    import sys

    toy.write("asv.conf.json", json.dumps({
        "version": 1, "project": "toy", "repo": ".", "branches": ["HEAD"],
        "benchmark_dir": "benchmarks", "results_dir": "reports/results", "html_dir": "html",
        "environment_type": "virtualenv",
        "matrix": {"env_nobuild": {"DRIVER_IMPL": ["cython", "python"]}},
    }))  # fmt: skip
    run()
    said = subprocess.run([sys.executable, "-m", "asv", "show", "HEAD"], cwd=toy.root, check=True,
                          capture_output=True, text=True).stdout  # fmt: skip
    assert "toy.track_boxes_bytes [box/virtualenv-py" in said
    assert "canary.track_interpreter_allocations" in said


def test_the_interval_of_a_median_holds_whatever_the_distribution():
    import random

    rng = random.Random(7)
    inside = 0
    for _ in range(2000):
        value = running.summary([rng.expovariate(1) for _ in range(9)])
        inside += value.low <= math.log(2) <= value.high
    assert inside / 2000 > 0.985
    many = running.summary([float(number) for number in range(1, 41)])
    assert 1 < many.low < many.value == 20.5 < many.high < 40


def test_what_is_left_is_told(tell):
    job = choice.Job(measure.Asked("a" * 40, "python", frozenset()), "", {})
    todo = choice.Plan([job] * 3)
    runner = running.Runner(todo, None, lambda *_: None, running.Outcome(), tell)
    runner._ended(job, measure.Measured(), 100)
    assert "1/3 aaaaaaaaaa python: 0 numbers in 100 s\n" in tell.text
    assert "measuring 2 more builds; about 3 min left" in tell.text


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("OSError: /home/me/x/.benchproof/sides/ab/driver/a.py is gone", "OSError: a.py is gone"),
        ("first\nsecond", "first"), ("", "no reason was given"), ("1/2 of it", "1/2 of it"),
    ],
)  # fmt: skip
def test_reasons_name_no_folder_of_this_machine(words, kept):
    assert measure.clean(words) == kept


def test_a_history_without_the_benchmarks_of_a_broken_module_is_none(place, tell, monkeypatch):
    rows = [{"excluded": "bad", "why": "suites/bad.py:1 does not import: ...", "broken": True}]
    monkeypatch.setattr(campaign.listing, "found", lambda *_: rows)
    with pytest.raises(HistoryError, match=r"suites/bad\.py:1 does not import"):
        campaign.discover(place, ["HEAD"], tell)
