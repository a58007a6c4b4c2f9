"""Changes are found where they were put, at the very commit, and nowhere else."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from benchproof.changes import search, segment
from benchproof.changes.search import find_all
from benchproof.history.model import Commit
from benchproof.noise import FLOORS
from tests.harness.generated import Generator, commits, drawn, find, key, series_of

#: Enough series for the rates to mean something.
MANY = 40


def rates(drawing, near=0):
    """Recall and precision of a search of a drawn history, with places up to `near` off."""
    changes = find_all(drawing.history)
    found = {(change.key, change.likely) for change in changes}
    real = {(key, place) for key, places in drawing.truth.items() for place in places}

    def met(one, others):
        return any((one[0], one[1] + off) in others for off in range(-near, near + 1))

    recall = sum(met(each, found) for each in real) / len(real)
    precision = sum(met(each, real) for each in found) / max(1, len(found))
    return recall, precision


def draw(way, count, many=MANY, meter="instructions", seed=1, **more):
    """A history of so many series of a kind."""
    generator = Generator(seed)
    return drawn([getattr(generator, way)(key(number, meter), count, **more)
                  for number in range(many)], count)  # fmt: skip


def step_at(place, ratio, count=60, meter="instructions", level=10_000.0, **more):
    """A series with one step."""
    return series_of(
        key(0, meter), np.where(np.arange(count) < place, level, level * ratio), **more
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_steps_of_2_percent_at_every_commit_are_all_found_at_their_commits(seed):
    recall, precision = rates(draw("exact", 88, changes=87, seed=seed))
    assert recall >= 0.99
    assert precision >= 0.99


@pytest.mark.parametrize("changes", [1, 5, 20, 40, 60])
def test_steps_between_calm_stretches_of_any_length_are_found(changes):
    recall, precision = rates(draw("exact", 88, changes=changes))
    assert recall >= 0.97
    assert precision >= 0.99


def test_single_points_out_of_place_are_no_changes():
    recall, precision = rates(draw("exact", 200, changes=3, apart=5, blips=6))
    assert recall == 1
    assert precision == 1


def test_the_wobble_of_layouts_is_no_change():
    assert find_all(draw("exact", 300, changes=0).history) == []


def test_wall_time_is_searched_through_its_noise():
    recall, precision = rates(draw("wall", 400, meter="wall", changes=4), near=2)
    assert recall == 1
    assert precision == 1


def test_noise_alone_is_no_change():
    assert find_all(draw("wall", 1000, meter="wall", changes=0).history) == []


def test_a_step_has_its_size_and_its_commit():
    (change,) = find(step_at(30, 1.02))
    assert (change.before, change.after, change.likely) == (29, 30, 30)
    assert change.exact
    assert change.ratio == pytest.approx(1.02, abs=1e-4)
    assert change.low < 1.02 < change.high
    assert change.high - change.low < 0.001
    assert change.p < 1e-6
    assert change.kind == "code"


def test_commits_that_were_not_measured_are_the_range():
    series = step_at(3, 1.1, count=6, index=[0, 4, 9, 20, 21, 30])
    (change,) = find(series)
    assert (change.before, change.after) == (9, 20)
    assert not change.exact


@pytest.mark.parametrize(("ratio", "found"), [(1.004, 0), (1.007, 1), (0.996, 0), (0.993, 1)])
def test_a_lasting_step_of_instructions_counts_from_its_floor_on(ratio, found):
    assert FLOORS["instructions"].ratio == 0.005
    assert len(find(step_at(30, ratio))) == found


def test_the_newest_commit_s_step_is_found_before_anything_follows_it():
    (change,) = find(step_at(59, 1.05))
    assert change.after == 59


def test_one_commit_out_of_place_is_a_blip_unless_it_is_said_to_be_taken_back():
    values = np.full(60, 10_000.0)
    values[30] *= 1.08
    series = series_of(key(), values)
    history = commits(60)
    assert find(series, history) == []
    history[31] = Commit("f" * 40, 0, "Slower again", reverts=("1-1",))
    assert [change.after for change in find(series, history)] == [30, 31]
    history[31] = Commit("f" * 40, 0, 'Revert "Faster"')
    assert [change.after for change in find(series, history)] == [30, 31]


def test_an_allocation_more_is_a_change_and_from_none_at_all_it_is_infinite():
    (change,) = find(step_at(30, 34 / 33, meter="allocations", level=33.0))
    assert change.ratio == pytest.approx(34 / 33)
    series = series_of(key(0, "allocations"), np.repeat([0.0, 2.0], 30))
    (change,) = find(series)
    assert change.ratio == np.inf
    assert change.told(commits(60))["ratio"] is None


def test_a_fraction_of_an_allocation_is_no_change():
    series = series_of(key(0, "allocations"), np.repeat([33.0, 33.02], 30))
    assert find(series) == []


def test_wide_intervals_weigh_less_than_narrow_ones():
    values = np.full(80, 1e-6)
    values[40:44] *= 1.06
    narrow = series_of(key(0, "wall"), values, half=0.002)
    assert len(find(narrow)) == 2
    half = np.full(80, 0.002)
    half[40:44] = 0.08
    assert find(series_of(key(0, "wall"), values, half=half)) == []


def test_where_noise_hides_the_commit_the_range_says_so():
    generator = Generator(5)
    values = np.where(np.arange(200) < 100, 1e-6, 1.04e-6)
    values = values * np.exp(generator.random.normal(0, 0.03, 200))
    (change,) = find(series_of(key(0, "wall"), values, half=0.05))
    assert change.before + 1 < change.after
    assert change.before < 100 <= change.after


@pytest.mark.parametrize("seed", range(20))
def test_the_fit_is_the_cheapest_of_all_ways_to_cut(seed):
    random = np.random.default_rng(seed)
    x = np.repeat(random.normal(0, 3, 4), random.integers(1, 4, 4)) + random.normal(0, 1, 1)
    sums = segment.Sums.over(x, random.uniform(0.5, 2, len(x)))
    edges, price = np.arange(len(x) + 1), 2.0

    def cost(places):
        parts = list(pairwise([0, *places, len(x)]))
        level = [sums.mean(*part) - sums.middle for part in parts]
        return price * len(places) + sum(
            sums.second[stop] - sums.second[start] - mean**2 * sums.weigh(start, stop)
            for (start, stop), mean in zip(parts, level, strict=True)
        )

    ways = [each for many in range(len(x)) for each in combinations(range(1, len(x)), many)]
    assert cost(segment._pelt(sums, edges, price)) == pytest.approx(min(map(cost, ways)))


def test_more_tests_need_more_evidence():
    assert search._adjust([0.001], 1) == [0.001]
    assert search._adjust([0.001], 10) == [0.01]
    assert search._adjust([0.001, 0.001], 10) == [0.005, 0.005]
    assert search._adjust([0.5], 1000) == [1.0]
    assert search._adjust([], 10) == []


def test_values_that_are_none_are_left_out():
    series = step_at(30, 1.5, meter="wall", level=1e-6)
    series.value[10] = 0.0
    series.value[50] = -1.0
    assert [change.after for change in find(series)] == [30]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_short_series_are_searched_too(count):
    values = [10_000.0, 12_000.0, 12_000.0][:count]
    found = find(series_of(key(), values))
    assert [change.after for change in found] == ([1] if count > 1 else [])


@pytest.mark.parametrize("count", [513, 515, 519, 1027])
def test_noise_is_no_change_where_few_points_are_behind_those_it_was_estimated_of(count):
    draws = np.random.default_rng(count)
    values = np.exp(draws.normal(np.log(1e-5), 0.05, (MANY, count)))
    assert [find(series_of(key(0, "wall"), each)) for each in values] == [[]] * MANY


def test_a_step_where_the_noise_is_estimated_anew_is_found_once():
    for place in (511, 512, 513):
        (change,) = find(step_at(place, 1.02, count=1200))
        assert change.after == place
