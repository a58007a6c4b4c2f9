"""Every case proves its path; a case that misses its path is refused."""

import json
import os
import subprocess
import sys

import pytest

import driver
from asv_benchmarks import case, witness
from tests.benchmarks.places import ROOT, SUITES

DIGESTS = """
import json, sys
from asv_runner.discovery import disc_benchmarks
found = {}
for benchmark in disc_benchmarks(sys.argv[1]):
    benchmark.func.setup()
    proof = benchmark.func.prove()
    assert proof["impl"] == "python", proof["impl"]
    found[benchmark.name] = proof["digest"]
json.dump(found, sys.stdout)
"""
PARSE, MODULES = "wire.rows:parse_rows", ("wire.rows",)


def row(body, modules=MODULES, reaches=(PARSE,), **prepared):
    made = case.Prepared((), **prepared)
    return case.benchmark(case.Case("x", body, lambda: made, modules, reaches), "time_x")


@pytest.fixture(scope="session")
def proofs(benchmarks):
    found = {}
    for name, benchmark in benchmarks.items():
        benchmark.func.setup()
        found[name] = benchmark.func.prove()
    return found


def test_a_case_proves_its_path(proofs, benchmarks, benchmark_name):
    proof, function = proofs[benchmark_name], benchmarks[benchmark_name].func
    assert proof["impl"] == driver.IMPL
    assert tuple(proof["modules"]) == function.modules
    assert all(proof["probe"]["reached"].values())
    assert len(proof["digest"]) == 64
    json.dumps(proof)


def test_a_proof_leaves_the_driver_and_the_inputs_as_they_were(benchmarks):
    from driver.wire.responses import ResultMessage

    function = benchmarks["decode_rows.time_one_row"].func
    function.setup()
    before = (vars(ResultMessage)["row_parser"], function.__defaults__, sys.getprofile())
    function.prove()
    assert (vars(ResultMessage)["row_parser"], function.__defaults__, sys.getprofile()) == before


def test_both_implementations_give_the_same_answers(proofs):
    if driver.IMPL != "cython":
        pytest.skip("the compiled run compares")
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS, str(SUITES)],
        env={**os.environ, "DRIVER_IMPL": "python", "PYTHONPATH": str(ROOT)},
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert json.loads(done.stdout) == {name: proof["digest"] for name, proof in proofs.items()}


def test_a_case_that_misses_its_path_is_refused():
    def elsewhere():
        return 1

    with pytest.raises(AssertionError, match=r"time_x did not reach wire\.rows:parse_rows"):
        row(elsewhere).prove()


def test_a_case_whose_answer_is_wrong_is_refused():
    def answers():
        return 1

    def check(result):
        case.expect(result == 2, f"the answer is {result}, not 2")

    with pytest.raises(AssertionError, match="the answer is 1, not 2"):
        row(answers, (), (), check=check).prove()


def test_a_pure_function_in_a_compiled_process_is_refused():
    if driver.IMPL != "cython":
        pytest.skip("there is nothing to be displaced")
    displaced = {"__name__": "driver.wire.rows"}
    exec("def parse_rows(): return ()", displaced)  # noqa: S102  (its module is made up)

    def case_body(parse_rows=displaced["parse_rows"]):
        return parse_rows()

    with pytest.raises(AssertionError, match="pure functions ran in a compiled process"):
        witness.run(case_body, MODULES, ())


def test_a_module_of_the_other_implementation_is_refused(monkeypatch):
    monkeypatch.setattr(driver.implementation, "IMPL", "both")
    monkeypatch.setattr(driver.implementation, "origin", lambda module: f"/{module}.abi3.so")
    with pytest.raises(
        AssertionError, match=r"the process is both, but wire\.codec is /wire\.codec"
    ):
        witness.run(lambda: 1, ("wire.codec",), ())
