"""Whole gates of the toy driver, in this process: what is measured, judged and kept."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from benchproof import builds, definitions, judge, lanes, timing
from benchproof.compare import Request, compare
from benchproof.errors import SettingsError, StoppedError, TargetError
from benchproof.meters import instructions
from tests.harness.toy import VARIANTS

SUITES = Path(__file__).resolve().parent / "suites"
#: One implementation and the quickest exact meter: enough for whatever is not about measuring.
BRIEF = Request(
    "HEAD~1", "HEAD", bench="spin", meters=("allocations", "bytes"), impls=("python",),
    gate=True,
)  # fmt: skip


@pytest.fixture
def heavier(toy, place):
    """A repository whose newest commit allocates one object more."""
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more")
    return place


SCHEMA = json.loads(Path(judge.__file__).with_name("schema.json").read_text(encoding="utf-8"))


def gate(asked, place, tell):
    """A gate's document, which is JSON, and what its schema says."""
    document = json.loads(json.dumps(compare(asked, place, tell).document, allow_nan=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def row(document, case, impl="python"):
    (found,) = [r for r in document["cases"] if (r["case"], r["impl"]) == (case, impl)]
    return found


@pytest.mark.slow
@pytest.mark.skipif(bool(instructions.why_not()), reason=f"{instructions.why_not()}")
@pytest.mark.usefixtures("compiler")
def test_a_gate_measures_both_implementations_and_explains_its_regressions(toy, place, tell):
    toy.edit("driver/work.py", "range(times)", "range(2 * times)")
    toy.edit("driver/work.py", "total += number", "total += number - 1 + 1")
    toy.edit("driver/work.py", "return total", "return total // 2 * 0 + sum(range(times))")
    toy.commit("slower")
    asked = replace(BRIEF, meters=("instructions",), impls=("cython", "python"), profile=True)
    document = gate(asked, place, tell)
    assert (document["kind"], document["schema"], document["partial"]) == ("comparison", 4, False)
    assert {r["impl"] for r in document["cases"]} == {"cython", "python"}
    assert document["verdict"]["exit"] == 1
    assert set(document["sides"]) == {"cython", "python"}
    for impl in ("cython", "python"):
        spin = row(document, "spin", impl)
        assert spin["verdict"] == "regressed"
        assert spin["meters"]["instructions"]["ratio"] > 1.5
        assert any("spin" in change["function"] for change in spin["profile"])
    assert document["meters"]["instructions"]["measured"]
    assert document["meters"]["wall"]["why"] == "not asked for"


@pytest.mark.slow
def test_one_object_more_is_a_regression(heavier, tell):
    document = gate(BRIEF, heavier, tell)
    counted = row(document, "spin")["meters"]["allocations"]
    assert (counted["verdict"], counted["right"] - counted["left"]) == ("regressed", 2)
    assert (document["verdict"]["status"], document["verdict"]["exit"]) == ("regression", 1)
    assert document["trouble"] == document["excluded"] == []
    assert document["left"]["subject"] == "a toy"
    assert document["right"]["subject"] == "one object more"


@pytest.mark.slow
def test_an_object_that_lives_on_is_a_regression_whatever_else_is_equal(toy, place, tell):
    toy.edit("driver/work.py", "total = 0", "total = len([bytes(23)]) - 1")
    toy.commit("an object that dies")
    toy.edit("driver/work.py", "total = len([bytes(23)]) - 1",
             "total = len([bytes(23)]) - 1\n    KEPT[0] = Box(KEPT[0])")  # fmt: skip
    # Not a tuple: a few of those come from the interpreter's free list, and are no allocation.
    toy.edit("driver/work.py", "def spin", "KEPT = [None]\n\n\nclass Box:\n"
             "    __slots__ = ('inner',)\n\n    def __init__(self, inner):\n"
             "        self.inner = inner\n\n\ndef spin")  # fmt: skip
    toy.commit("one that lives on")
    meters = ("allocations", "bytes", "retained")
    document = gate(replace(BRIEF, meters=meters), place, tell)
    spin = row(document, "spin")
    assert spin["verdict"] == "regressed"
    assert spin["meters"]["retained"]["verdict"] == "regressed"
    assert (spin["meters"]["retained"]["left"], spin["meters"]["retained"]["right"]) == (0, 40)
    assert document["meters"]["retained"]["measured"]
    itself = replace(BRIEF, meters=meters, left="HEAD~1", right="HEAD~1", force=True)
    same = gate(itself, place, tell)
    assert "retained" not in row(same, "spin")["meters"]
    assert same["meters"]["retained"]["measured"]


@pytest.mark.slow
def test_a_regression_that_a_reviewer_accepted_passes_and_is_shown(heavier, toy, tell):
    toy.write(
        "accepted.toml",
        """
[[accepted]]
benchmark = "toy.time_spin"
meter = ["allocations", "bytes"]
amount = 5000.0
reason = "an object is needed now"
until = 2999-12-31
""",
    )
    toy.commit("accept it")
    document = gate(replace(BRIEF, left="HEAD~2"), heavier, tell)
    assert row(document, "spin")["accepted"]["reason"] == "an object is needed now"
    assert [entry["state"] for entry in document["accepted"]] == ["used"]
    assert document["verdict"]["exit"] == 0


@pytest.mark.slow
def test_the_limits_are_those_of_the_head_s_commit(heavier, toy, tell):
    toy.write(
        "pyproject.toml",
        (toy.root / "pyproject.toml").read_text()
        + """
[tool.benchproof.benchmarks."toy.*"]
bytes = 0.5
""",
    )
    toy.commit("a limit")
    toy.write("pyproject.toml", VARIANTS + "[tool.benchproof]\nnonsense = 1\n")
    document = gate(replace(BRIEF, left="HEAD~2", committed=True), heavier, tell)
    assert document["settings"]["benchmarks"] == {"toy.*": {"bytes": 0.5}}
    assert row(document, "spin")["meters"]["bytes"]["limit"] == 0.5


@pytest.mark.slow
def test_a_limit_for_a_benchmark_that_is_not_there_stops_the_gate(toy, place, tell):
    toy.write(
        "pyproject.toml",
        (toy.root / "pyproject.toml").read_text()
        + """
[tool.benchproof.benchmarks."tpyo.*"]
bytes = 0.5
""",
    )
    toy.commit("a limit")
    with pytest.raises(SettingsError, match=r"pyproject.toml:\d+: 'tpyo\.\*' matches none"):
        compare(replace(BRIEF, force=True), place, tell)


@pytest.mark.slow
def test_the_same_build_passes_by_construction_and_says_so(toy, place, tell):
    toy.write("README.md", "words")
    toy.commit("words only")
    document = gate(BRIEF, place, tell)
    assert document["cases"] == []
    assert document["verdict"]["exit"] == 0
    assert "same build" in document["verdict"]["summary"]


@pytest.mark.slow
def test_an_expired_acceptance_fails_even_the_same_build(toy, place, tell):
    toy.write(
        "accepted.toml",
        """
[[accepted]]
benchmark = "toy.time_spin"
meter = "allocations"
amount = 1.0
reason = "once"
until = 2001-01-01
""",
    )
    toy.commit("too late")
    document = gate(BRIEF, place, tell)
    assert document["verdict"]["exit"] == 2
    assert "expired" in document["verdict"]["summary"]


@pytest.mark.slow
def test_the_same_commit_is_equivalent_where_it_is_measured(place, tell):
    document = gate(replace(BRIEF, left="HEAD", force=True), place, tell)
    for judged in row(document, "spin")["meters"].values():
        assert judged["left"] == judged["right"]
    assert document["verdict"]["exit"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
@pytest.mark.nightly
def test_several_builds_are_counted_one_by_one(place, tell):
    if instructions.why_not():
        pytest.skip(instructions.why_not())
    asked = replace(
        BRIEF, left="HEAD", force=True, builds=2, meters=("instructions",), impls=("cython",)
    )
    document = gate(asked, place, tell)
    assert document["builds"] == 2
    for side in ("left", "right"):
        assert len(set(document["sides"]["cython"][side]["wheels"])) == 2
    counted = row(document, "spin", "cython")["meters"]["instructions"]
    assert len(counted["left_samples"]) >= 2
    assert counted["left_samples"] == counted["right_samples"]


@pytest.mark.slow
def test_wall_time_is_taken_of_both_sides_in_the_same_blocks(heavier, tell):
    document = gate(replace(BRIEF, meters=("wall",), budget=1, quick=True), heavier, tell)
    wall = row(document, "spin")["meters"]["wall"]
    assert len(wall["left_samples"]) == len(wall["right_samples"])
    assert document["meters"]["wall"]["processes"] == len(wall["left_samples"])


@pytest.mark.slow
def test_stopping_keeps_what_was_counted_and_never_passes(heavier, tell, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(timing, "run", stop)
    outcome = gate(replace(BRIEF, left="HEAD", force=True, meters=("allocations", "wall")),
                   heavier, tell)  # fmt: skip
    assert outcome["partial"]
    assert list(row(outcome, "spin")["meters"]) == ["allocations"]
    assert outcome["verdict"]["exit"] == 2


@pytest.mark.slow
def test_stopping_before_anything_was_counted_is_told(heavier, tell, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(lanes.Lane, "build", stop)
    with pytest.raises(StoppedError, match="before anything was measured"):
        compare(BRIEF, heavier, tell)


def test_a_side_may_not_choose_a_variant(place, tell):
    with pytest.raises(TargetError, match="names a variant"):
        compare(replace(BRIEF, left="HEAD@impl:python"), place, tell)


def test_the_first_build_is_everybody_s_and_the_others_differ_from_one_another():
    assert builds.flags(0) == ""
    assert len({builds.flags(variant) for variant in range(16)}) == 16


def test_a_benchmark_that_moved_to_another_suite_is_named_with_its_new_name():
    base, head = ["bind.time_x", "bind.time_y", "wire.time_z"], ["binding.time_x", "wire.time_z"]
    assert definitions.gone(base, head) == [
        {"name": "bind.time_x", "impl": None,
         "why": "at the base but not at the head (renamed to binding.time_x?)"},
        {"name": "bind.time_y", "impl": None,
         "why": "at the base but not at the head (renamed or removed)"},
    ]  # fmt: skip


def own_suites(toy):
    for file in SUITES.glob("*.py"):
        toy.write(f"speed/{file.name}", file.read_text())


@pytest.mark.slow
def test_a_head_without_benchmarks_is_measured_with_the_base_s(toy, place, tell):
    toy.git("checkout", "--quiet", "-b", "older")
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more, on a branch without benchmarks")
    toy.git("checkout", "--quiet", "main")
    own_suites(toy)
    toy.commit("benchmarks")
    here = replace(place, suites=toy.root / "speed")
    document = gate(replace(BRIEF, left="main", right="older"), here, tell)
    assert row(document, "spin")["meters"]["allocations"]["verdict"] == "regressed"
    assert "benchmarks of both sides: speed/ of the base (the head has none)" in tell.text


@pytest.mark.slow
def test_two_sides_without_benchmarks_are_measured_with_the_working_tree_s(heavier, toy, tell):
    own_suites(toy)
    here = replace(heavier, suites=toy.root / "speed")
    document = gate(BRIEF, here, tell)
    assert row(document, "spin")["meters"]["allocations"]["verdict"] == "regressed"
    assert "speed/ of the working tree (the head has none)" in tell.text


def test_no_benchmarks_anywhere_are_told(heavier, toy, tell):
    here = replace(heavier, suites=toy.root / "speed")
    with pytest.raises(TargetError, match="no folder of benchmarks"):
        gate(BRIEF, here, tell)
