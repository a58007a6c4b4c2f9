"""A suite as a whole: what many small changes are together, and what a single large one is not."""

import datetime as dt
import random

import pytest

from benchproof import accepted, counting, families, noise, settings, verdict
from benchproof.collected import FIRST, Collected, Spot
from benchproof.progress import Teller
from benchproof.settings import DEFAULTS
from benchproof.suite import Case


def row(ratios, suite="bind", meter="instructions", left=9000.0, impl=None, **changes):
    """A measured case; of several ratios, one for each layout."""
    ratios = ratios if isinstance(ratios, list) else [ratios]
    lefts = [left] * len(ratios)
    judged = verdict.judge_exact(meter, lefts, [left * each for each in ratios])
    word, note = verdict.judge_case({meter: judged})
    about = {"name": f"{suite}.time_x", "suite": suite, "status": "measured", "verdict": word,
             "note": note, "meters": {meter: judged}}  # fmt: skip
    return about | ({"impl": impl, "accepted": None} if impl else {}) | changes


def judged(*ratios, **options):
    """The verdict on a suite whose cases have these ratios."""
    found = families.judge([row(ratio, **options) for ratio in ratios])
    return found[0]["verdict"] if found else None


def test_all_cases_a_little_dearer_is_a_regression_of_the_suite_and_of_none_of_them():
    rows = [row(1.002) for _ in range(26)]
    assert {each["verdict"] for each in rows} == {"equivalent"}
    (suite,) = families.judge(rows)
    assert (suite["name"], suite["cases"], suite["verdict"]) == ("bind", 26, "regressed")
    about = suite["meters"]["instructions"]
    assert about["ratio"] == about["low"] == pytest.approx(1.002)
    assert (about["up"], about["down"]) == (26, 0)
    gate = verdict.judge_gate(rows, suites=[suite])
    assert (gate["status"], gate["exit"]) == ("regression", 1)
    assert gate["summary"] == ("26 benchmarks: 26 equivalent, of 1 suite as a whole 1 regressed")


def test_one_case_much_dearer_is_that_case_and_not_the_suite():
    rows = [row(1.05), *(row(1.0) for _ in range(25))]
    (suite,) = families.judge(rows)
    assert suite["verdict"] == "equivalent"
    assert [each["verdict"] for each in rows].count("regressed") == 1
    # Though it moves the plain mean by more than the limit.
    assert pytest.approx(1.0019, abs=1e-4) == 1.05 ** (1 / 26)


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([0.998] * 26, "improved"),
        ([1.0005] * 26, "equivalent"),
        ([1.002] * families.FEWEST, "regressed"),
        ([1.002] * (families.FEWEST - 1), None),
        # Half of the cases are not the suite, however far they went.
        ([1.02] * 13 + [1.0] * 13, "undecided"),
        ([1.02] * 13 + [0.98] * 13, "equivalent"),
        ([1.002] * 18 + [1.0] * 8, "regressed"),
        # Counted in several layouts, the least favourable one counts.
        ([[1.002, 1.002, 1.0025]] * 26, "regressed"),
        ([[1.002, 1.0, 1.002]] * 26, "undecided"),
        ([[1.002, 1.0, 1.0005]] * 26, "undecided"),
    ],
)
def test_a_suite_is_judged_by_most_of_its_cases(ratios, expected):
    assert judged(*ratios) == expected


def test_noise_as_it_was_measured_says_nothing():
    # Of equal code four cases in five are identical, and others move by up to the case's limit.
    rng = random.Random(4)
    for _ in range(500):
        ratios = [1 + rng.choice([0, 0, 0, 0, rng.uniform(-0.003, 0.003)]) for _ in range(26)]
        assert judged(*ratios) == "equivalent"


def test_a_change_below_a_meter_s_floor_is_none():
    assert judged(*[1.005] * 26, left=200.0) == "equivalent"
    assert judged(*[1.0051] * 26, left=200.0) == "regressed"


def test_bytes_speak_of_a_suite_too_and_allocations_for_each_case():
    assert judged(*[1.005] * 26, meter="bytes") == "regressed"
    assert judged(*[1.1] * 26, meter="allocations", left=10.0) is None


def test_a_suite_that_does_less_for_more_memory_is_a_trade_off():
    rows = [row(0.9) for _ in range(9)]
    for each in rows:
        each["meters"]["bytes"] = verdict.judge_exact("bytes", 1000.0, 1100.0)
    (suite,) = families.judge(rows)
    assert suite["verdict"] == "trade-off"
    assert verdict.judge_gate(rows, suites=[suite])["exit"] == 0
    assert verdict.judge_gate(rows, suites=[suite], trade_off="fail")["exit"] == 1


def test_from_nothing_and_to_nothing_have_a_place_among_the_cases():
    rows = [row(1.002, meter="bytes") for _ in range(26)]
    rows[0]["meters"]["bytes"] = verdict.judge_exact("bytes", 0.0, 64.0)
    rows[1]["meters"]["bytes"] = verdict.judge_exact("bytes", 64.0, 0.0)
    assert families.judge(rows)[0]["verdict"] == "regressed"


def test_a_project_sets_its_own_limit():
    loose = settings.parse("[tool.benchproof]\nsuite_limit = 0.005\n")
    (suite,) = families.judge([row(1.002) for _ in range(26)], loose)
    assert (suite["verdict"], suite["meters"]["instructions"]["limit"]) == ("equivalent", 0.005)


def test_suites_and_implementations_are_judged_apart():
    rows = [row(ratio, suite, impl=impl)
            for suite, impl, ratio in (("bind", "cython", 1.002), ("bind", "python", 1.0),
                                       ("decode_rows", "cython", 0.99))
            for _ in range(9)]  # fmt: skip
    said = {(each["name"], each["impl"]): each["verdict"] for each in families.judge(rows)}
    assert said == {("bind", "cython"): "regressed", ("bind", "python"): "equivalent",
                    ("decode_rows", "cython"): "improved"}  # fmt: skip


ENTRY = accepted.Entry("bind", ("instructions",), None, 0.003, "why not",
                       dt.date(2031, 1, 1), 1)  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "state", "exit_status"),
    [(1.002, "used", 0), (1.0045, "exceeded", 1), (1.0, "unmatched", 2)],
)
def test_a_suite_s_regression_is_accepted_by_its_name(ratio, state, exit_status):
    # Beyond 0.3 % the cases regress as well: they are left alone here.
    rows = [row(ratio, impl="cython") | {"verdict": "equivalent"} for _ in range(26)]
    suites = families.judge(rows)
    entries = accepted.apply([ENTRY], [*rows, *suites], dt.date(2030, 1, 1), ["bind"])
    assert [each["state"] for each in entries] == [state]
    assert verdict.judge_gate(rows, entries, suites)["exit"] == exit_status


def test_what_was_accepted_of_a_case_is_no_part_of_the_suite():
    excused = {"reason": "a check", "until": "2031-01-01", "amount": 0.05}
    rows = [row(1.02, impl="cython", accepted=excused) for _ in range(20)]
    rows += [row(1.0, impl="cython") for _ in range(9)]
    (suite,) = families.judge(rows)
    assert (suite["verdict"], suite["cases"]) == ("equivalent", 9)


CASES = [Case(f"toy.time_{n}", f"toy.time_{n}", None, "1", answers_may_differ=False)
         for n in range(9)]  # fmt: skip


class Counted:
    """A bench whose counts come from a list, one a layout; the last one stays."""

    builds, alike, layouts = 1, True, noise.LAYOUTS
    settings, tell, after = DEFAULTS, Teller(), 0.0

    def __init__(self, ratios):
        self.got, self.ratios, self.spots = Collected(), list(ratios), []
        self.count_instructions(CASES, FIRST)

    def count_instructions(self, cases, spot, _done=None):
        self.spots.append((spot, len(cases)))
        ratio = self.ratios.pop(0) if len(self.ratios) > 1 else self.ratios[0]
        for case in cases:
            self.got.keep("instructions", "left", case.name, 9000.0, spot)
            self.got.keep("instructions", "right", case.name, 9000.0 * ratio, spot)


@pytest.mark.parametrize(
    ("ratios", "layouts"), [([1.0005], 1), ([1.002], 3), ([1.002, 1.0], 2)]
)  # fmt: skip
def test_a_suite_that_moved_is_counted_in_other_layouts_before_it_is_believed(ratios, layouts):
    bench = Counted(ratios)
    counting.count_again(bench, CASES)
    assert bench.spots == [(Spot(0, layout), 9) for layout in range(layouts)]
