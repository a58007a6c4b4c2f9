"""Controls of a gate: what must be silent and what must fire, through the same pipeline."""

import json
import os
import subprocess
import sys

import pytest

from benchproof import controls, judge, records
from benchproof.collected import Collected, Sampled, Samples
from benchproof.gate.report import words
from benchproof.meters import instructions
from benchproof.plan import SIDES
from benchproof.settings import Settings
from benchproof.suite import Case
from tests.harness.conftest import SUITES

NAMES = {"cheap": 900.0, "middle": 300_000.0, "dear": 9_000_000.0}


def cases(*names):
    return [Case(f"suite.time_{name}", f"suite.time_{name}", None, "1", False) for name in names]


def counted(*names):
    return Collected(prices={f"suite.time_{name}": NAMES[name] for name in names})


def test_the_cheapest_case_that_can_be_slowed_down_finely_is_chosen():
    case, turns = controls.choose(counted(*NAMES), cases(*NAMES), Settings())
    assert case.case == "middle"
    limit = Settings().limit("instructions", case.name).ratio
    assert turns * controls.TURN / NAMES["middle"] == pytest.approx(2 * limit, rel=0.1)


def test_where_every_case_is_cheap_one_turn_slows_the_dearest_down():
    case, turns = controls.choose(counted("cheap"), cases("cheap", "middle"), Settings())
    assert (case.case, turns) == ("cheap", 1)


def test_without_a_counted_function_there_is_no_control():
    assert controls.choose(Collected(), cases(*NAMES), Settings()) is None


def row(verdict, **more):
    return {"impl": "cython", "name": "suite.time_middle", "verdict": verdict, "why": "",
            "meters": {"instructions": {"ratio": 1.006}}} | more  # fmt: skip


@pytest.mark.parametrize(("kind", "verdict", "held"), [
    ("same build", "equivalent", True), ("same build", "regressed", False),
    ("slowed down", "regressed", True), ("slowed down", "equivalent", False),
    ("slowed down", None, False),
])  # fmt: skip
def test_a_control_holds_where_it_comes_out_as_it_must(kind, verdict, held):
    found = controls.judged(kind, row(verdict))
    assert found["held"] is held
    trouble = controls.trouble([found])
    assert bool(trouble) is not held
    assert all(f"must be {controls.MUST[kind]}" in each["why"] for each in trouble)


def counts(left, right, control=""):
    """A variant of one case, counted once."""
    (case,) = cases("middle")
    proof = {"proof": {"grade": "proved", "digest": "d", "modules": {}, "probe": {}}}
    got = Collected(proofs={side: {case.name: proof} for side in SIDES})
    got.keep("instructions", "left", case.name, left)
    got.keep("instructions", "right", case.name, right)
    return Sampled(name="cython", cases=[case], got=got, control=control)


def gate(right):
    """A gate in which nothing changed, with a control that counted this."""
    unit = {"measured": False, "why": "", "unit": "", "processes": 0}
    about = {
        "schema": judge.SCHEMA, "kind": judge.KIND, "gate": True, "title": "a against b",
        "created": "2026-11-23T12:00:00+00:00", "impls": ["cython"], "builds": 1, "seed": 1,
        "left": {"commit": "1" * 40, "description": "a"},
        "right": {"commit": "2" * 40, "description": "b"},
        "asked": ["instructions"], "meters": {"instructions": unit}, "excluded": [],
        "trouble": [], "unmeasured": {"files": {}, "all_of_it": False}, "error_rates": None,
    }  # fmt: skip
    control = counts(100_000, right, "slowed down")
    return Samples(about, Settings(), [counts(100_000, 100_000)], controls=[control])


@pytest.mark.parametrize(("right", "exit_status"), [(102_000, 0), (100_000, 2)])
def test_a_gate_whose_control_fails_could_not_measure(right, exit_status, tmp_path):
    samples = gate(right)
    found = judge.document(samples)
    (control,) = found["controls"]
    assert control["held"] is (exit_status == 0)
    assert found["verdict"]["exit"] == exit_status, found["verdict"]
    said = next(words.controls(found))
    assert "slowed down on purpose" in said
    assert ("must not be" in said) is (exit_status == 2)
    records.write(samples, tmp_path / "stream.jsonl")
    again = judge.document(records.read(tmp_path / "stream.jsonl"))
    assert again["controls"] == found["controls"]
    assert again["verdict"] == found["verdict"]


@pytest.mark.slow
@pytest.mark.skipif(bool(instructions.why_not()), reason="needs valgrind")
def test_every_gate_counts_its_controls_and_they_hold(toy, cache, tmp_path):
    toy.write("README.md", "words")
    toy.edit("driver/work.py", "total = 0", "total = 0\n    total += 0")
    toy.commit("a little more")
    file = tmp_path / "gate.json"
    subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "gate", "HEAD~1", "HEAD", "--impl", "python",
         "--bench", "spin", "--meters", "instructions", "--json", str(file), "--no-profile",
         "--suites", str(SUITES)],
        check=False, capture_output=True, env=os.environ | {"BENCHPROOF_CACHE": str(cache)},
        cwd=toy.root,
    )  # fmt: skip
    found = {each["kind"]: each for each in json.loads(file.read_text())["controls"]}
    assert found.keys() == controls.MUST.keys()
    assert found["same build"]["ratio"] == 1
    assert found["slowed down"]["ratio"] > 1.005
    assert all(each["held"] for each in found.values())
