"""The words beside a case whose meters disagree: which, by how much, and which to believe."""

import pytest

from benchproof import notes
from benchproof.render import units

ELSEWHERE = {"verdict": "equivalent", "ratio": 1.0, "low": 0.99, "high": 1.01}


def note(counted, timed, *, unsure=False, **wall):
    meters = {"instructions": {"ratio": 1.1 if counted == "regressed" else 0.9},
              "wall": {"ratio": 0.9 if timed == "improved" else 1.1, **wall}}  # fmt: skip
    return notes.note({"instructions": counted}, timed, meters, unsure=unsure)


@pytest.mark.parametrize(("counted", "timed", "words"), [
    ("regressed", "improved", "more instructions in less time usually wait less"),
    ("improved", "regressed", "fewer instructions in more time usually wait more"),
])  # fmt: skip
def test_where_the_clock_and_instructions_move_apart_a_sentence_says_what_it_means(
    counted, timed, words
):
    disagrees, meaning = note(counted, timed).split("; ")
    change = units.change(0.9 if timed == "improved" else 1.1)
    assert disagrees == f"wall time disagrees: {timed} ({change})"
    assert meaning == (
        f"{words} for memory or wrongly predicted branches: "
        "if a second run says so too, believe the time"
    )


@pytest.mark.parametrize(("counted", "timed", "more"), [
    ("equivalent", "regressed", {}),  # the same instructions say nothing about waiting
    ("regressed", "improved", {"unsure": True}),
    ("improved", "regressed", {"elsewhere": ELSEWHERE}),
])  # fmt: skip
def test_what_has_another_explanation_has_no_such_sentence(counted, timed, more):
    said = note(counted, timed, **more)
    assert said.startswith("wall time disagrees: ")
    assert "believe" not in said


@pytest.mark.parametrize("verdict", ["regressed", "improved", "equivalent"])
def test_where_they_agree_nothing_is_said(verdict):
    assert note(verdict, verdict) == ""


@pytest.mark.parametrize(("meter", "why"), [
    ("instructions", "layouts disagree"), ("allocations", "counts scatter"),
    ("track", "processes disagree"), ("peakmemory", "processes disagree"),
])  # fmt: skip
def test_what_is_undecided_says_what_disagrees(meter, why):
    about = {meter: {"low": 0.98, "high": 1.03}}
    said = notes.note({meter: "undecided"}, None, about, unsure=True)
    assert said.startswith(f"{meter} undecided: {why} (-2.00")
