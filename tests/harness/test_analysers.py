"""Warnings why numbers are suspect: each kind is seen, none where nothing is wrong."""

import io
import json
import random
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from benchproof import analysers, judge, plan, provenance, table
from benchproof.collected import Sampled, Samples, Spot
from benchproof.gate import passed
from benchproof.meters.counts import Counts
from benchproof.plan import SIDES
from benchproof.settings import Settings
from benchproof.suite import Case

COUNTS = Counts(8, 4, 8)
NAME = "toy.time_it"


def samples(values=None, sides=(("pure", ""), ("pure", "")), loops=1000, debug=()):
    """A comparison of one case, with so many seconds a call in each process of the right side."""
    rng = random.Random(1)
    values = values or [rng.gauss(1e-6, 1e-8) for _ in range(40)]
    each = Sampled(name="")
    for side, (kind, why) in zip(SIDES, sides, strict=True):
        each.sides[side] = {"spec": side, "impl": "", "kind": kind, "why_pure": why,
                            "description": side}  # fmt: skip
        each.got.proofs[side] = {NAME: {"name": NAME, "proof": {"grade": "unseen", "digest": ""}}}
        for block, value in enumerate(values):
            each.got.keep("wall", side, NAME, value if side == "right" else 1e-6, Spot(0, block))
    each.cases = [Case(NAME, NAME, None, "1", answers_may_differ=False)]
    each.got.loops[NAME] = plan.Loops(loops, COUNTS, COUNTS)
    about = {"provenance": {"debug": list(debug)}}
    return Samples(about, Settings(), [each])


def found(given):
    (each,) = given.variants
    return analysers.warnings(given, {"": judge.times_of(each.got, each.cases)})


def test_nothing_is_said_where_nothing_is_wrong():
    assert found(samples()) == []
    assert found(samples(sides=(("compiled", ""), ("compiled", "")))) == []


def test_pairs_of_two_kinds_are_several_modes_and_a_machine_of_two_speeds_is_not():
    rng = random.Random(2)
    values = [rng.gauss(1e-6, 5e-9) * (1.2 if block % 3 else 1) for block in range(30)]
    given = samples(values)
    (row,) = found(given)
    assert (row["about"], row["names"]) == ("several modes", [NAME])
    (each,) = given.variants
    for block, value in enumerate(values):
        left = [value * rng.gauss(1, 0.005)]
        each.got.keep("wall", "left", NAME, left, Spot(0, block))
    assert found(given) == []


@pytest.mark.parametrize(("numbers", "two"), [
    ([1.0] * 10 + [1.5] * 10, (1.0, 1.5)),
    ([1.0, 1.01, 1.02] * 4 + [2.0, 2.01, 2.02] * 4, (1.01, 2.01)),
    ([1.0] * 20, None),
    ([1.0] * 10 + [1.01] * 10, None),  # too near to matter
    ([1.0] * 18 + [2.0] * 2, None),  # outliers
    ([1.0] * 5 + [1.5] * 5, None),  # too few
    ([float(each) for each in range(1, 31)], None),
    ([], None),
])  # fmt: skip
def test_two_modes_lie_far_apart_and_both_are_many(numbers, two):
    assert analysers.modes(numbers) == (pytest.approx(two) if two else None)


@pytest.mark.parametrize("draw", [
    lambda rng: rng.gauss(1, 0.05), lambda rng: 1 + rng.expovariate(20),
    lambda rng: rng.lognormvariate(0, 0.3),
])  # fmt: skip
def test_numbers_of_one_mode_hardly_ever_look_like_two(draw):
    rng = random.Random(3)
    assert sum(analysers.modes([draw(rng) for _ in range(12)]) is not None for _ in range(200)) < 9


def test_a_loop_that_ends_at_once_is_too_short():
    (row,) = found(samples(loops=4))
    assert (row["about"], row["names"]) == ("too short a loop", [NAME])


def test_a_build_that_fell_back_is_named_with_its_reason():
    (row,) = found(samples(sides=(("python", "its extensions did not compile"), ("cython", ""))))
    assert row["about"] == "pure Python"
    assert "the left side fell back to it: its extensions did not compile" in row["why"]


def test_a_pure_side_against_a_compiled_one_is_named_unless_it_was_asked_for():
    given = samples(sides=(("compiled", ""), ("pure", "")))
    (row,) = found(given)
    assert "the right side has no compiled modules" in row["why"]
    given.variants[0].sides["right"]["spec"] = "HEAD@impl:python"
    assert found(given) == []


@pytest.mark.parametrize(("environment", "said"), [
    ({}, ""), ({"CFLAGS": "-O0 -g -O2"}, ""), ({"PYTHONMALLOC": "malloc"}, ""),
    ({"CFLAGS": "-O2 -O0"}, "-O0 in CFLAGS"), ({"CFLAGS": "-g"}, "-O0 in CFLAGS"),
    ({"PYTHONDEVMODE": "1"}, "PYTHONDEVMODE is set"),
    ({"PYTHONMALLOC": "pymalloc_debug"}, "PYTHONMALLOC is set"),
])  # fmt: skip
def test_what_makes_a_build_one_for_debugging(environment, said):
    words = provenance.debug(environment)
    assert any(said in each for each in words) if said else not words


def test_a_debug_interpreter_is_told_by_its_counter(monkeypatch):
    monkeypatch.setattr("sys.gettotalrefcount", int, raising=False)
    assert "debug build" in provenance.debug({})[0]


def test_a_base_that_passed_on_another_processor_is_named(tmp_path):
    file = tmp_path / "passed.json"
    file.write_text(json.dumps({"commit": "c", "content": "x", "date": "d", "cpu": "A"}))
    assert passed.load(file).elsewhere("A") is None
    row = passed.load(file).elsewhere("B")
    assert row["why"] == "this is B, and the gate passed last on A"
    file.write_text(json.dumps({"commit": "c", "content": "x", "date": "d"}))
    assert passed.load(file).elsewhere("B") is None  # recorded before there was a model in it


def test_the_document_holds_them_and_the_terminal_shows_each_on_a_line():
    rows = found(samples(loops=4, debug=["the interpreter is a debug build"]))
    rows[1]["names"] = [f"toy.time_{n}" for n in range(5)]
    rows.append(passed.Passed("c", "x", "d", "A").elsewhere("B"))
    schema = json.loads(Path(judge.__file__).with_name("schema.json").read_text())
    jsonschema.validate(rows, schema["properties"]["warnings"])
    short = (
        "warning: too short a loop: a value lasts less than 10 us, and the clock's own time is in "
    )
    short += "it: toy.time_0, toy.time_1, toy.time_2 and 2 more"
    assert analysers.told({"warnings": rows}) == [
        "warning: debug build: the interpreter is a debug build",
        short,
        "warning: another processor model: this is B, and the gate passed last on A",
    ]
    assert analysers.told({}) == []
    out = io.StringIO()
    document = {
        "kind": "comparison", "title": "t", "left": {"description": "l"},
        "right": {"description": "r"}, "cases": [], "suites": [], "meters": {}, "partial": False,
        "excluded": [], "warnings": rows, "verdict": {"summary": "s", "status": "x", "exit": 0},
    }  # fmt: skip
    table.show(document, Console(file=out, width=200))
    assert out.getvalue().count("warning: ") == 3
