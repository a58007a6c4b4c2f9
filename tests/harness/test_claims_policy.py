"""The policy that judges a published figure, verdict by verdict."""

import pytest
from ledger import judge, policy, reader, words

from tests.harness.sample_ledger import LEDGER, meter, run

WALL = 0.05  # the limit of wall time


@pytest.mark.parametrize(
    ("claimed", "measured", "verdict"),
    [
        (0.5, (0.49, 0.51), "reproduced"),
        (0.5, (0.45, 0.555), "reproduced"),  # gains from 0.80 of a claimed 1.0 to 1.22
        (0.5, (0.40, 0.50), "reproduced"),  # what reaches beyond the claim holds it, too
        (0.5, (0.30, 0.40), "exceeded"),  # all of it above 1.25
        (0.5, (0.56, 0.57), "smaller than claimed"),
        (0.5, (0.80, 0.95), "smaller than claimed"),
        (0.5, (0.80, 0.99), "not reproduced"),  # an end within the limit is no gain
        (0.5, (0.98, 1.02), "not reproduced"),
        (0.5, (1.08, 1.12), "reversed"),
        (0.5, (1.02, 1.12), "not reproduced"),
        (0.5, (0.54, 0.57), "not measured"),  # 80 % is within
        (0.5, (0.40, 1.50), "not measured"),
        (0.97, (0.96, 0.98), "not measurable here"),  # smaller than wall time can see
        (1.0, (0.9, 1.1), "reproduced"),  # a claim of no change
        (1.0, (1.1, 1.3), "reversed"),
        (0.0389, (0.05, 0.06), "smaller than claimed"),  # 20 times is not 25.7 times
        (0.0389, (0.04, 0.045), "reproduced"),
        ((1 / 26, 1 / 9), (1 / 40, 1 / 8), "reproduced"),  # of a range from its weaker end
        ((1 / 26, 1 / 9), (1 / 30, 1 / 27), "reproduced"),
        ((1 / 26, 1 / 9), (1 / 59, 1 / 33), "exceeded"),  # to its stronger one
    ],
)
def test_a_ratio_is_judged_by_its_whole_interval(claimed, measured, verdict):
    ends = claimed if isinstance(claimed, tuple) else (claimed, claimed)
    assert policy.judge_ratio(ends, measured, WALL).verdict == verdict


@pytest.mark.parametrize(
    ("claimed", "saved", "verdict"),
    [
        (10, 10, "reproduced"), (10, 8, "reproduced"), (10, 12.5, "reproduced"),
        (10, 30, "exceeded"), (10, 7.9, "smaller than claimed"), (10, 0, "not reproduced"),
        (10, -1, "reversed"), (0, 0, "reproduced"), (0, 5, "reproduced"), (0, -1, "reversed"),
        (0.05, 1, "not measurable here"),
    ],
)  # fmt: skip
def test_a_saving_is_compared_as_it_is(claimed, saved, verdict):
    assert policy.judge_saving((claimed, claimed), saved, 0.05).verdict == verdict


def test_objects_have_no_upper_bound_and_bytes_have_one():
    objects = figure(1)  # two objects
    assert policy.judge(objects, {"allocations": meter(30.0, 10.0)})[0].verdict == "reproduced"
    text = LEDGER.replace('metric = "objects"\nunit = "1"', 'metric = "bytes"\nunit = "B"')
    assert policy.judge(figure(1, text), {"bytes": meter(30.0, 10.0)})[0].verdict == "exceeded"


def figure(number=0, text=LEDGER):
    return reader.parse(text).figures[number]


def test_instructions_stand_in_where_wall_time_cannot_tell():
    meters = {"wall": meter(2.0, 1.0, width=1.5), "instructions": meter(1000.0, 500.0)}
    judged, by = policy.judge(figure(), meters)
    assert (judged.verdict, by) == ("reproduced", "instructions")
    assert "by instructions; wall: undecided" in judged.why


def test_wall_time_counts_where_both_can_tell_and_the_disagreement_is_said():
    meters = {"wall": meter(2.0, 2.0, width=0.01), "instructions": meter(1000.0, 500.0)}
    judged, by = policy.judge(figure(), meters)
    assert (judged.verdict, by) == ("not reproduced", "wall")
    assert "instructions say: reproduced" in judged.why


def test_an_exact_meter_needs_no_interval_and_no_limit_of_wall_time():
    text = LEDGER.replace('metric = "time"\nunit = "ns"', 'metric = "allocations"\nunit = "1"')
    text = text.replace("after = 100", "after = 195")
    counted = figure(text=text)
    assert policy.judge(counted, {"allocations": meter(200.0, 195.0)})[0].verdict == "reproduced"
    assert policy.judge(counted, {"allocations": meter(200.0, 100.0)})[0].verdict == "exceeded"
    assert policy.judge(counted, {"allocations": meter(200.0, 198.0)})[0].verdict == (
        "smaller than claimed"
    )


def test_nothing_from_nothing_is_no_gain_and_something_from_nothing_is_a_loss():
    text = LEDGER.replace('metric = "time"\nunit = "ns"', 'metric = "allocations"\nunit = "1"')
    assert policy.judge(figure(text=text), {"allocations": meter(0.0, 0.0)})[0].verdict == (
        "not reproduced"
    )
    assert policy.judge(figure(text=text), {"allocations": meter(0.0, 3.0)})[0].verdict == (
        "reversed"
    )


def test_a_saving_of_time_is_never_compared():
    judged, by = policy.judge(figure(2), {"wall": meter(200e-9, 100e-9, width=0.01)})
    assert (judged.verdict, by) == ("not measurable here", "")
    assert "nanoseconds of another machine" in judged.why


def findings(*runs, text=LEDGER, reasons=None):
    (row,) = judge.judge(reader.parse(text), runs, ["7-1"], reasons or {})
    return {finding.figure.id: finding for finding in row.findings}


def test_flipping_one_claimed_figure_flips_its_verdict_and_no_other():
    bold = LEDGER.replace("after = 100", "after = 20")
    before = {name: f.verdict for name, f in findings(run()).items()}
    after = {name: f.verdict for name, f in findings(run(), text=bold).items()}
    assert before.pop("spin-time") == "reproduced"
    assert after.pop("spin-time") == "smaller than claimed"
    assert before == after


def test_a_figure_that_names_no_implementation_gets_the_worse_verdict_of_both():
    both = findings(run("python", ratio=0.5), run("cython", ratio=1.0))
    assert both["spin-time"].verdict == "not reproduced"
    assert both["spin-time"].judged["python"].verdict == "reproduced"


def test_a_figure_of_one_implementation_is_judged_on_that_one():
    text = LEDGER.replace('impl = "any"', 'impl = "python"')
    runs = run("python", ratio=0.5), run("cython", ratio=1.0)
    assert findings(*runs, text=text)["spin-time"].verdict == "reproduced"
    other = findings(runs[1], text=text)["spin-time"]
    assert other.verdict == "not reproduced"
    assert "judged as cython, the figure is of python" in other.why


def test_what_was_not_measured_says_why():
    found = findings(reasons={"7-1": "no commit carries it"})
    assert found["spin-time"].verdict == "not measured"
    assert found["spin-time"].why == "no commit carries it"
    assert found["spin-elsewhere"].why == "nobody has been there"
    assert found["spin-ns"].verdict == "not measurable here"
    failed = run(document={}, why="it does not build")
    assert findings(failed)["spin-time"].why == "it does not build"
    refused = run()
    refused.document["cases"][0] |= {"status": "proof failed", "why": "left: no", "meters": {}}
    assert findings(refused)["spin-time"].why == "proof failed: left: no"


def test_a_commit_that_changes_no_code_reproduces_nothing():
    same = run()
    same.document["cases"] = []
    found = findings(same)
    assert found["spin-time"].verdict == found["spin-objects"].verdict == "not reproduced"
    assert found["spin-time"].why == "both sides are the same build"


def test_of_two_runs_of_a_row_the_later_one_counts():
    assert findings(run(ratio=1.0), run(ratio=0.5))["spin-time"].verdict == "reproduced"


def test_calls_are_counted_by_the_proofs_of_both_sides():
    text = LEDGER.replace('metric = "objects"', 'metric = "calls"').replace(
        "before = 2", "before = 5"
    )
    assert findings(run(), text=text)["spin-objects"].verdict == "reproduced"
    unseen = run()
    unseen.document["cases"][0]["proof"]["left"] = {"probe": {}}
    assert findings(unseen, text=text)["spin-objects"].why == "calls was not measured"


def test_a_case_that_does_not_exercise_its_claim_keeps_its_numbers_and_gets_no_verdict():
    text = LEDGER.replace(
        'after = 100\nbenchmark = "toy.time_spin"',
        'after = 100\nbenchmark = "toy.time_spin"\nnot_exercised = "nothing spins"',
    )
    found = findings(run(), text=text)["spin-time"]
    assert (found.verdict, found.why) == ("not exercised", "nothing spins")
    assert found.judged["python"].meters
    assert found.counts


def test_a_range_over_judged_cases_is_in_no_total():
    text = LEDGER.replace('no_case = "nobody has been there"', 'ends_of = ["spin-time"]')
    found = findings(run(), text=text)
    assert found["spin-elsewhere"].verdict == "judged case by case"
    assert sum(words.tally(list(found.values())).values()) == len(found) - 1


def test_the_figures_of_a_page_of_which_only_the_technique_was_tried_are_in_no_total():
    text = LEDGER.replace("[[page]]", '[[page]]\ntechnique = "it is Go"')
    rows = judge.judge(reader.parse(text), [run()], ["7-1"], {})
    assert {f.verdict for f in rows[0].findings} == {"technique, not claim"}
    assert rows[0].findings[0].judged["python"].verdict == "reproduced"
    assert words.summary(rows) == "0 published figures of 0 rows: none"


def test_what_nobody_has_measured_says_why():
    text = LEDGER.replace("no_case", "not_measured")
    found = findings(run(), text=text)["spin-elsewhere"]
    assert (found.verdict, found.why) == ("not measured", "nobody has been there")


def test_exceeded_says_what_was_measured_for_what_was_claimed():
    found = findings(run(ratio=0.25))["spin-time"]
    assert words.verdict(found) == "> exceeded: 3.92 to 4.08x for 2x"
    text = LEDGER.replace('metric = "objects"\nunit = "1"', 'metric = "allocations"\nunit = "1"')
    found = findings(run(allocations=(15.0, 10.0)), text=text)["spin-objects"]
    assert words.verdict(found) == "> exceeded: 5 less for 2"


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        (["exceeded", "reproduced", "smaller than claimed", "not measurable here"], 0),
        (["not exercised", "judged case by case", "technique, not claim"], 0),
        (["reproduced", "not measured"], 2),
        (["not measured", "not reproduced"], 1),
        (["reversed"], 1),
        ([], 2),
    ],
)
def test_the_exit_status_follows_the_worst_that_was_found(verdicts, status):
    assert policy.exit_status(verdicts) == status
