"""When a change of instructions is counted again where memory is laid out otherwise."""

import random

import pytest

from benchproof import counting, noise, verdict
from benchproof.collected import FIRST, Collected, Spot
from benchproof.progress import Teller
from benchproof.settings import DEFAULTS
from benchproof.suite import Case

CASE = Case("toy.time_x", "toy.time_x", None, "1", answers_may_differ=False)


class Counted:
    """A bench whose counts come from a list, one a layout; the last one stays."""

    settings, tell, after = DEFAULTS, Teller(), 0.0

    def __init__(self, ratios, builds=1, *, alike=True, layouts=noise.LAYOUTS):
        self.got, self.alike, self.layouts = Collected(), alike, layouts
        self.builds, self.ratios, self.spots = builds, list(ratios), []
        self.count_instructions([CASE], FIRST)

    def count_instructions(self, cases, spot, _heard=None):
        self.spots.append(spot)
        ratio = self.ratios.pop(0) if len(self.ratios) > 1 else self.ratios[0]
        for case in cases:
            self.got.keep("instructions", "left", case.name, 1000.0, spot)
            self.got.keep("instructions", "right", case.name, 1000.0 * ratio, spot)

    def judged(self):
        return verdict.judge_exact("instructions", *self.got.numbers("instructions", CASE.name))


@pytest.mark.parametrize(
    ("ratio", "layouts"),
    [
        (1.001, 1),  # equivalent at once
        (1.002, noise.LAYOUTS),  # near the limit: an accident may hide a change
        (0.998, noise.LAYOUTS),
        (1.03, noise.LAYOUTS),  # it stays: believed
        (1.004, noise.LAYOUTS),
        (1.5, 1),  # no layout explains that
    ],
)
def test_a_change_that_stays_is_believed_after_a_few_layouts(ratio, layouts):
    bench = Counted([ratio])
    counting.count_again(bench, [CASE])
    assert bench.spots == [Spot(0, layout) for layout in range(layouts)]
    assert bench.judged()["verdict"] == ("equivalent" if ratio < 1.003 else "regressed")


@pytest.mark.parametrize(
    ("tests", "alpha", "expected"),
    [
        (1, 0.01, noise.LAYOUTS),
        (254, 0.01, 3),
        (300, 0.01, 4),  # 300 * 0.0195 ** 3 is more than a fifth of 1 %
        (254, 0.001, 4),
        (10**12, 0.01, noise.MOST_LAYOUTS),
        (0, 0.5, noise.LAYOUTS),
    ],
)
def test_so_many_layouts_agree_that_all_tests_share_the_error_budget(tests, alpha, expected):
    enough = noise.layouts(tests, alpha)
    assert enough == expected
    bench = Counted([1.01], layouts=enough)
    counting.count_again(bench, [CASE])
    assert len(bench.spots) == enough


def test_layouts_that_stray_by_themselves_agree_no_oftener_than_is_paid_for():
    rng, stray, cases = random.Random(8), 0.2, 4000
    changed = 0
    for _ in range(cases):
        strayed = [1 + (rng.random() < stray) * rng.choice((-0.02, 0.02)) for _ in range(9)]
        bench = Counted(strayed)
        counting.count_again(bench, [CASE])
        changed += bench.judged()["verdict"] in verdict.CHANGES
    assert 0 < changed <= cases * stray**noise.LAYOUTS


@pytest.mark.parametrize("accident", [0.97, 1.03])
def test_an_accident_of_one_layout_is_not_believed(accident):
    bench = Counted([accident, 1.0])
    counting.count_again(bench, [CASE])
    assert noise.LAYOUTS <= len(bench.spots) <= noise.MOST_LAYOUTS
    assert bench.judged()["verdict"] in {"equivalent", "undecided"}


def test_a_change_that_one_layout_hides_is_seen_in_the_others():
    bench = Counted([1.002, 1.006])
    counting.count_again(bench, [CASE])
    assert len(bench.spots) >= noise.LAYOUTS
    assert bench.judged()["verdict"] == "regressed"


def test_compiled_code_beside_pure_python_is_counted_once():
    bench = Counted([0.8], alike=False)
    counting.count_again(bench, [CASE])
    assert bench.spots == [FIRST]


def test_layouts_are_counted_in_every_build_in_turn():
    bench = Counted([1.03], builds=2)
    counting.count_again(bench, [CASE])
    assert bench.spots == [Spot(0, 0), Spot(1, 1), Spot(0, 2)]


def test_only_spots_that_both_sides_have_are_held_against_one_another():
    got = Collected()
    for spot, number in ((Spot(0, 1), 2.0), (FIRST, 1.0)):
        got.keep("instructions", "left", "a", number, spot)
    got.keep("instructions", "right", "a", 3.0, Spot(0, 1))
    assert got.numbers("instructions", "a") == ([2.0], [3.0])
    assert got.numbers("bytes", "a") == ([], [])
