"""What a worker believes and what it refuses, in processes of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchproof import suite, worker
from benchproof.bench import environment, read_lines
from benchproof.checkout import Checkout
from benchproof.meters import wall

ROOT = Path(__file__).resolve().parents[2]
SUITES = Path(__file__).resolve().parent / "suites"
TWIN = "work" + worker.COMPILED[0]


def ask(folder, side, task, cases=(), impl="python", suites=SUITES, packages="", **more):
    """Run a worker; its header, its answers, its exit status and its last words."""
    variant = next(each for each in Checkout(ROOT).variants if each.name == impl)
    request = {"side": str(side), "impl": impl, "kind": variant.kind, "others": variant.others,
               "suites": str(suites), "task": task,
               "cases": list(cases), "out": str(folder / "out.jsonl"),
               "tools": [str(ROOT / "harness")]} | more  # fmt: skip
    file = folder / "request.json"
    file.write_text(json.dumps(request))
    answer = subprocess.run(
        [sys.executable, "-P", worker.__file__, str(file)],
        env=environment(variant, None) | {"PYTHONPATH": packages}, cwd=folder,
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    rows = read_lines(folder / "out.jsonl")
    return rows[1:], answer.returncode, answer.stderr


def row(name, suite="toy", **more):
    return {"name": f"{suite}.{name}", "benchmark": f"{suite}.{name}"} | more


def test_asv_s_own_discovery_finds_the_cases(toy, tmp_path):
    rows, status, _ = ask(tmp_path, toy.root, "discover")
    assert status == 0
    assert {r["name"] for r in rows} == {"toy.time_spin", "toy.time_boxes", "toy.time_newer"}
    assert {r["version"] for r in rows} == {"1"}


def test_of_many_left_out_for_one_reason_a_few_are_named():
    rows = [{"excluded": f"x.track_{n}", "why": "a track benchmark"} for n in range(5)]
    words = suite.told(suite.left_out(rows, suite.expression("")))
    assert words == ("5 benchmarks are found and not measured: x.track_0, x.track_1, x.track_2 "
                     "and 2 more (a track benchmark)")  # fmt: skip


def test_a_case_proves_its_path_with_files_of_its_side(toy, tmp_path):
    (answer,), _, _ = ask(tmp_path, toy.root, "prove", [row("time_spin")])
    assert answer["proof"]["modules"] == {"work": "driver/work.py"}
    assert len(answer["proof"]["digest"]) == 64
    assert answer["seconds"] > 0


def test_a_case_that_its_side_lacks_is_not_applicable(toy, tmp_path):
    (answer,), _, _ = ask(tmp_path, toy.root, "prove", [row("time_newer")])
    assert answer["absent"] == "driver.work.newer is not there"


def test_a_case_that_raises_is_an_error_and_the_next_one_still_runs(toy, tmp_path):
    toy.edit("driver/work.py", "total = 0", "total = 1 // 0")
    broken, fine = ask(tmp_path, toy.root, "prove", [row("time_spin"), row("time_boxes")])[0]
    assert "ZeroDivisionError" in broken["error"]
    assert "work.py:" in broken["error"]
    assert "proof" in fine


def test_another_driver_than_the_side_s_is_refused(toy, tmp_path):
    empty = tmp_path / "side"
    empty.mkdir()
    _, status, words = ask(tmp_path, empty, "prove", [row("time_spin")], harness=str(toy.root))
    assert status != 0
    assert "which is not below" in words


def test_another_implementation_than_was_asked_for_is_refused(toy, tmp_path):
    toy.edit("driver/implementation.py", 'os.environ.get("DRIVER_IMPL", "cython")', '"python"')
    _, status, words = ask(tmp_path, toy.root, "prove", [row("time_spin")], impl="cython")
    assert status != 0
    assert "runs as python, and cython was asked for" in words


@pytest.fixture
def side(tmp_path):
    twin = tmp_path / "driver" / "_cython" / TWIN
    twin.parent.mkdir(parents=True)
    twin.touch()
    return tmp_path


def proof(side, file):
    return {"modules": {"work": str(side / file)}, "digest": "0"}


def test_a_compiled_file_in_a_python_side_fails_its_proof(side):
    with pytest.raises(AssertionError, match="ran compiled"):
        worker.check_proof(proof(side, f"driver/_cython/{TWIN}"), side, "pure")


def test_a_python_file_where_the_side_has_it_compiled_fails_its_proof(side):
    with pytest.raises(AssertionError, match="ran in Python, though"):
        worker.check_proof(proof(side, "driver/work.py"), side, "compiled")


def test_a_file_of_elsewhere_fails_its_proof(side):
    with pytest.raises(AssertionError, match="not this side's"):
        worker.check_proof(proof(side.parent, "driver/work.py"), side, "python")


def test_a_module_without_a_compiled_form_may_run_in_python_in_a_compiled_side(side):
    good = {"modules": {"other": str(side / "driver/other.py")}, "digest": "0"}
    assert worker.check_proof(good, side, "cython")["modules"] == {"other": "driver/other.py"}


def test_wall_values_come_in_the_order_of_the_block(toy, tmp_path):
    cases = [row("time_spin", loops=3), row("time_boxes", loops=3)]
    orders = set()
    for seed in range(6):
        rows, _, _ = ask(tmp_path, toy.root, "wall", cases, order=seed, core=None)
        orders.add(tuple(r["name"] for r in rows))
        assert all(len(r["values"]) == wall.VALUES for r in rows)
    assert len(orders) == 2


def test_a_pinned_worker_stays_on_its_core(toy, tmp_path):
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system cannot pin processes")
    core = max(os.sched_getaffinity(0))
    rows, status, _ = ask(tmp_path, toy.root, "wall", [row("time_spin", loops=1)], core=core)
    assert status == 0
    assert len(rows) == 1


def told(program, *words, first=()):
    """The lines that a program says, in a process of its own that finds the harness."""
    places = map(str, (*first, Path(worker.__file__).parents[1]))
    answer = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True,
        check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
    )  # fmt: skip
    return answer.stdout.splitlines()


#: What asv_runner is shown, which plugins it finds, and whether all is there again afterwards.
PLUGINS = """
from importlib import metadata
from benchproof import worker

with worker.only_asv_plugins():
    print(sorted(each.metadata["Name"] for each in metadata.distributions()))
    import asv_runner.benchmarks as found
print(found.asv_modules)
print(len(list(metadata.distributions())) > 5)
"""


def test_of_installed_distributions_asv_sees_its_plugins_and_reads_no_other(tmp_path):
    for name in ("asv_bench_memray", "plain"):
        (tmp_path / f"{name}-0.2.dist-info").mkdir()
        (tmp_path / f"{name}-0.2.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.2\n"
        )
    names, modules, others = told(PLUGINS, first=[tmp_path])
    assert names == "['asv_bench_memray']"
    assert modules == "['asv_bench_memray']"
    assert others == "True"


#: The source of a benchmark, as a worker makes it for a task.
MADE = """
import sys
from benchproof import worker

worker.find_suites({"task": sys.argv[1], "suites": sys.argv[2], "cases": []})
from asv_runner.discovery import get_benchmark_from_name
print(len(get_benchmark_from_name(sys.argv[2], "some.time_it").code))
"""


@pytest.mark.parametrize("task", ["list", "wall"])
def test_a_benchmark_s_source_is_read_only_where_it_is_described(task, tmp_path):
    suites = tmp_path / "suites"
    suites.mkdir()
    suites.joinpath("__init__.py").touch()
    suites.joinpath("some.py").write_text("def time_it():\n    pass\n")
    (length,) = told(MADE, task, suites)
    assert (int(length) > 0) == (task == "list")
