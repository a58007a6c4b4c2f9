"""Ratios, intervals and the shared error budget, against numbers known from elsewhere."""

import math
import random

import numpy as np
import pytest
from scipy.stats.mstats import trimmed_mean_ci
from statsmodels.stats.multitest import multipletests

from benchproof import stats


def test_a_constant_ratio_has_an_interval_without_width():
    estimate = stats.paired_ratio([1.0, 2.0, 4.0], [1.5, 3.0, 6.0], 0.95)
    assert [estimate.ratio, estimate.low, estimate.high] == pytest.approx([1.5] * 3)


def test_the_interval_is_the_textbook_one():
    # Logarithms -0.1, 0, 0.1: standard error 0.1 / sqrt(3), t(0.975, 2) = 4.302653.
    right = [math.exp(x) for x in (-0.1, 0.0, 0.1)]
    estimate = stats.paired_ratio([1.0] * 3, right, 0.95)
    half = 4.302653 * 0.1 / math.sqrt(3)
    assert estimate.ratio == pytest.approx(1.0)
    assert math.log(estimate.high) == pytest.approx(half, rel=1e-6)
    assert math.log(estimate.low) == pytest.approx(-half, rel=1e-6)


def test_swapping_the_sides_inverts_the_ratio():
    left, right = [1.0, 1.1, 0.9, 1.3], [2.0, 2.1, 2.4, 1.9]
    one, other = (stats.paired_ratio(*pair, 0.9) for pair in ((left, right), (right, left)))
    assert one.ratio == pytest.approx(1 / other.ratio)
    assert one.low == pytest.approx(1 / other.high)


def test_a_disturbance_that_both_processes_of_a_block_share_cancels():
    weather = [1.0, 1.4, 0.7, 2.0]
    estimate = stats.paired_ratio(weather, [1.1 * w for w in weather], 0.95)
    assert estimate.low == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("left", "right"), [([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([1, 2, 0], [1, 2, 3])]
)
def test_what_cannot_be_estimated_is_refused(left, right):
    with pytest.raises(ValueError, match=r"pairs or more|positive"):
        stats.paired_ratio(left, right, 0.95)


@pytest.mark.parametrize("blocks", [3, 9, 10, 19, 20, 60])
def test_the_interval_is_the_one_of_scipy(blocks):
    logs = np.random.default_rng(blocks).standard_t(2, blocks) * 0.05
    cut = int(stats.TRIMMED * blocks)
    low, high = trimmed_mean_ci(logs, (cut / blocks + 1e-9,) * 2, alpha=0.01)
    estimate = stats.paired_ratio(np.ones(blocks), np.exp(logs), 0.99)
    assert [estimate.low, estimate.high] == pytest.approx([math.exp(low), math.exp(high)])
    assert estimate.freedom == blocks - 2 * cut - 1


def test_a_neighbour_that_takes_the_core_once_hides_no_change():
    rng = random.Random(4)
    calm = [1.05 * math.exp(rng.gauss(0, 0.02)) for _ in range(30)]
    disturbed = [*calm[:28], 1.9, 0.5]
    estimates = [stats.paired_ratio([1.0] * 30, right, 0.99) for right in (calm, disturbed)]
    assert max(stats.p_beyond(estimate, 0.01) for estimate in estimates) < 1e-5


def test_a_probability_is_never_smaller_than_so_few_blocks_can_say():
    alike = stats.paired_ratio([1.0] * 6, [1.5] * 6, 0.95)
    assert stats.p_beyond(alike, 0.01) == 2 * 0.25**6


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng = random.Random(7)
    covered = 0
    for _ in range(1000):
        right = [1.2 * math.exp(rng.gauss(0, 0.05)) for _ in range(8)]
        estimate = stats.paired_ratio([1.0] * 8, right, 0.9)
        covered += estimate.low <= 1.2 <= estimate.high
    assert 870 <= covered <= 930


def test_holm_multiplies_the_smallest_by_all_and_the_next_by_one_less():
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([]) == []


def test_holm_says_what_statsmodels_says():
    p_values = np.random.default_rng(8).random(30) ** 3
    padded = [*p_values, *[1.0] * 20]
    expected = multipletests(padded, method="holm")[1][:30]
    assert stats.holm(list(p_values), 50) == pytest.approx(list(expected))


def test_holm_keeps_the_chance_of_even_one_false_rejection_among_many():
    rng = random.Random(5)
    false_alarms = sum(min(stats.holm([rng.random() for _ in range(60)])) < 0.05 for _ in range(40))
    assert false_alarms <= 6  # 2 are expected; without Holm all 40 would be


def test_a_change_within_the_limit_is_compatible_with_it():
    within = stats.paired_ratio([1.0] * 9, 3 * [1.02, 1.03, 1.02], 0.95)
    beyond = stats.paired_ratio([1.0] * 9, 3 * [1.22, 1.23, 1.22], 0.95)
    assert stats.p_beyond(within, 0.05) == 1.0
    assert stats.p_beyond(beyond, 0.05) < 1e-4


def test_tests_that_are_not_shown_count_too():
    assert stats.holm([0.01, 0.5], 10) == pytest.approx([0.1, 1.0])
    assert stats.holm([], 10) == []


def test_the_error_budget_is_spent_late_and_only_once():
    parts = [stats.spent(0.01, fraction) for fraction in (0, 0.25, 0.5, 0.75, 1, 2)]
    assert parts == sorted(parts)
    assert parts[0] == 0
    assert parts[-2:] == pytest.approx([0.01, 0.01])
    # O'Brien and Fleming's shape: 2 - 2 * Phi(2.5758 / sqrt(1 / 2)).
    assert parts[2] == pytest.approx(2.695e-4, rel=1e-3)


def test_the_detectable_change_grows_with_noise_and_with_the_number_of_questions():
    calm = stats.paired_ratio([1.0] * 5, [1.0, 1.01, 0.99, 1.0, 1.01], 0.95)
    wild = stats.paired_ratio([1.0] * 5, [1.0, 1.1, 0.9, 1.0, 1.1], 0.95)
    assert 1.05 < stats.detectable(calm, 0.05, 0.05, 1) < stats.detectable(calm, 0.05, 0.05, 60)
    assert stats.detectable(calm, 0.05, 0.05, 1) < stats.detectable(wild, 0.05, 0.05, 1)
