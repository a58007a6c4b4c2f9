"""Suites of pytest-benchmark and pytest-codspeed, as a worker finds, runs and measures them."""

import textwrap

import pytest

from benchproof import asv_conf, pytest_files, suite
from benchproof.checkout import Checkout
from benchproof.errors import TargetError
from tests.harness.test_worker import ask

CONFIG = """
[tool.pytest.ini_options]
addopts = "--strict-markers -x -m 'not benchmark' --rival-only"
filterwarnings = ["error"]
"""
CONFTEST = """
import pytest


@pytest.fixture(scope="module")
def times():
    return 50
"""
BENCHMARK = """
import pytest
from driver.work import boxes, spin


@pytest.fixture
def grouped(benchmark):
    benchmark.group = "a group"
    return benchmark


def test_call(benchmark, times):
    assert benchmark(spin, times=times) == 1225
    assert benchmark.stats is None


@pytest.mark.parametrize("times", [1, 2.5])
def test_decorated(benchmark, times):
    assert benchmark.params == {"times": times}

    @benchmark
    def run():
        return spin(int(times))


def test_pedantic_setup(benchmark):
    made, torn = [], []

    def setup():
        made.append(1)
        return (list(made),), {}

    def take(items):
        return items.pop()

    result = benchmark.pedantic(take, setup=setup, teardown=torn.append, rounds=3)
    assert result == 1
    assert len(torn) == len(made)


def test_pedantic_arguments(benchmark):
    assert benchmark.pedantic(spin, args=(3,), iterations=5, rounds=2) == 3


def test_fixture_of_a_fixture(grouped):
    grouped(boxes, 10)


@pytest.mark.skip("not today")
def test_skipped(benchmark):
    benchmark(spin, 3)


@pytest.mark.xfail(reason="it is wrong")
def test_expected(benchmark):
    assert benchmark(spin, 3) == 4


def test_fails(benchmark):
    assert benchmark(spin, 3) == 4


def test_of_nothing(benchmark):
    pass


def test_twice(benchmark):
    benchmark(spin, 3)
    benchmark(spin, 3)


def test_woven(benchmark):
    benchmark.weave(spin)


def test_no_benchmark():
    raise AssertionError


class TestMethods:
    @pytest.mark.benchmark(group="a group", min_rounds=3)
    def test_method(self, benchmark):
        benchmark(spin, 3)
"""
CODSPEED = """
import unittest
from pytest_codspeed import BenchmarkFixture

import pytest
from driver.work import spin

pytestmark = pytest.mark.benchmark


def test_whole(times):
    assert spin(times) == 1225


@pytest.mark.codspeed_benchmark
def test_by_its_own_name():
    spin(3)


def test_fixture_comes_first(benchmark: BenchmarkFixture):
    sum([1])
    benchmark(spin, 4)


def test_own_fixture(codspeed_benchmark):
    codspeed_benchmark(spin, 4)


async def test_async():
    pass


class TestCase(unittest.TestCase):
    def test_it(self):
        pass
"""
RIVAL = """
import pytest


def pytest_addoption(parser):
    parser.addoption("--rival-only", action="store_true")
    parser.addoption("--benchmark-only", action="store_true", default=True)


def pytest_configure(config):
    assert not config.getoption("--benchmark-only")


@pytest.fixture
def benchmark():
    raise AssertionError("the fixture of another plugin")
"""
B, C = "tests/test_benchmark.py::", "tests/test_codspeed.py::"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with both suites, and another plugin that has a fixture of the same name."""
    root = tmp_path_factory.mktemp("project")
    for name, text in {
        "pyproject.toml": CONFIG, "tests/conftest.py": CONFTEST,
        "tests/test_benchmark.py": BENCHMARK, "tests/test_codspeed.py": CODSPEED,
        "tests/test_syntax.py": "\n\ndef test_it(benchmark:\n",
        "tests/test_deep.py": (
            "import json\n\njson.loads('x')\n\n\ndef test_it(benchmark):\n    pass\n"
        ),
        "tests/test_broken.py": "import nothing_like_it\n\n\ndef test_it(benchmark):\n    pass\n",
        "tests/test_other.py": "raise SystemExit(1)\n",
        "packages/rival.py": RIVAL,
        "packages/rival-1.dist-info/entry_points.txt": "[pytest11]\nrival = rival\n",
        "packages/rival-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: rival\nVersion: 1\n",
        # What a folder in front of the side must not be taken for.
        "tests/driver.py": "raise SystemExit('not the side')\n",
        "side/driver/__init__.py": "",
        "side/driver/work.py": "from driver.inner import add\n\n\n" + textwrap.dedent("""
            def spin(times):
                total = 0
                for number in range(times):
                    total = add(total, number)
                return total


            def boxes(number):
                return [bytes(100) for _ in range(number)]
            """),
        "side/driver/inner.py": "def add(one, other):\n    return one + other\n",
    }.items():  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def run(project, tmp_path_factory):
    """Run a task on benchmarks; what the worker said, by name."""

    def run(task, names=(), suites=project / "tests", **more):
        folder = tmp_path_factory.mktemp("worker")
        rows = [{"name": name, "benchmark": name} | more for name in names]
        found, status, words = ask(
            folder, project / "side", task, rows, suites=suites,
            packages=str(project / "packages"),
        )  # fmt: skip
        assert status == 0, words
        return {row.get("name") or row["excluded"]: row for row in found}

    return run


@pytest.fixture(scope="module")
def found(run):
    return run("discover")


@pytest.fixture(scope="module")
def proven(run, found):
    return run("prove", [row["name"] for row in found.values() if "name" in row])


def test_every_benchmark_has_its_pytest_id_and_what_else_there_is_a_reason(found):
    names = {name for name, row in found.items() if "name" in row}
    assert names == {
        f"{B}test_call", f"{B}test_decorated[1]", f"{B}test_decorated[2.5]",
        f"{B}test_pedantic_setup", f"{B}test_pedantic_arguments", f"{B}test_fixture_of_a_fixture",
        f"{B}test_skipped", f"{B}test_expected", f"{B}test_fails", f"{B}test_of_nothing",
        f"{B}test_twice", f"{B}test_woven", f"{B}TestMethods::test_method",
        f"{C}test_whole", f"{C}test_by_its_own_name", f"{C}test_fixture_comes_first",
        f"{C}test_own_fixture",
    }  # fmt: skip
    why = {name: row["why"] for name, row in found.items() if "why" in row}
    assert set(why) == {
        f"{C}test_async", f"{C}TestCase::test_it", "tests/test_broken.py", "tests/test_deep.py",
        "tests/test_syntax.py",
    }  # fmt: skip
    # Of the project, wherever the error was raised.
    assert why["tests/test_syntax.py"].startswith("tests/test_syntax.py:3 does not load: Syntax")
    assert why["tests/test_deep.py"].startswith("tests/test_deep.py:3 does not load: json.deco")
    assert "only makes a coroutine" in why[f"{C}test_async"]
    assert "unittest" in why[f"{C}TestCase::test_it"]
    assert why["tests/test_broken.py"] == (
        "tests/test_broken.py:1 does not load: ModuleNotFoundError: "
        "No module named 'nothing_like_it'"
    )
    assert found["tests/test_broken.py"]["broken"]


def test_names_have_a_suite_and_a_function(found):
    cases = {case.name: case for case in suite.from_rows(found.values())}
    case = cases[f"{B}test_decorated[2.5]"]
    assert (case.suite, case.case) == ("tests/test_benchmark.py", "test_decorated[2.5]")
    assert case.benchmark == f"{B}test_decorated"
    case = cases[f"{B}TestMethods::test_method"]
    assert (case.suite, case.case) == ("tests/test_benchmark.py::TestMethods", "test_method")
    assert cases[f"{B}test_call"].version != case.version


def test_what_a_test_hands_over_is_seen_to_run_from_the_side(proven):
    measured = {name: row for name, row in proven.items() if "proof" in row}
    assert set(measured) == {
        f"{B}test_call", f"{B}test_decorated[1]", f"{B}test_decorated[2.5]",
        f"{B}test_pedantic_setup", f"{B}test_pedantic_arguments", f"{B}test_fixture_of_a_fixture",
        f"{B}TestMethods::test_method", f"{C}test_whole", f"{C}test_by_its_own_name",
        f"{C}test_fixture_comes_first", f"{C}test_own_fixture",
    }  # fmt: skip
    assert measured[f"{B}test_call"]["proof"]["modules"] == {
        "work": "driver/work.py", "inner": "driver/inner.py"
    }  # fmt: skip
    assert measured[f"{B}test_call"]["proof"]["digest"]
    assert measured[f"{C}test_whole"]["proof"]["grade"] == "witnessed"


def test_what_cannot_be_measured_says_why(proven):
    assert proven[f"{B}test_skipped"]["absent"] == "not today"
    assert proven[f"{B}test_expected"]["absent"] == "expected to fail: it is wrong"
    errors = {name: row["error"] for name, row in proven.items() if "error" in row}
    assert set(errors) == {
        f"{B}test_{each}" for each in ("fails", "of_nothing", "twice", "woven")
    }  # fmt: skip
    assert "assert 3 == 4 (test_benchmark.py:" in errors[f"{B}test_fails"]
    assert "without a call of its benchmark fixture" in errors[f"{B}test_of_nothing"]
    assert "only be used once" in errors[f"{B}test_twice"]
    assert "weave" in errors[f"{B}test_woven"]


def test_rounds_with_a_setup_are_set_up_anew_for_each_call(proven, run):
    assert proven[f"{B}test_pedantic_setup"]["number"] == 1
    assert proven[f"{B}test_pedantic_arguments"]["number"] == 0
    names = [f"{B}test_pedantic_setup", f"{B}test_pedantic_arguments"]
    timed = run("wall", names, loops=1)
    assert list(timed) == names
    # As many as each asks for.
    assert [len(timed[name]["values"]) for name in names] == [3, 2]


def test_the_order_is_the_one_that_was_asked_for_and_allocations_are_counted(run):
    names = [f"{C}test_whole", f"{B}test_fixture_of_a_fixture", f"{C}test_own_fixture"]
    counted = run("allocations", names, counts={"warm": 2, "few": 1, "many": 3})
    assert list(counted) == names
    assert counted[names[1]]["allocations"] >= 10
    assert counted[names[1]]["bytes"] >= 1000


def test_a_test_that_a_side_does_not_have_is_an_error(run):
    answers = run("prove", [f"{B}test_gone", "tests/test_broken.py::test_it"])
    assert answers[f"{B}test_gone"]["error"] == "pytest does not collect it"
    assert "does not load" in answers["tests/test_broken.py::test_it"]["error"]


def test_one_file_can_be_named(run, project):
    names = run("discover", suites=project / "tests/test_codspeed.py")
    assert all(name.startswith(C) for name in names)


def test_options_that_pytest_does_not_know_end_the_worker_with_one_line(project, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "test_it.py").write_text("def test_it(benchmark):\n    benchmark(int)\n")
    _, status, words = ask(tmp_path, project / "side", "discover", suites=tmp_path)
    assert status == 1
    assert words.splitlines()[-1].endswith("unrecognized arguments: --no-such-option")
    assert words.splitlines()[-1].startswith("pytest does not run: ")


@pytest.fixture
def tree(tmp_path):
    """Files below a folder; the folder."""

    def tree(**texts):
        for name, text in texts.items():
            file = tmp_path / name.replace("__", "/").replace("_py", ".py").replace("_txt", ".txt")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path

    return tree


FIXTURE = "def test_it(benchmark):\n    benchmark(int)\n"
ASV = "def time_it():\n    pass\n"


def test_tests_are_found_without_being_named(tree):
    root = tree(
        tests__a__test_x_py=FIXTURE, tests__b__test_y_py="import pytest\n" + ASV.replace(
            "time_it", "test_it").replace("def", "@pytest.mark.benchmark\ndef", 1),
        tests__test_z_py="def test_it(benchmarks):\n    'of no benchmark'\n",
        tests__helpers_py="def stored(benchmark):\n    pass\n", build__test_x_py=FIXTURE,
    )  # fmt: skip
    assert pytest_files.locate(root) == root / "tests"
    files = [root / "tests/a/test_x.py", root / "tests/b/test_y.py"]
    assert pytest_files.benchmarks(root / "tests") == files
    found = asv_conf.locate(root)
    assert found.folder == root / "tests"
    assert "fixture benchmark" in found.why


def test_a_fixture_that_takes_the_fixture_makes_its_folder_one_of_benchmarks(tree):
    conftest = "import pytest\n\n\n@pytest.fixture()\ndef mine(benchmark):\n    pass\n"
    root = tree(tests__conftest_py=conftest, tests__test_x_py=FIXTURE, tests__test_y_py="")
    assert pytest_files.benchmarks(root / "tests") == [root / "tests"]


def test_a_folder_with_benchmarks_of_asv_comes_first_and_one_of_other_scripts_does_not(tree):
    root = tree(tests__test_x_py=FIXTURE, benchmarks__it_py="import pyperf\n")
    assert asv_conf.locate(root).folder == root / "tests"
    tree(benchmarks__it_py=ASV)
    assert asv_conf.locate(root).folder == root / "benchmarks"
    assert asv_conf.locate(root, root / "tests").folder == root / "tests"


def test_of_a_mixed_folder_asv_s_configuration_says_whose_it_is(tree):
    root = tree(bench__test_x_py=FIXTURE, bench__it_py=ASV, pyproject_toml="")
    assert pytest_files.benchmarks(root / "bench") == [root / "bench/test_x.py"]
    (root / "pyproject.toml").touch()
    (root / "asv.conf.json").write_text('{"benchmark_dir": "bench"}')
    assert pytest_files.benchmarks(root / "bench") == []
    (root / "bench/it.py").unlink()
    assert pytest_files.benchmarks(root / "bench") == [root / "bench/test_x.py"]


def test_where_there_is_nothing_the_message_says_what_was_looked_for(tree):
    root = tree(tests__test_x_py="")
    with pytest.raises(TargetError, match="no test uses pytest's fixture benchmark"):
        asv_conf.require(asv_conf.locate(root).folder)


def test_requirements_come_from_the_list_that_names_a_plugin_and_from_imports(tree):
    root = tree(
        tests__test_x_py="import numpy.random\nfrom pytest_codspeed import X\n" + FIXTURE,
        tests__conftest_py="import os\n", conftest_py="import hypothesis\n",
        requirements__test_txt="-r base.txt\npytest==8.1\npytest-cov>=1  # covers\n# no\n-e .\n",
        requirements__base_txt="hypothesis==6.1 --hash=sha256:00\nflask\n",
        requirements__codspeed_txt="-r test.txt\n-r codspeed.txt\npytest-codspeed==3.0\n",
    )  # fmt: skip
    (root / "pyproject.toml").write_text(
        '[dependency-groups]\nlint = ["ruff", "pytest-mypy"]\ndev = ["pytest", "numpy>=1"]\n'
    )
    assert asv_conf.of_pytest(root, root / "tests") == (
        "hypothesis==6.1", "numpy>=1", "pytest-codspeed==3.0", "pytest-cov>=1", "pytest==8.1",
    )  # fmt: skip
    assert Checkout(root, root / "tests").requirements == asv_conf.of_pytest(root, root / "tests")


@pytest.mark.parametrize(("text", "found"), [
    ('[dependency-groups]\nbench = [{ include-group = "T_st" }]\nt-st = ["pytest>7"]',
     "pytest>7"),
    ('[dependency-groups]\na = [{ include-group = "a" }]\nbench = "no list"', "pytest"),
    ('[project.optional-dependencies]\ntests = ["pytest~=8.0"]', "pytest~=8.0"),
    ('[tool.poetry.group.dev.dependencies]\npytest = "^8"', "pytest"),
    ("[broken", "pytest"), ("", "pytest"),
])  # fmt: skip
def test_requirements_are_read_wherever_projects_keep_them(tree, text, found):
    root = tree(tests__test_x_py=FIXTURE)
    (root / "pyproject.toml").write_text(text)
    assert asv_conf.of_pytest(root, root / "tests") == (found,)


def test_a_suite_of_asv_has_no_requirements_of_pytest(tree):
    root = tree(benchmarks__it_py=ASV)
    assert asv_conf.of_pytest(root, root / "benchmarks") == ()
    assert asv_conf.of_pytest(root, root / "absent") == ()
