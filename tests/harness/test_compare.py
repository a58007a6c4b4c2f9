"""Whole comparisons of the toy driver, in this process: what is said and what is kept."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from benchproof import compare, judge, noise, records, timing
from benchproof.bench import Bench
from benchproof.build import Builder
from benchproof.errors import SelectionError, StoppedError, TargetError, WorkerError
from benchproof.meters import instructions

EXACT = ("allocations", "bytes") + (() if instructions.why_not() else ("instructions",))
QUICK = compare.Request("HEAD~1", "HEAD", budget=1, quick=True, meters=(*EXACT, "wall"))
COUNTS = replace(QUICK, meters=EXACT)
CHANCE = """def boxes(number):
    [bytearray(100) for _ in range(__import__("os").urandom(1)[0])]"""


@pytest.fixture
def slower(toy, place):
    """A repository whose newest commit allocates and works twice as much."""
    toy.edit("driver/work.py", "range(number)", "range(2 * number)")
    toy.edit("driver/work.py", "total += number", "total += number + 1 - 1 + 2 - 2")
    toy.commit("slower")
    return place


def rows(document):
    return {row["case"]: row for row in document["cases"]}


@pytest.mark.slow
def test_a_slower_commit_is_a_regression_and_everything_is_kept(slower, tell, tmp_path, toolchain):
    file = tmp_path / "kept" / "result.json"
    request = replace(QUICK, meters=(*EXACT, "wall"))
    outcome = compare.compare(request, slower, tell)
    written = outcome.save(file)
    kept = json.loads(file.read_text())
    outcome.save_records(tmp_path / "samples.jsonl.gz")
    again = judge.document(records.read(tmp_path / "samples.jsonl.gz"))
    assert json.loads(json.dumps(again)) == kept
    assert (kept["schema"], kept["kind"], kept["partial"]) == (4, "comparison", False)
    assert kept["left"]["subject"] == "a toy"
    assert kept["right"]["impl"] == ("cython" if toolchain.compiles else "python")
    assert len(kept["left"]["wheel_sha256"]) == 64
    assert kept["provenance"]["packages"]["pyperf"]
    # The toy allocates different boxes, and says so by its digest: no number for them.
    boxes, spin, newer = (rows(kept)[name] for name in ("boxes", "spin", "newer"))
    assert (boxes["status"], boxes["meters"]) == ("different answers", {})
    assert newer["status"] == "not applicable"
    assert "driver.work.newer is not there" in newer["why"]
    assert spin["status"] == "measured"
    assert spin["meters"]["allocations"]["verdict"] == "equivalent"
    wall = spin["meters"]["wall"]
    assert len(wall["left_samples"]) == len(wall["right_samples"]) == timing.QUICK_BLOCKS
    assert kept["meters"]["wall"]["processes"] == timing.QUICK_BLOCKS
    if "instructions" in EXACT:
        assert spin["meters"]["instructions"]["verdict"] == "regressed"
        assert kept["verdict"]["exit"] == 1
    raw = [file.with_name(f"{file.stem}.{side}.pyperf.json.gz") for side in ("left", "right")]
    assert written == [file, *raw]
    answer = subprocess.run(
        [sys.executable, "-m", "pyperf", "compare_to", *map(str, written[1:])],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    # It read both files and compared them; which of its answers it gives is a matter of noise.
    assert re.search(r"Mean \+- std dev|[Nn]ot significant", answer.stdout), answer.stdout


@pytest.mark.slow
def test_the_raw_samples_hold_one_run_a_process_with_its_provenance(slower, tell, tmp_path):
    import pyperf

    request = replace(QUICK, meters=("wall",), bench="spin")
    outcome = compare.compare(request, slower, tell)
    left, _ = outcome.save(tmp_path / "r.json")[1:]
    (benchmark,) = pyperf.BenchmarkSuite.load(str(left)).get_benchmarks()
    assert benchmark.get_name() == "toy.time_spin"
    assert len(benchmark.get_runs()) == timing.QUICK_BLOCKS
    assert benchmark.get_metadata()["benchproof_impl"] == outcome.document["left"]["impl"]
    assert not outcome.document["meters"]["instructions"]["measured"]


@pytest.mark.slow
def test_more_allocations_are_a_regression(toy, place, tell):
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more")
    document = compare.compare(
        replace(COUNTS, bench="spin", meters=("allocations",)), place, tell
    ).document
    counted = rows(document)["spin"]["meters"]["allocations"]
    assert counted["verdict"] == "regressed"
    assert counted["right"] - counted["left"] == 1 + 1  # the list's items and the object
    assert document["verdict"]["exit"] == 1


@pytest.mark.slow
def test_allocations_by_chance_are_no_change_beside_one_that_is(toy, place, tell):
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.edit("driver/work.py", "def boxes(number):", CHANCE)
    toy.commit("chance")
    toy.edit("driver/work.py", "len([object()])", "len([object(), object()]) - 1")
    toy.commit("one object more")
    document = compare.compare(
        replace(COUNTS, bench="spin|boxes", meters=("allocations",)), place, tell
    ).document
    found = rows(document)
    assert found["boxes"]["meters"]["allocations"]["verdict"] == "undecided"
    assert len(set(found["boxes"]["meters"]["allocations"]["left_samples"])) > 1
    assert found["spin"]["meters"]["allocations"]["verdict"] == "regressed"
    assert (
        found["spin"]["meters"]["allocations"]["left_samples"]
        == [found["spin"]["meters"]["allocations"]["left"]] * noise.LAYOUTS
    )
    assert "counting allocations of 2 changed benchmarks again (2)" in tell.text


@pytest.mark.slow
def test_the_same_code_twice_is_equivalent_in_every_exact_meter(place, tell):
    same = replace(COUNTS, left="HEAD", right="HEAD", force=True)
    document = compare.compare(same, place, tell).document
    for name in ("spin", "boxes"):
        for meter in rows(document)[name]["meters"].values():
            assert meter["verdict"] == "equivalent"
            assert meter["left"] == meter["right"]
    assert document["verdict"]["exit"] == 0


@pytest.mark.slow
def test_the_same_build_is_equivalent_by_construction(toy, place, tell):
    toy.write("README.md", "words")
    toy.commit("words only")
    outcome = compare.compare(QUICK, place, tell)
    assert outcome.bench is None
    assert outcome.document["verdict"]["exit"] == 0
    assert "same build" in outcome.document["verdict"]["summary"]


@pytest.mark.slow
def test_a_build_with_the_same_files_in_it_is_the_same_build(toy, place, tell):
    toy.edit("setup.py", "import os", "# words about building\nimport os")
    toy.commit("nothing that reaches the package")
    sides = {"left": "HEAD~1@impl:python", "right": "HEAD@impl:python"}
    outcome = compare.compare(replace(QUICK, **sides), place, tell)
    assert outcome.bench is None
    assert "same build" in outcome.document["verdict"]["summary"]


@pytest.mark.slow
@pytest.mark.skipif("instructions" not in EXACT, reason="instructions cannot be counted")
def test_wall_time_that_is_for_changes_alone_leaves_out_what_does_the_same_work(
    toy, place, tell, monkeypatch
):
    def never(*_):
        raise AssertionError("wall time ran where there is nothing to decide")

    toy.edit("driver/work.py", "total = 0", "total = 0  # nothing yet")
    toy.commit("a comment")
    monkeypatch.setattr(Bench, "time_block", never)
    request = replace(QUICK, left="HEAD~1@impl:python", right="HEAD@impl:python", only_changes=True)
    document = compare.compare(request, place, tell).document
    for name in ("spin", "boxes"):
        row = rows(document)[name]
        assert row["verdict"] == "equivalent"
        assert row["note"] == compare.NOTHING_TO_DECIDE
        assert "wall" not in row["meters"]
    assert document["meters"]["wall"]["why"].startswith("nothing to decide")
    assert "instructions a call, 2 of 2 as before" in tell.text
    assert document["verdict"]["exit"] == 0


@pytest.fixture
def unrun(toy):
    """A request for a commit that changes what no benchmark runs."""
    toy.write("driver/boxing.py", "from .work import boxes as boxes\n")
    toy.commit("not run")
    return replace(QUICK, left="HEAD~1@impl:python", right="HEAD@impl:python")


@pytest.mark.slow
@pytest.mark.skipif("instructions" not in EXACT, reason="instructions cannot be counted")
def test_no_clock_decides_where_both_sides_run_the_same_code(unrun, place, tell):
    document = compare.compare(unrun, place, tell).document
    for name in ("spin", "boxes"):
        row = rows(document)[name]
        assert (row["verdict"], row["note"]) == ("equivalent", compare.SAME_CODE)
        assert "wall" not in row["meters"]
    assert "timing 0 of 2 benchmarks: 2 run the same code on both sides" in tell.text
    assert document["verdict"]["exit"] == 0


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.skipif("instructions" not in EXACT, reason="instructions cannot be counted")
def test_a_clock_decides_where_it_is_asked_to_or_another_file_runs(toy, unrun, place, tell):
    forced = compare.compare(replace(unrun, force=True), place, tell).document
    assert all("wall" in rows(forced)[name]["meters"] for name in ("spin", "boxes"))
    toy.edit("driver/work.py", "total = 0", "total = 0  # the same work by another file")
    toy.commit("run")
    edited = compare.compare(unrun, place, tell).document
    assert all("wall" in rows(edited)[name]["meters"] for name in ("spin", "boxes"))


@pytest.mark.slow
def test_an_expression_that_matches_nothing_is_an_error_even_for_the_same_build(toy, place, tell):
    toy.write("README.md", "words")
    toy.commit("words only")
    with pytest.raises(SelectionError, match="no_such_case"):
        compare.compare(replace(QUICK, bench="no_such_case"), place, tell)


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_both_implementations_of_one_commit_can_be_compared(place, tell):
    request = replace(COUNTS, left="HEAD@impl:python", right="HEAD@impl:cython", bench="spin")
    document = compare.compare(request, place, tell).document
    proofs = rows(document)["spin"]["proof"]
    assert proofs["left"]["modules"]["work"] == "driver/work.py"
    assert proofs["right"]["modules"]["work"].startswith("driver/_cython/work.")


@pytest.mark.slow
def test_a_proof_that_fails_is_an_error_and_not_a_number(toy, place, tell):
    toy.edit("driver/implementation.py", "return import_module(folder + module).__file__",
             'return "/elsewhere/work.py"')  # fmt: skip
    toy.commit("lies")
    document = compare.compare(replace(COUNTS, bench="spin"), place, tell).document
    row = rows(document)["spin"]
    assert (row["status"], row["meters"]) == ("proof failed", {})
    assert "right: work ran from /elsewhere/work.py" in row["why"]
    assert document["verdict"]["exit"] == 2


@pytest.mark.slow
def test_a_worker_that_dies_leaves_an_error_for_what_it_did_not_reach(toy, place, tell):
    toy.edit("driver/work.py", "    total = 0", "    import os\n    os._exit(3)\n    total = 0")
    toy.commit("dies")
    document = compare.compare(COUNTS, place, tell).document
    assert rows(document)["spin"]["status"] == "error"
    assert document["verdict"]["exit"] == 2


@pytest.mark.slow
def test_a_driver_that_does_not_import_is_told(toy, place, tell):
    toy.write("driver/__init__.py", "raise RuntimeError('no import today')\n")
    toy.commit("does not import")
    with pytest.raises(WorkerError, match=r"right side .*no import today"):
        compare.compare(COUNTS, place, tell)


def test_an_expression_that_matches_nothing_is_told(slower, tell):
    with pytest.raises(SelectionError, match="'zzz' matches none of 4 benchmarks"):
        compare.compare(replace(QUICK, bench="zzz"), slower, tell)


def test_a_folder_of_benchmarks_that_is_not_there_is_told(place, tell, tmp_path):
    request = replace(QUICK, left="HEAD", right=".")
    with pytest.raises(TargetError, match="no folder of benchmarks"):
        compare.compare(request, replace(place, suites=tmp_path / "none"), tell)


@pytest.mark.slow
def test_stopping_while_timing_keeps_what_was_counted(slower, tell, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Bench, "time_block", stop)
    request = replace(QUICK, bench="spin", meters=("allocations", "wall"))
    document = compare.compare(request, slower, tell).document
    assert document["partial"]
    assert document["verdict"]["exit"] == 2
    assert list(rows(document)["spin"]["meters"]) == ["allocations"]
    assert document["meters"]["wall"] == {
        "measured": False, "why": "stopped before it", "unit": "s", "processes": 0,
    }  # fmt: skip


@pytest.mark.slow
def test_stopping_while_building_is_told(slower, tell, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Builder, "make", stop)
    with pytest.raises(StoppedError, match="before anything was measured"):
        compare.compare(QUICK, slower, tell)
