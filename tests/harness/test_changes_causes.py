"""What the platform did is told apart from what commits did, and the list says both."""

import io
import json
import re

import numpy as np
import pytest
from ledger import reader
from rich.console import Console

from benchproof import meters
from benchproof.changes import listing
from benchproof.changes.search import find_all
from benchproof.history.model import CANARY, History
from tests.harness.generated import commits, key, series_of
from tests.harness.known_changes import Where, score, truth
from tests.harness.sample_ledger import LEDGER, run

COUNT = 60
CANARY_KEY = key(meter="instructions", benchmark=CANARY)


def steps(*places_and_ratios, level=10_000.0):
    values = np.full(COUNT, level)
    for place, ratio in places_and_ratios:
        values[place:] *= ratio
    return values


def history(series, canary=None, platforms=()):
    """A history of one series, perhaps with a canary."""
    canaries = {} if canary is None else {canary.key: canary}
    return History(
        commits(COUNT), {series.key: series}, canaries=canaries, platforms=list(platforms)
    )


def kinds(history):
    return [(change.after, change.kind) for change in find_all(history)]


def test_where_the_canary_steps_too_it_was_the_platform():
    series = series_of(key(), steps((20, 1.05), (40, 1.05)))
    canary = series_of(CANARY_KEY, steps((20, 1.04), level=500_000.0))
    assert kinds(history(series, canary)) == [(20, "platform"), (40, "code")]


@pytest.mark.parametrize("ratio", [0.96, 1.6])
def test_a_step_to_the_other_side_or_much_larger_than_the_canary_s_is_code(ratio):
    series = series_of(key(), steps((20, ratio)))
    canary = series_of(CANARY_KEY, steps((20, 1.04), level=500_000.0))
    assert kinds(history(series, canary)) == [(20, "code")]


def test_a_canary_measured_at_fewer_commits_covers_those_between():
    series = series_of(key(), steps((20, 1.05)))
    measured = np.arange(0, COUNT, 7)
    canary = series_of(CANARY_KEY, steps((20, 1.04))[measured], index=measured)
    assert kinds(history(series, canary)) == [(20, "platform")]


def test_a_canary_of_another_machine_or_meter_says_nothing():
    series = series_of(key(), steps((20, 1.05)))
    canary = series_of(key(meter="bytes", benchmark=CANARY), steps((20, 1.04)))
    assert kinds(history(series, canary)) == [(20, "code")]


@pytest.mark.parametrize(
    ("meter", "one", "other", "canary", "kind"),
    [
        ("instructions", {"python": "3.11.2"}, {"python": "3.12.1"}, None, "platform"),
        ("instructions", {"compiler": "gcc 12"}, {"compiler": "gcc 14"}, "calm", "platform"),
        ("instructions", {"kernel": "6.1"}, {"kernel": "6.8"}, None, "code"),
        ("wall", {"kernel": "6.1"}, {"kernel": "6.8"}, None, "platform"),
        ("wall", {"kernel": "6.1"}, {"kernel": "6.8"}, "calm", "code"),
        ("wall", {"kernel": "6.1"}, {"kernel": "6.1"}, None, "code"),
    ],
)
def test_recorded_platforms_explain_what_they_can(meter, one, other, canary, kind):
    platform = np.repeat([0, 1], [20, COUNT - 20])
    values = steps((20, 1.1), level=1e-6 if meter == "wall" else 10_000.0)
    series = series_of(key(meter=meter), values, half=0.001, platform=platform)
    calm = series_of(key(meter=meter, benchmark=CANARY), steps()) if canary else None
    assert kinds(history(series, calm, [one, other])) == [(20, kind)]


def test_the_list_is_json_and_a_table_by_commit():
    many = {}
    for number in range(6):
        series = series_of(key(number), steps((20, 1.05 + number / 100)))
        many[series.key] = series
    whole = History(commits(COUNT), many)
    changes = find_all(whole)
    document = json.loads(json.dumps(listing.document(changes, whole), allow_nan=False))
    assert document["kind"] == "changes"
    assert [each["after"] for each in document["changes"]] == [whole.commits[20].hash] * 6
    assert document["floors"].keys() == {*meters.of("time")} - {"retained", "tail"}, (
        "asv files have no such"
    )
    out = io.StringIO()
    listing.show(changes, whole, Console(file=out, width=100))
    assert "commit 20" in out.getvalue()
    assert "and 2 more" in out.getvalue()
    assert "6 changes in 6 series: 6 of code, 0 of the platform" in out.getvalue()


def test_a_choice_takes_what_it_says():
    series = [series_of(key(0), steps((20, 1.05), (40, 1 / 1.3))),
              series_of(key(1, impl="python"), steps((20, 1.05)))]  # fmt: skip
    whole = History(commits(COUNT), {each.key: each for each in series})
    changes = find_all(whole)

    def chosen(bench="", meters=("instructions",), **more):
        return len(listing.chosen(changes, re.compile(bench), meters, **more))

    assert chosen() == 3
    assert chosen("time_0001") == 1
    assert chosen(meters=("wall",)) == 0
    assert chosen(impl="cython") == 2
    assert chosen(least=0.2) == 1
    assert len(listing.within(changes, {20})) == 2
    assert chosen(kind="platform") == 0


def test_a_score_counts_only_what_is_known():
    series = series_of(key(), steps((20, 1.05), (40, 1.05), (50, 1.05)))
    changes = find_all(History(commits(COUNT), {series.key: series}))

    def at(place):
        return Where(series.key.benchmark, "cython", place)

    found = score(changes, {at(20), at(30)}, {at(40), at(41)})
    assert (found.found, found.missed, found.wrong) == ({at(20)}, {at(30)}, {at(40)})
    assert (found.recall, found.precision) == (0.5, 0.5)
    nothing = score([], set(), set())
    assert (nothing.recall, nothing.precision) == (1, 1)


@pytest.mark.parametrize(
    ("ratio", "left", "real", "none"),
    [
        (0.5, 1, 1, 0),  # reproduced, at its commit
        (0.985, 1, 0, 0),  # too small to be held to, too large to be none
        (1.001, 1, 0, 1),  # no change
        (0.5, 2, 0, 0),  # of several commits at once
    ],
)
def test_measured_claims_are_the_truth_that_a_search_is_held_to(ratio, left, real, none):
    history = History(commits(COUNT), {})
    claim = run(ratio=ratio, left=history.commits[5 - left].hash, right=history.commits[5].hash)
    found = truth(reader.parse(LEDGER), [claim], history)
    where = Where("toy.time_spin", "python", 5)
    assert found == ({where} if real else set(), {where} if none else set())
