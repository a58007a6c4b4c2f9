"""A sum of rows whose commits do not follow one another: planned, composed and judged."""

import pytest
from ledger import judge, measure, reader
from ledger.carried import Carried
from ledger.judge import compose

from tests.harness.sample_ledger import SUM, run

FIGURE = """
[[figure]]
id = "spin-both"
row = "7"
table = "times"
case = "spin, both changes"
metric = "objects"
unit = "1"
scope = "part"
before = 5
after = 0
benchmark = "toy.time_spin"
"""
SPIN = ["toy.time_spin"]


@pytest.fixture
def ledger():
    return reader.parse(SUM.replace('no_figure = "none"\n', "") + FIGURE)


def both(**about):
    """Runs of the two rows: 2 and 3 allocations less, half and a quarter of the instructions."""
    return [
        run(allocations=(12.0, 10.0), ratio=0.5),
        run(allocations=(9.0, 6.0), ratio=0.25, rows=("7-2",), **about),
    ]


def case_of(composed):
    (case,) = composed.document["cases"]
    return case["meters"]


def test_ratios_are_multiplied_and_savings_added(ledger):
    composed = compose(ledger.rows["7"], SPIN, both(), "python")
    meters = case_of(composed)
    assert meters["instructions"]["ratio"] == pytest.approx(0.125)
    assert meters["allocations"]["left"] - meters["allocations"]["right"] == 5
    ends = [each.document["cases"][0]["meters"]["wall"] for each in both()]
    assert meters["wall"]["low"] == pytest.approx(ends[0]["low"] * ends[1]["low"])
    assert meters["wall"]["high"] == pytest.approx(ends[0]["high"] * ends[1]["high"])
    assert (composed.left, composed.right, composed.document["composed"]) == ("", "", 2)


def test_the_figure_of_the_sum_is_judged_and_says_how(ledger):
    (found,) = judge.judge(ledger, both(), ["7"], {})
    (finding,) = found.findings
    assert finding.verdict == "reproduced"
    assert "the product of 2 rows" in finding.why
    less = [run(), run(rows=("7-2",), allocations=(9.0, 9.0))]
    ((finding,),) = [found.findings for found in judge.judge(ledger, less, ["7"], {})]
    assert finding.verdict == "smaller than claimed"


def test_a_row_that_is_missing_is_named(ledger):
    composed = compose(ledger.rows["7"], SPIN, both()[:1], "python")
    assert composed.why == "not every row of it: 7-2: no result is kept for it"
    failed = run(rows=("7-2",), why="it does not build")
    composed = compose(ledger.rows["7"], SPIN, [run(), failed], "python")
    assert "7-2: it does not build" in composed.why


def test_a_case_that_a_row_did_not_measure_is_named(ledger):
    composed = compose(ledger.rows["7"], ["toy.time_boxes"], both(), "python")
    assert "7-1: toy.time_boxes was not measured" in composed.why


def test_a_row_that_was_taken_back_is_left_out(ledger):
    composed = compose(ledger.rows["7"], SPIN, both(taken_back=("c" * 40,)), "python")
    assert case_of(composed)["instructions"]["ratio"] == pytest.approx(0.5)


def test_a_row_of_the_same_build_on_both_sides_changes_nothing(ledger):
    same = run(rows=("7-2",))
    same.document["cases"] = []
    composed = compose(ledger.rows["7"], SPIN, [run(), same], "python")
    assert case_of(composed)["instructions"]["ratio"] == pytest.approx(0.5)


def test_two_rows_of_one_commit_count_once(ledger):
    composed = compose(ledger.rows["7"], SPIN, [run(rows=("7-1", "7-2"))], "python")
    assert case_of(composed)["instructions"]["ratio"] == pytest.approx(0.5)


def test_nothing_is_composed_of_nothing_or_of_another_implementation(ledger):
    assert compose(ledger.rows["7"], SPIN, [], "python") is None
    assert compose(ledger.rows["7"], SPIN, both(), "cython") is None


def test_the_rows_of_such_a_sum_get_its_benchmarks_too(ledger):
    carried = {
        "7-1": Carried("a", "b"), "7-2": Carried("c", "d"), "7": Carried(apart=("7-1", "7-2")),
    }  # fmt: skip
    names = {each: each for each in ledger.benchmarks(["7-1", "7-2", "7"])}
    steps = measure.plan(ledger, carried, names, ["python"])
    assert [step.rows for step in steps] == [("7-1",), ("7-2",)]
    assert all("toy.time_spin" in step.benchmarks for step in steps)
