"""The written policy, row by row."""

import random
from dataclasses import replace

import pytest

from benchproof import noise, settings, verdict
from benchproof.meters import SPEAKING

CALM = [1.0, 1.002, 0.998, 1.001, 0.999, 1.0, 1.001, 0.999, 1.002, 0.998]


@pytest.mark.parametrize(
    ("meter", "left", "right", "expected"),
    [
        ("instructions", 1000, 1003, "equivalent"),
        ("instructions", 1000, 1004, "regressed"),
        ("instructions", 1000, 997, "equivalent"),
        ("instructions", 1000, 996, "improved"),
        ("instructions", 50, 50.9, "equivalent"),  # below the floor of one instruction
        ("allocations", 10, 10, "equivalent"),
        ("allocations", 10, 11, "regressed"),
        ("allocations", 10, 9, "improved"),
        ("allocations", 0, 0, "equivalent"),
        ("allocations", 0, 1, "regressed"),
        # Seen at one and the same commit, in a call of a whole page that is counted once.
        ("allocations", 25_014, 25_015, "equivalent"),
        ("allocations", 25_014, 25_019, "equivalent"),
        ("allocations", 25_014, 25_030, "regressed"),
        ("bytes", 1000, 1005, "equivalent"),
        ("bytes", 1000, 1020, "regressed"),
    ],
)
def test_an_exact_meter_is_judged_by_its_limit(meter, left, right, expected):
    assert verdict.judge_exact(meter, left, right)["verdict"] == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        # A clock that is read: what one call allocates is another number each time.
        ([45, 60, 59], [60, 61, 58], "undecided"),
        ([60, 60.2, 61], [62, 63, 64], "regressed"),
        ([43, 44, 43], [44, 43, 44], "undecided"),
        ([43, 43, 43], [44, 44, 44], "regressed"),
        ([43] * 8, [42] * 8, "improved"),
        # Nothing pairs them: that each is more than its neighbour says nothing.
        ([40, 50, 60], [41, 51, 61], "undecided"),
        ([40] * 7 + [60], [50] * 8, "undecided"),
    ],
)
def test_allocations_that_scatter_changed_where_all_of_a_side_are_beyond_the_other(
    left, right, expected
):
    about = verdict.judge_exact("allocations", left, right)
    assert about["verdict"] == expected
    assert about["low"] <= about["ratio"] <= about["high"]
    note = verdict.judge_case({"allocations": about})[1]
    assert note.startswith("allocations undecided: counts scatter") == (expected == "undecided")


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ([1005, 1005, 1006], "regressed"),
        ([1005, 1000, 1006], "undecided"),
        ([994, 995, 996], "improved"),
        ([1001, 999, 1002], "equivalent"),
        ([1005, 1006, 1005, 1004, 1000], "undecided"),
        # Of six and more, one accident at each end decides nothing.
        ([1005, 1006, 1005, 1004, 1005, 1000], "regressed"),
        ([1000, 1001, 1000, 1300, 1000, 700], "equivalent"),
        ([1000, 1001, 1000, 1300, 1300, 1000, 1000, 1000], "undecided"),
    ],
)
def test_layouts_and_builds_must_agree(right, expected):
    judged = verdict.judge_exact("instructions", [1000] * len(right), right)
    assert judged["verdict"] == expected
    assert judged["low"] <= judged["ratio"] <= judged["high"]
    assert judged["right_samples"] == right


@pytest.mark.parametrize(
    ("layouts", "expected"), [(1, None), (3, 0.75), (5, 0.9375), (6, 0.7812), (8, 0.9297)]
)
def test_an_interval_over_layouts_has_the_confidence_of_order_statistics(layouts, expected):
    judged = verdict.judge_exact("instructions", [1000] * layouts, [1005] * layouts)
    assert judged["confidence"] == (expected and pytest.approx(expected, abs=1e-4))


def test_what_nothing_pairs_has_a_range_and_no_confidence():
    judged = verdict.judge_exact("bytes", [1000, 1010, 1000], [1100, 1110, 1120])
    assert judged["confidence"] is None


def test_a_layout_that_moves_both_sides_moves_no_ratio():
    judged = verdict.judge_exact("instructions", [1000, 2000, 1500], [1005, 2010, 1507.5])
    assert (judged["low"], judged["high"]) == pytest.approx((1.005, 1.005))


def test_a_limit_can_be_another_one_than_the_default():
    wide = replace(noise.LIMITS["instructions"], ratio=0.02)
    assert verdict.judge_exact("instructions", 1000, 1015, wide)["verdict"] == "equivalent"
    assert verdict.judge_exact("instructions", 1000, 1015)["verdict"] == "regressed"


def test_nothing_on_both_sides_has_the_ratio_one_and_nothing_on_the_left_has_none():
    assert verdict.judge_exact("allocations", 0, 0)["ratio"] == 1
    assert verdict.judge_exact("allocations", 0, 3)["ratio"] is None


@pytest.mark.parametrize(
    ("factor", "expected"),
    [(1.0, "equivalent"), (1.005, "equivalent"), (1.2, "regressed"), (0.8, "improved"),
     (1.0105, "undecided")],
)  # fmt: skip
def test_calm_wall_time_is_judged_by_its_limit(factor, expected):
    judged = verdict.judge_wall({"x": (CALM, [factor * v for v in reversed(CALM)])})["x"]
    assert judged["verdict"] == expected
    assert judged["low"] <= judged["ratio"] <= judged["high"]


def test_wild_wall_time_is_undecided_and_says_what_it_could_have_seen():
    right = [0.7, 1.5, 1.0, 0.8, 1.4, 1.0]
    judged = verdict.judge_wall({"x": (CALM[:6], right)})["x"]
    assert judged["verdict"] == "undecided"
    assert judged["detectable"] > 1.5


def test_too_few_processes_are_no_measurement():
    assert verdict.judge_wall({"x": ([1.0], [1.0])}) == {}


RISEN = [v * f for v, f in zip(CALM, (1.05, 1.09, 1.03, 1.07, 1.08, 1.06, 1.04, 1.05, 1.08, 1.06),
                               strict=True)]  # fmt: skip


def test_many_cases_share_one_error_budget():
    # Beyond the limit alone, and no longer when thousands are asked at once.
    alone = verdict.judge_wall({"x": (CALM, RISEN)})["x"]
    few = verdict.judge_wall({str(n): (CALM, CALM) for n in range(9)} | {"x": (CALM, RISEN)})
    named = verdict.judge_wall({"x": (CALM, RISEN)}, looks=verdict.Looks(family=10))
    many = verdict.judge_wall({"x": (CALM, RISEN)}, looks=verdict.Looks(family=9000))
    assert alone["verdict"] == "regressed"
    assert many["x"]["verdict"] == "undecided"
    assert few["x"]["p_holm"] == named["x"]["p_holm"] == pytest.approx(10 * alone["p_holm"])


def test_a_few_processes_prove_nothing_however_alike_they_are():
    # Four slow processes out of a fast and a slow kind come along too often.
    four = ([1.0, 1.0001, 1.0, 1.0001], [1.1, 1.1001, 1.1002, 1.1])
    assert verdict.judge_wall({"x": four})["x"]["verdict"] == "regressed"
    many = verdict.judge_wall({"x": four}, looks=verdict.Looks(family=2))
    assert many["x"]["verdict"] == "undecided"


def test_an_early_look_takes_little_of_the_error_budget_and_all_looks_take_it_once():
    looks = verdict.Looks(0.01)
    paid = [looks.pay(fraction) for fraction in (0.25, 0.5, 0.75, 1.0)]
    assert paid == sorted(paid)
    assert paid[0] < 1e-6 < paid[1] < 0.001
    assert sum(paid) == pytest.approx(0.01)


def test_looking_twice_at_the_same_part_costs_once_and_looking_back_gives_nothing_new():
    looks = verdict.Looks(0.01)
    assert looks.pay(1.0) == looks.pay(1.0) == pytest.approx(0.01)
    assert looks.pay(0.5) == pytest.approx(0.01)


def test_what_an_early_look_called_changed_stays_so():
    looks = verdict.Looks()
    early = verdict.judge_wall({"x": (CALM, [2 * v for v in CALM])}, looks=looks, fraction=0.5)
    late = verdict.judge_wall({"x": (CALM, CALM)}, looks=looks)
    assert early["x"]["verdict"] == late["x"]["verdict"] == "regressed"


def test_what_lies_beyond_its_limit_so_far_seems_changed():
    times = {
        "slower": (CALM[:4], RISEN[:4]), "faster": (RISEN[:4], CALM[:4]),
        "wild": (CALM[:4], [0.9, 1.1, 0.95, 1.05]), "few": ([1.0], [1.0]),
    }  # fmt: skip
    assert verdict.seem_changed(times) == {"slower", "faster"}
    wide = settings.parse('[tool.benchproof.benchmarks."slower"]\nwall = 0.2\n')
    assert verdict.seem_changed(times, wide) == {"faster"}


def test_a_benchmark_of_its_own_limit_is_judged_by_it():
    loose = settings.parse('[tool.benchproof.benchmarks."toy.*"]\nwall = 0.2\n')
    judged = verdict.judge_wall({"toy.x": (CALM, RISEN), "other.x": (CALM, RISEN)}, loose)
    assert [row["verdict"] for row in judged.values()] == ["equivalent", "regressed"]
    assert [row["limit"] for row in judged.values()] == [0.2, 0.01]


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
    assert alarms <= 6  # 2 are expected of 1 %, and the limit makes it fewer


def meters(**said):
    """Meters that said so; wall time with an interval around its ratio."""
    return {
        name: {"verdict": word, "detectable": 1.08, "ratio": ratio, "low": ratio - 0.01,
               "high": ratio + 0.01}
        for name, (word, ratio) in (
            (name, given if isinstance(given, tuple) else (given, RATIOS[given]))
            for name, given in said.items()
        )
    }  # fmt: skip


RATIOS = {"regressed": 1.2, "improved": 0.8, "equivalent": 1.0, "undecided": 1.02}


@pytest.mark.parametrize(
    ("said", "expected", "noted"),
    [
        ({"instructions": "equivalent", "wall": "equivalent"}, "equivalent", ""),
        ({"instructions": "regressed", "wall": "equivalent"}, "regressed", "disagrees"),
        ({"instructions": "equivalent", "wall": "regressed"}, "regressed", "disagrees"),
        ({"instructions": "equivalent", "wall": "improved"}, "improved", "disagrees"),
        ({"instructions": "improved", "wall": "improved"}, "improved", ""),
        # What a call takes improved, and only what it asks for on the way regressed.
        ({"instructions": "improved", "allocations": "regressed"}, "trade-off", "improved"),
        ({"instructions": "improved", "bytes": "regressed"}, "trade-off", "bytes regressed (+20.0"),
        (
            {"instructions": "improved", "bytes": "regressed", "wall": "improved"},
            "trade-off",
            "instructions improved (-20.0",
        ),
        (
            {"instructions": "improved", "bytes": "regressed", "wall": "undecided"},
            "trade-off",
            "undecided",
        ),
        (
            {"instructions": "equivalent", "bytes": "regressed", "wall": "improved"},
            "trade-off",
            "disagrees",
        ),
        ({"wall": "improved", "bytes": "regressed"}, "trade-off", "disagrees"),
        # Nothing excuses the other way round, and what is not known pays for nothing.
        ({"instructions": "regressed", "bytes": "improved"}, "regressed", "improved"),
        (
            {"instructions": "regressed", "bytes": "regressed", "wall": "improved"},
            "regressed",
            "believe the time",
        ),
        (
            {"instructions": "improved", "bytes": "regressed", "wall": "regressed"},
            "regressed",
            "disagrees",
        ),
        (
            {"instructions": "undecided", "bytes": "regressed", "wall": "improved"},
            "regressed",
            "undecided",
        ),
        (
            {"instructions": "equivalent", "bytes": "regressed", "wall": ("improved", 0.97)},
            "regressed",
            "disagrees",
        ),
        ({"instructions": "equivalent", "bytes": "regressed"}, "regressed", ""),
        # Apart, the note says what that usually means.
        ({"instructions": "regressed", "wall": "improved"}, "regressed", "wait less"),
        ({"instructions": "improved", "wall": "regressed"}, "regressed", "wait more"),
        # Within what the place of code alone can do to time.
        ({"instructions": "improved", "wall": ("regressed", 1.03)}, "improved", "disagrees"),
        (
            {"allocations": "improved", "instructions": "equivalent", "wall": ("regressed", 1.03)},
            "improved",
            "disagrees",
        ),
        (
            {"instructions": "improved", "bytes": "regressed", "wall": ("regressed", 1.03)},
            "trade-off",
            "disagrees",
        ),
        ({"allocations": "improved", "wall": ("regressed", 1.03)}, "regressed", "disagrees"),
        ({"instructions": "equivalent", "wall": "undecided"}, "equivalent", "+8 %"),
        ({"instructions": "undecided", "wall": "equivalent"}, "undecided", "+1.00 % to +3.00 %"),
        ({"instructions": "undecided", "allocations": "regressed"}, "regressed", "disagree"),
        ({"instructions": "equivalent", "allocations": "undecided"}, "undecided", "counts scatter"),
        ({"wall": "undecided"}, "undecided", ""),
        ({"wall": "equivalent"}, "equivalent", ""),
        # As far as code that lies elsewhere can move it, wall time alone is not believed.
        ({"instructions": "equivalent", "wall": ("regressed", 1.03)}, "undecided", "+3.00 %"),
        ({"instructions": "equivalent", "wall": ("improved", 0.97)}, "undecided", "-3.00 %"),
        ({"instructions": "regressed", "wall": ("regressed", 1.03)}, "regressed", ""),
        ({"instructions": "undecided", "wall": ("regressed", 1.03)}, "regressed", "disagree"),
        ({"wall": ("regressed", 1.03)}, "regressed", ""),
        # The slowest calls speak whatever the others do, and pay for nothing.
        (
            {"instructions": "equivalent", "wall": "equivalent", "tail": "regressed"},
            "regressed",
            "its slowest calls regressed (+20.0",
        ),
        (
            {"instructions": "equivalent", "wall": ("regressed", 1.03), "tail": "regressed"},
            "regressed",
            "slowest calls",
        ),
        ({"instructions": "improved", "tail": "regressed"}, "regressed", "slowest calls"),
        ({"instructions": "equivalent", "tail": "improved"}, "improved", "slowest calls"),
        ({"instructions": "equivalent", "tail": "undecided"}, "equivalent", ""),
        (
            {"instructions": "improved", "bytes": "regressed", "tail": "regressed"},
            "regressed",
            "slowest calls",
        ),
    ],
)
def test_a_case_is_judged_by_its_meters(said, expected, noted):
    word, note = verdict.judge_case(meters(**said))
    assert word == expected
    assert noted in note.replace("\N{NO-BREAK SPACE}", " ")
    assert bool(noted) == bool(note)


def timed_again(word, **said):
    """Meters as above, with wall time of builds in which the code lies elsewhere."""
    found = meters(**said)
    found["wall"]["elsewhere"] = meters(wall=word)["wall"]
    return found


@pytest.mark.parametrize(
    ("said", "again", "expected", "noted"),
    [
        ({"instructions": "equivalent"}, "regressed", "regressed", "and +20.0"),
        ({"instructions": "equivalent"}, "undecided", "undecided", "but +2.00"),
        ({"instructions": "improved"}, "undecided", "improved", "which may be why"),
        ({"instructions": "improved", "bytes": "regressed"}, "equivalent", "trade-off", "but"),
        ({"instructions": "equivalent", "bytes": "regressed"}, "undecided", "regressed", ""),
        ({"instructions": "regressed"}, "undecided", "regressed", ""),
    ],
)
def test_a_slow_down_of_the_clock_alone_has_to_be_there_in_other_builds_too(
    said, again, expected, noted
):
    word, note = verdict.judge_case(timed_again(again, **said, wall="regressed"))
    assert word == expected
    assert noted in note
    assert bool(noted) == bool(note)


@pytest.mark.parametrize(
    ("said", "alone"),
    [
        ({"instructions": "equivalent", "wall": "regressed"}, True),
        ({"instructions": "improved", "wall": "regressed"}, True),
        ({"instructions": "improved", "bytes": "regressed", "wall": "regressed"}, True),
        # As far as where code lies explains it, it is not believed anyway.
        ({"instructions": "equivalent", "wall": ("regressed", 1.03)}, False),
        ({"instructions": "regressed", "wall": "regressed"}, False),
        ({"instructions": "equivalent", "bytes": "regressed", "wall": "regressed"}, False),
        # Without a count nothing says that the work is the same.
        ({"wall": "regressed"}, False),
        ({"instructions": "equivalent", "wall": "improved"}, False),
        ({"instructions": "equivalent"}, False),
    ],
)
def test_only_what_the_clock_alone_calls_slower_is_timed_in_other_builds(said, alone):
    assert verdict.by_the_clock_alone(meters(**said)) is alone


def case(status="measured", word=None, accepted=None):
    return {"name": "a.b", "status": status, "verdict": word, "accepted": accepted}


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
        ([case(word="regressed")], True, 1),  # as docs/gate.md says of Ctrl-C
        ([case("not applicable")], False, 2),
        ([], False, 2),
    ],
)
def test_the_gate(cases, partial, exit_status):
    assert verdict.judge_gate(cases, partial=partial)["exit"] == exit_status


ACCEPTED = {"reason": "a check", "until": "2031-01-01", "amount": 0.05}


@pytest.mark.parametrize(
    ("cases", "states", "exit_status"),
    [
        ([case(word="regressed", accepted=ACCEPTED)], ["used"], 0),
        ([case(word="regressed", accepted=ACCEPTED), case(word="regressed")], ["used"], 1),
        ([case(word="regressed")], ["exceeded"], 1),
        ([case(word="regressed")], ["expired"], 1),
        ([case(word="equivalent")], ["expired"], 2),
        ([case(word="equivalent")], ["unmatched"], 2),
        ([case(word="equivalent")], ["not asked", "undecided"], 0),
    ],
)
def test_what_somebody_accepted_does_not_fail_the_gate_while_it_holds(cases, states, exit_status):
    entries = [{"state": state} for state in states]
    assert verdict.judge_gate(cases, entries)["exit"] == exit_status


@pytest.mark.parametrize(
    ("excused", "setting", "exit_status"),
    [(None, "pass", 0), (None, "fail", 1), (ACCEPTED, "fail", 0)],
)
def test_a_trade_off_fails_where_the_project_says_so(excused, setting, exit_status):
    cases = [case(word="trade-off", accepted=excused), case(word="improved")]
    told = verdict.judge_gate(cases, trade_off=setting)
    assert told["exit"] == exit_status
    assert "1 trade-off" in told["summary"]


@pytest.mark.parametrize(
    ("cases", "exit_status"),
    [
        ([case(word="equivalent"), case(word="undecided")], 3),
        ([case(word="regressed"), case(word="undecided")], 1),
        ([case(status="error", word=None), case(word="undecided")], 2),
        ([case(word="equivalent"), case(word="changed")], 0),
    ],
)
def test_a_project_may_demand_that_every_case_is_decided(cases, exit_status):
    assert verdict.judge_gate(cases, decide="all")["exit"] == exit_status
    assert verdict.judge_gate(cases)["exit"] == (0 if exit_status == 3 else exit_status)


@pytest.mark.parametrize(
    ("left", "right", "word"),
    [
        (10, 10, "equivalent"), (10, 12, "changed"), (-5, 5, "changed"), (0, 0, "equivalent"),
        (0, -3, "changed"), (10, 8, "changed"), (-2.0, -2.0, "equivalent"),
    ],
)  # fmt: skip
def test_a_tracked_value_is_the_same_or_has_changed(left, right, word):
    assert verdict.judge_exact("track", [left] * 3, [right] * 3)["verdict"] == word


def test_peak_memory_that_falls_is_an_improvement_and_some_pages_are_none():
    assert verdict.judge_exact("peakmemory", 80e6, 40e6)["verdict"] == "improved"
    assert verdict.judge_exact("peakmemory", 8e6, 8.2e6)["verdict"] == "equivalent"


def test_an_extreme_note_has_no_exponent():
    wall = meters(instructions="equivalent", wall="undecided")
    wall["wall"] |= {"detectable": 5.6}
    assert verdict.judge_case(wall)[1].endswith("(could have seen \N{MULTIPLICATION SIGN}5.60)")


def test_the_summary_says_what_was_accepted_and_what_is_void():
    told = verdict.judge_gate([case(word="regressed", accepted=ACCEPTED)], [{"state": "expired"}])
    assert "1 regressed (1 accepted)" in told["summary"]
    assert "1 accepted without effect (expired)" in told["summary"]


def test_every_limit_says_why():
    assert set(noise.LIMITS) == set(SPEAKING)
    assert all(limit.why_least for limit in noise.LIMITS.values())
    assert all(limit.ratio >= limit.least for limit in noise.LIMITS.values())
