"""Whole commands in a made-up project whose benchmarks are tests, and that knows nothing of us."""

import json
import os
import subprocess
import sys

import pytest

from benchproof.meters import instructions
from tests.harness.toy import Repository, wheel

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(instructions.why_not()), reason=f"{instructions.why_not()}"),
]
PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "acme"
version = "1"

[dependency-groups]
test = ["pytest"]

[tool.setuptools.packages.find]
where = ["src"]
"""
WORK = """
def spin(times):
    total = 0
    for number in range(times):
        total += number
    return total


def add(one, other):
    return one + other
"""
TESTS = """
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from acme.work import add, spin


@pytest.mark.parametrize("times", [10, 200])
def test_spin(benchmark: BenchmarkFixture, times):
    assert benchmark(spin, times) >= 45


def test_add(benchmark, one):
    assert benchmark.pedantic(add, args=(one, 2), rounds=3) == 3


@pytest.mark.benchmark
def test_whole():
    spin(20)


def test_of_something_else():
    raise AssertionError
"""
T = "tests/test_speed.py::"


@pytest.fixture
def project(tmp_path):
    made = Repository(tmp_path / "acme")
    for name, text in {
        "pyproject.toml": PYPROJECT, ".gitignore": ".benchproof/\n",
        "src/acme/__init__.py": "", "src/acme/work.py": WORK, "tests/test_speed.py": TESTS,
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n",
    }.items():  # fmt: skip
        made.write(name, text)
    made.commit("a package")
    made.edit("src/acme/work.py", "range(times)", "range(4 * times)")  # no accident: counted once
    made.commit("spins four times as long")
    return made


def benchproof(project, cache, *words):
    return subprocess.run(
        [sys.executable, "-m", "benchproof.cli", *words], cwd=project.root, check=False,
        capture_output=True, text=True, timeout=500,
        env=os.environ | {"BENCHPROOF_CACHE": str(cache), "COLUMNS": "160"},
    )  # fmt: skip


def test_tests_that_are_benchmarks_are_listed_and_compared_by_exact_meters(
    project, cache, tmp_path
):
    listed = benchproof(project, cache, "list", "--json", str(tmp_path / "list.json"))
    assert listed.returncode == 0, listed.stderr
    assert "benchmarks: tests/, whose tests use pytest's fixture" in listed.stderr
    found = json.loads((tmp_path / "list.json").read_text())["benchmarks"]
    names = {f"{T}test_spin[10]", f"{T}test_spin[200]", f"{T}test_add", f"{T}test_whole"}
    assert {each["name"] for each in found} == names
    assert all("instructions" in each["meters"] for each in found)

    out = tmp_path / "compare.json"
    said = benchproof(
        project, cache, "compare", "HEAD~1", "HEAD", "--all", "--json", str(out),
        "--meters", "instructions,allocations", "--bench", "::",
    )  # fmt: skip
    assert said.returncode == 1, said.stderr + said.stdout
    rows = {row["name"]: row for row in json.loads(out.read_text())["cases"]}
    assert {name: row["verdict"] for name, row in rows.items()} == dict.fromkeys(
        names, "regressed"
    ) | {f"{T}test_add": "equivalent"}
    assert {row["suite"] for row in rows.values()} == {"tests/test_speed.py"}
    spin = rows[f"{T}test_spin[200]"]
    assert spin["grade"] == "witnessed"
    assert spin["meters"]["instructions"]["ratio"] > 3
    assert list(project.root.glob("tests/__pycache__")) == []
    assert project.git("status", "--porcelain") == ""


def test_a_suite_of_pytest_codspeed_is_listed(project, cache, tmp_path):
    project.write("tests/test_speed.py", CODSPEED)
    project.commit("the same for pytest-codspeed")
    listed = benchproof(project, cache, "list", "--json", str(tmp_path / "list.json"))
    assert listed.returncode == 0, listed.stderr
    found = json.loads((tmp_path / "list.json").read_text())
    assert {each["name"]: each["kind"] for each in found["benchmarks"]} == dict.fromkeys(
        (f"{T}test_fixture[10]", f"{T}test_fixture[200]", f"{T}test_named", f"{T}test_marked"),
        "time",
    )
    (excluded,) = found["excluded"]
    assert excluded["name"] == f"{T}test_async"
    assert "4 benchmarks, 1 not measured" in listed.stdout


def test_what_the_base_s_files_alone_import_and_declare_is_there_where_they_are_listed(
    project, cache, tmp_path, monkeypatch
):
    index = tmp_path / "index"
    wheel(index, {"dep.py": ""}, "dep")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    project.edit("pyproject.toml", '["pytest"]', '["pytest", "dep"]')
    project.write("conftest.py", "import dep\n")
    project.write("tests/test_more.py", "def test_more(benchmark):\n    benchmark(int)\n")
    project.commit("a benchmark and a conftest.py that the next commit has not")
    project.edit("pyproject.toml", '["pytest", "dep"]', '["pytest"]')
    project.git("rm", "-q", "conftest.py", "tests/test_more.py")
    project.edit("src/acme/work.py", "4 * times", "2 * times")
    project.commit("half of the work")
    out = tmp_path / "compare.json"
    said = benchproof(
        project, cache, "compare", "HEAD~1", "HEAD", "--json", str(out), "--meters", "instructions",
        "--bench", "more|add",
    )  # fmt: skip
    assert said.returncode == 0, said.stderr + said.stdout
    document = json.loads(out.read_text())
    assert document["trouble"] == []
    assert {each["name"] for each in document["excluded"]} == {"tests/test_more.py::test_more"}


@pytest.mark.nightly
def test_the_head_s_own_tests_are_measured_by_a_gate_and_a_history_says_what_it_is_of(
    project, cache
):
    project.edit("tests/test_speed.py", "spin(20)", "spin(21)")
    said = benchproof(
        project, cache, "gate", "HEAD~1", "HEAD", "--committed", "--meters", "instructions",
        "--bench", "whole|add", "--no-profile",
    )  # fmt: skip
    assert said.returncode == 1, said.stderr + said.stdout
    assert f"{T}test_whole" in said.stdout
    answer = benchproof(project, cache, "history", "HEAD~1..HEAD")
    assert answer.returncode == 2
    assert "a history is of asv's benchmarks, and those in tests are pytest's" in answer.stderr


@pytest.mark.nightly
def test_a_clock_times_only_tests_whose_fixtures_body_or_call_run_what_changed(
    project, cache, tmp_path
):
    for name in ("kept", "before"):
        project.write(f"src/acme/{name}.py", "def number():\n    return 1\n")
    project.write("tests/test_speed.py", WATCHED)
    project.commit("a file for each")

    def timed(name):
        project.edit(f"src/acme/{name}.py", "return 1", "return 2 - 1")
        project.commit(f"changes {name}")
        out = tmp_path / f"{name}.json"
        said = benchproof(
            project, cache, "compare", "HEAD~1", "HEAD", "--quick", "--budget", "1",
            "--json", str(out), "--meters", "instructions,wall", "--bench", "::",
        )  # fmt: skip
        assert said.returncode == 0, said.stderr + said.stdout
        rows = json.loads(out.read_text())["cases"]
        return {row["name"].removeprefix(T) for row in rows if "wall" in row["meters"]}

    assert timed("kept") == {"test_second", "test_third"}  # whoever comes later may have it
    assert timed("before") == {"test_third"}


CODSPEED = """
import pytest
from pytest_codspeed import BenchmarkFixture

from acme.work import add, spin


@pytest.mark.parametrize("times", [10, 200])
def test_fixture(benchmark: BenchmarkFixture, times):
    benchmark(spin, times)


def test_named(codspeed_benchmark, one):
    assert codspeed_benchmark(add, one, 2) == 3


@pytest.mark.codspeed_benchmark
def test_marked():
    spin(20)


@pytest.mark.codspeed_benchmark
async def test_async():
    spin(20)


def test_of_something_else():
    raise AssertionError
"""
WATCHED = """
import pytest

from acme import before, kept
from acme.work import spin


@pytest.fixture
def one():
    return kept.number()


def test_first(benchmark):
    benchmark(spin, 20)


def test_second(benchmark, one):
    benchmark(spin, 20 + one)


def test_third(benchmark):
    times = 20 + before.number()
    benchmark(spin, times)
"""
