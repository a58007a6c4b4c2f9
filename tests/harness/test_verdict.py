"""The written policy, row by row."""

import random

import pytest

from harness import verdict

CALM = [1.0, 1.002, 0.998, 1.001, 0.999, 1.0]


@pytest.mark.parametrize(
    ("meter", "left", "right", "expected"),
    [
        ("instructions", 1000, 1009, "equivalent"),
        ("instructions", 1000, 1011, "regressed"),
        ("instructions", 1000, 989, "improved"),
        ("instructions", 50, 50.9, "equivalent"),  # below the floor of one instruction
        ("allocations", 10, 10, "equivalent"),
        ("allocations", 10, 11, "regressed"),
        ("allocations", 10, 9, "improved"),
        ("allocations", 0, 0, "equivalent"),
        ("allocations", 0, 1, "regressed"),
        ("bytes", 1000, 1005, "equivalent"),
        ("bytes", 1000, 1020, "regressed"),
    ],
)
def test_an_exact_meter_is_judged_by_its_limit(meter, left, right, expected):
    assert verdict.judge_exact(meter, left, right)["verdict"] == expected


def test_nothing_on_both_sides_has_the_ratio_one_and_nothing_on_the_left_has_none():
    assert verdict.judge_exact("allocations", 0, 0)["ratio"] == 1
    assert verdict.judge_exact("allocations", 0, 3)["ratio"] is None


@pytest.mark.parametrize(
    ("factor", "expected"),
    [(1.0, "equivalent"), (1.03, "equivalent"), (1.2, "regressed"), (0.8, "improved")],
)
def test_calm_wall_time_is_judged_by_its_limit(factor, expected):
    judged = verdict.judge_wall({"x": (CALM, [factor * v for v in reversed(CALM)])})["x"]
    assert judged["verdict"] == expected
    assert judged["low"] <= judged["ratio"] <= judged["high"]


def test_wild_wall_time_is_undecided_and_says_what_it_could_have_seen():
    right = [0.7, 1.5, 1.0, 0.8, 1.4, 1.0]
    judged = verdict.judge_wall({"x": (CALM, right)})["x"]
    assert judged["verdict"] == "undecided"
    assert judged["detectable"] > 1.5


def test_too_few_processes_are_no_measurement():
    assert verdict.judge_wall({"x": ([1.0], [1.0])}) == {}


def test_many_cases_share_one_error_budget():
    # Beyond the limit alone, and no longer when sixty are asked at once.
    right = [v * f for v, f in zip(CALM, (1.07, 1.13, 1.09, 1.11, 1.12, 1.10), strict=True)]
    one = verdict.judge_wall({"x": (CALM, right)})["x"]
    many = verdict.judge_wall({str(n): (CALM, CALM) for n in range(60)} | {"x": (CALM, right)})
    assert one["verdict"] == "regressed"
    assert many["x"]["verdict"] == "undecided"


def test_identical_sides_rarely_alarm():
    rng = random.Random(3)
    alarms = 0
    for _ in range(200):
        samples = {
            str(case): tuple([[rng.lognormvariate(0, 0.06) for _ in range(8)] for _ in range(2)])
            for case in range(10)
        }
        judged = verdict.judge_wall(samples).values()
        alarms += any(row["verdict"] in {"regressed", "improved"} for row in judged)
    assert alarms <= 10  # 5 % of 200, and the limit of 5 % makes it fewer


def meters(**said):
    return {
        name: {"verdict": word, "detectable": 1.08} for name, word in said.items()
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "expected", "noted"),
    [
        ({"instructions": "equivalent", "wall": "equivalent"}, "equivalent", ""),
        ({"instructions": "regressed", "wall": "equivalent"}, "regressed", "disagrees"),
        ({"instructions": "equivalent", "wall": "regressed"}, "regressed", "disagrees"),
        ({"instructions": "improved", "wall": "improved"}, "improved", ""),
        ({"instructions": "improved", "allocations": "regressed"}, "regressed", "improved"),
        ({"instructions": "equivalent", "wall": "undecided"}, "equivalent", "+8 %"),
        ({"wall": "undecided"}, "undecided", ""),
        ({"wall": "equivalent"}, "equivalent", ""),
    ],
)
def test_a_case_is_judged_by_its_meters(said, expected, noted):
    word, note = verdict.judge_case(meters(**said))
    assert word == expected
    assert noted in note
    assert bool(noted) == bool(note)


def case(status="measured", word=None):
    return {"name": "a.b", "status": status, "verdict": word}


@pytest.mark.parametrize(
    ("cases", "partial", "exit_status"),
    [
        ([case(word="equivalent")], False, 0),
        ([case(word="undecided")], False, 0),
        ([case(word="improved"), case("not applicable")], False, 0),
        ([case(word="regressed"), case("proof failed")], False, 1),
        ([case(word="equivalent"), case("proof failed")], False, 2),
        ([case(word="equivalent"), case("different answers")], False, 2),
        ([case(word="equivalent")], True, 2),
        ([case("not applicable")], False, 2),
        ([], False, 2),
    ],
)
def test_the_gate(cases, partial, exit_status):
    assert verdict.judge_comparison(cases, partial=partial)["exit"] == exit_status


def test_every_limit_says_why():
    assert set(verdict.LIMITS) == set(verdict.ORDER)
    assert all(limit.why for limit in verdict.LIMITS.values())
