"""What a log says while a person waits: how far it is, how long it takes, not too often."""

import re
import time
from types import SimpleNamespace

import pytest

from benchproof import bench as benches
from benchproof import counting, progress
from benchproof.render import units
from benchproof.settings import DEFAULTS
from benchproof.suite import Case


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when a test says so."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def lines(tell):
    return [re.sub(r"^[0-9:]{8} ", "", line) for line in tell.text.splitlines()]


def test_every_line_of_a_log_has_the_time(tell):
    tell.stage("building")
    tell.line("words")
    assert re.fullmatch(r"([0-9]{2}:[0-9]{2}:[0-9]{2} \w+\n){2}", tell.text)


def test_a_stage_says_how_far_it_is_now_and_then(tell, clock):
    counter = progress.Counter("counting", dict.fromkeys("abcdefgh", 4.0), tell)
    for name in "abcdefgh":
        clock[0] += 6
        counter.done(name)
    assert lines(tell) == [
        "counting, 0 of 8; about 32 s left",
        "counting, 2 of 8; about 36 s left",
        "counting, 4 of 8; about 24 s left",
        "counting, 6 of 8; about 12 s left",
        "counting, 8 of 8",
    ]


def test_the_estimate_follows_what_the_costs_were_and_not_how_many_are_done(tell, clock):
    counter = progress.Counter("counting", {"small": 1.0, "large": 9.0}, tell, after=60.0)
    clock[0] += 20
    counter.done("small")
    assert lines(tell)[-1] == "counting, 1 of 2; about 4 min left"  # 180 s and 60 s


def test_a_new_stage_is_said_at_once(tell, clock):
    tell.stage("building")
    tell.stage("counting, 0 of 2")
    clock[0] += 1
    tell.stage("counting, 1 of 2")
    assert lines(tell) == ["building", "counting, 0 of 2"]


def test_what_is_said_while_counting_has_the_words_of_the_tables(tell):
    cases = [
        Case(f"bind.time_{name}", "", None, "1", answers_may_differ=False)
        for name in ("less", "same", "gone")
    ]
    counts = {"less": (1000.0, 528.0), "same": (1000.0, 1000.0), "gone": (0.0, 50.0)}

    def counted(_, name):
        return tuple([number] for number in counts[name.removeprefix("bind.time_")])

    bench = SimpleNamespace(
        got=SimpleNamespace(failures={}, numbers=counted), settings=DEFAULTS, tell=tell
    )
    rows = counting.Rows(bench, cases)
    for case in cases:
        rows.done(case.name)
    first, less, gone = lines(tell)
    assert first == "bind: instructions a call, 1 of 3 as before"
    assert units.change(0.528) in less
    assert units.change(None) in gone
    assert "x 0" not in tell.text


def test_a_case_that_takes_long_is_named_while_it_does(tell, monkeypatch, tmp_path):
    def lane(_, task, rows, *__):
        assert task == "prove"
        for row in rows:
            time.sleep(0.5 if row["name"] == "suite.time_slow" else 0)
            yield row["name"], {"right": row}, {}

    monkeypatch.setattr(benches.Bench, "_lane", lane)
    monkeypatch.setattr(benches, "SLOW", 0.2)
    cases = [Case(f"suite.time_{name}", f"suite.time_{name}", None, "1", answers_may_differ=False)
             for name in ("first", "slow", "last")]  # fmt: skip
    running = benches.Bench({"right": None}, tmp_path, None, tmp_path, None, tell=tell)
    running.prove(cases)
    # Once in a log, whose lines of one stage keep their distance.
    assert lines(tell) == ["still proving suite.time_slow, 0 s"]
