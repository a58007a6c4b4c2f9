"""What is open, what is newest, how suites stand."""

from dataclasses import replace

import pytest

from benchproof.render import units
from benchproof.site import views
from tests.harness.sample_history import make_changes, make_history


@pytest.fixture
def change():
    return make_changes(make_history())[0]


def at(change, place, ratio, **changes):
    return replace(change, before=place - 1, after=place, likely=place, ratio=ratio, **changes)


def test_a_regression_is_open_until_it_is_taken_back(change):
    worse, better = at(change, 5, 1.2), at(change, 9, 1 / 1.2)
    assert [each.change for each in views.open_regressions([worse])] == [worse]
    assert views.open_regressions([worse, better]) == []


def test_what_is_left_of_a_regression_counts(change):
    (left,) = views.open_regressions([at(change, 5, 1.5), at(change, 9, 0.8)])
    assert left.remaining == pytest.approx(1.2)


def test_an_improvement_before_a_regression_does_not_hide_it(change):
    (left,) = views.open_regressions([at(change, 5, 0.5), at(change, 9, 1.3)])
    assert left.change.after == 9


def test_the_worst_regression_stands_first_one_a_series(change):
    other = replace(change, key=replace(change.key, impl="python"))
    found = views.open_regressions([at(change, 5, 1.1), at(change, 7, 1.1), at(other, 5, 1.3)])
    assert [each.change.key.impl for each in found] == ["python", "cython"]
    assert found[1].remaining == pytest.approx(1.21)


def test_what_the_platform_did_is_no_regression(change):
    assert views.open_regressions([at(change, 5, 1.2, kind="platform")]) == []


def test_something_where_nothing_was_is_open_until_it_is_gone(change):
    came = at(change, 5, float("inf"))
    (left,) = views.open_regressions([came])
    assert units.change(left.remaining) == "from 0"
    assert views.open_regressions([came, at(change, 9, 0.0)]) == []


def test_the_newest_change_stands_first_and_of_one_commit_the_greatest(change):
    found = views.newest_first([at(change, 5, 2.0), at(change, 9, 1.1), at(change, 9, 0.5)])
    assert [(each.after, each.ratio) for each in found] == [(9, 0.5), (9, 1.1), (5, 2.0)]


def test_suites_are_summed_up():
    history = make_history()
    changes = make_changes(history)
    bind, decode = views.suites(history, changes, views.open_regressions(changes))
    assert (bind.name, bind.benchmarks, len(bind.open), bind.changes) == ("bind", 1, 2, 2)
    assert (decode.name, decode.benchmarks, len(decode.open)) == ("decode_rows", 2, 0)
    assert bind.since["python"] == pytest.approx(1.1)
    assert decode.since["cython"] == pytest.approx(0.8**0.5)
    assert bind.newest == 39
