"""The search itself, over numbers: how many questions it asks, and where it ends."""

import pytest

from benchproof.bisect.line import most_builds, narrow


class Asked:
    """A range of values, some of them lost; counts the questions."""

    def __init__(self, values, lost=()):
        self.values, self.lost, self.asked = values, set(lost), []

    def __call__(self, place):
        self.asked.append(place)
        return "does not build" if place in self.lost else self.values[place]

    def narrow(self):
        last = len(self.values) - 1
        return narrow((0, self.values[0]), (last, self.values[last]), self)


def step(count, place, ratio=1.02):
    return Asked([100.0 * (ratio if number >= place else 1) for number in range(count)])


@pytest.mark.parametrize("ratio", [1.02, 0.9])
@pytest.mark.parametrize("place", range(1, 65))
def test_one_culprit_in_64_commits_takes_six_builds_beside_the_ends(place, ratio):
    asked = step(65, place, ratio)
    found = asked.narrow()
    assert (found.low, found.high, found.share) == (place - 1, place, 1)
    assert len(asked.asked) <= 6
    assert most_builds(65) == 8


def test_each_stop_is_asked_once():
    asked = step(200, 77)
    asked.narrow()
    assert len(set(asked.asked)) == len(asked.asked)


@pytest.mark.parametrize(("count", "builds"), [(2, 2), (3, 3), (4, 4), (5, 4), (9, 5), (1025, 12)])
def test_the_expected_number_of_builds_is_that_of_a_binary_search(count, builds):
    assert most_builds(count) == builds


def test_lost_stops_are_gone_around():
    asked = step(65, 40)
    asked.lost = {31, 32, 33, 36}
    found = asked.narrow()
    assert (found.low, found.high) == (39, 40)


def test_a_culprit_among_lost_stops_is_a_range():
    asked = step(65, 40)
    asked.lost = {38, 39, 40, 41}
    found = asked.narrow()
    assert (found.low, found.high) == (37, 42)
    assert (found.before, found.after) == (100, 102)


def test_nothing_between_two_ends_needs_no_build():
    asked = step(2, 1)
    assert (asked.narrow().low, asked.asked) == (0, [])


def test_of_several_changes_one_is_found_and_its_share_told():
    asked = Asked([100.0] * 10 + [101.0] * 10 + [106.0] * 10 + [105.0] * 10)
    found = asked.narrow()
    assert (found.low, found.high) == (19, 20)
    assert found.share == pytest.approx(1.0)
    asked = Asked([100.0] * 10 + [103.0] * 10 + [110.0] * 10)
    assert asked.narrow().share == pytest.approx(0.7)


def test_a_wobble_smaller_than_half_of_the_change_does_not_mislead():
    values = [100.0 + (number % 3) * 0.3 + (2 if number >= 23 else 0) for number in range(65)]
    found = Asked(values).narrow()
    assert (found.low, found.high) == (22, 23)
