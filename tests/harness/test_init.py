"""`benchproof init`: what it finds in a project, what it writes, and that the result measures."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from benchproof import package
from benchproof.errors import BenchproofError
from benchproof.init.plan import WORKFLOW, find, plan
from tests.harness.toy import Repository

PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "acme-tools"
version = "1"
"""
SRC = '\n[tool.setuptools.packages.find]\nwhere = ["src"]\n'
ACTIONLINT = shutil.which("actionlint", path=Path(sys.executable).parent)


def project(root, **files):
    made = Repository(root)
    for name, text in files.items():
        made.write(name, text)
    made.commit("a project")
    return made


@pytest.fixture
def flat(tmp_path):
    return project(tmp_path / "flat", **{
        "pyproject.toml": PYPROJECT.replace("acme-tools", "acme"), "acme/__init__.py": "",
        "tests/__init__.py": "",
    })  # fmt: skip


@pytest.fixture
def src(tmp_path):
    return project(tmp_path / "src", **{
        "pyproject.toml": PYPROJECT + SRC, "src/acme_tools/__init__.py": "",
        "src/acme_tools/work.py": "def double(x):\n    return 2 * x\n", "scripts/__init__.py": "",
    })  # fmt: skip


def benchproof(made, cache, *words):
    return subprocess.run(
        [sys.executable, "-m", "benchproof.cli", *words], cwd=made.root, check=False,
        capture_output=True, text=True, timeout=300,
        env=os.environ | {"BENCHPROOF_CACHE": str(cache), "COLUMNS": "200"},
    )  # fmt: skip


def test_a_package_is_found_in_either_layout(flat, src):
    assert (find(flat.root).package, find(src.root).package) == ("acme", "src/acme_tools")
    assert find(src.root).why_package == "named as the project"


def test_a_folder_of_benchmarks_that_pytest_runs_is_taken_as_it_is(src):
    src.write("benchmarks/test_hot.py", "def test_it(benchmark):\n    benchmark(int)\n")
    found = find(src.root)
    assert (found.suites, found.why_suites, found.has_suites) == (
        "benchmarks", "it holds benchmarks", True
    )  # fmt: skip
    assert [each.path for each in plan(src.root).additions] == ["pyproject.toml"]


def test_the_benchmarks_of_asv_are_found_wherever_its_file_lies(src):
    src.write("perf/asv.conf.json", '{\n // where they are\n "benchmark_dir": "suites"\n}\n')
    src.write("perf/suites/hot.py", "def time_it():\n    pass\n")
    found = find(src.root)
    assert (found.suites, found.has_suites) == ("perf/suites", True)
    assert "perf/asv.conf.json" in found.why_suites
    planned = plan(src.root)
    assert [each.path for each in planned.additions] == ["pyproject.toml"]
    assert planned.notes == ()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"acme/__init__.py": ""}, "no pyproject.toml and no setup.py"),
        ({"setup.py": "", "work.py": ""}, "no package in"),
        ({"setup.py": "", "one/__init__.py": "", "two/__init__.py": ""}, r"one, two.*--package"),
        ({"pyproject.toml": "[", "one/__init__.py": ""}, "pyproject.toml: "),
    ],
)
def test_what_is_not_clear_is_said_and_nothing_is_written(tmp_path, files, words):
    made = project(tmp_path / "p", **files)
    with pytest.raises(BenchproofError, match=words):
        plan(made.root)


def test_a_named_package_that_is_none_suggests_the_nearest(flat):
    with pytest.raises(BenchproofError, match=r"'acm' is no package .*did you mean acme"):
        plan(flat.root, "acm")


def test_a_dry_run_shows_everything_and_writes_nothing(src, cache):
    before = src.git("status", "--porcelain")
    answer = benchproof(src, cache, "init", "--dry-run", "--workflow")
    assert answer.returncode == 0, answer.stderr
    for words in (
        "package: src/acme_tools (named as the project)", "would add to pyproject.toml",
        "| [tool.benchproof]", "would write benchmarks/first.py", f"would write {WORKFLOW}",
        "benchmarks/first.py: put a call of what is to be measured into time_first",
        "next: benchproof compare HEAD . --force",
    ):  # fmt: skip
        assert words in answer.stdout
    assert src.git("status", "--porcelain") == before == ""


def test_nothing_that_exists_is_overwritten(src, cache):
    src.write("benchmarks/__init__.py", "# mine\n")
    src.write(WORKFLOW, "# mine, too\n")
    text = (src.root / "pyproject.toml").read_text()
    assert benchproof(src, cache, "init", "--workflow").returncode == 0
    assert (src.root / "benchmarks/__init__.py").read_text() == "# mine\n"
    assert (src.root / WORKFLOW).read_text() == "# mine, too\n"
    written = (src.root / "pyproject.toml").read_text()
    assert written.startswith(text)
    assert tomllib.loads(written)["tool"]["benchproof"] == {
        "package": "src/acme_tools", "suites": "asv_benchmarks",  # the other one is not ours
    }  # fmt: skip
    assert package.place(src.root) == "src/acme_tools"
    again = benchproof(src, cache, "init", "--workflow", "--json", "-")
    assert json.loads(again.stdout)["written"] == []
    assert (src.root / "pyproject.toml").read_text() == written


def test_the_workflow_gates_in_under_forty_lines(src):
    planned = plan(src.root, workflow=True)
    (text,) = [each.text for each in planned.additions if each.path == WORKFLOW]
    steps = yaml.safe_load(text)["jobs"]["gate"]["steps"]
    runs = " ".join(step.get("run", "") for step in steps)
    assert len(text.splitlines()) < 40
    # Not by its name alone: whoever takes that on PyPI would run in each pull request.
    assert 'pip install "$BENCHPROOF"' in runs
    assert "subdirectory=harness" in yaml.safe_load(text)["env"]["BENCHPROOF"]
    assert any("BENCHPROOF" in note for note in planned.notes)
    assert 'benchproof gate "$(git merge-base' in runs


@pytest.mark.skipif(ACTIONLINT is None, reason="actionlint is not installed")
def test_the_workflow_passes_actionlint(src, tmp_path):
    file = tmp_path / "benchproof.yml"
    file.write_text(next(each.text for each in plan(src.root, workflow=True).additions
                         if each.path == WORKFLOW))  # fmt: skip
    answer = subprocess.run([ACTIONLINT, file], check=False, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["flat", "src"])
def test_what_is_written_measures_at_once(layout, request, cache):
    made = request.getfixturevalue(layout)
    assert benchproof(made, cache, "init").returncode == 0
    words = ("compare", "HEAD", ".", "--meters", "allocations")
    answer = benchproof(made, cache, *words)
    assert answer.returncode == 0, answer.stderr
    assert "same build" in answer.stdout
    answer = benchproof(made, cache, *words, "--force", "--all")
    assert answer.returncode == 0, answer.stderr
    assert "no regression: 1 benchmark: 1 equivalent" in answer.stdout


def test_the_doctor_speaks_of_the_project_around_it(src, cache):
    said = findings(src, cache)
    assert said["package"] == ("ok", "src/acme_tools/ of src (pure Python)")
    assert said["benchmarks"] == ("missing", "there is no asv_benchmarks/")
    assert benchproof(src, cache, "init").returncode == 0
    said = findings(src, cache)
    assert said["package"] == ("ok", "src/acme_tools/ of src (pure Python)")
    assert said["benchmarks"] == ("ok", "benchmarks/: 1 in 1 module")
    assert said["build"][0] == "ok"
    assert "compiler" not in said
    src.edit("pyproject.toml", '["setuptools"]', '["no-such-backend>=1", "setuptools"]')
    assert "the first build fetches no-such-backend>=1" in findings(src, cache)["build"][1]


def findings(made, cache):
    document = json.loads(benchproof(made, cache, "doctor", "--json").stdout)
    assert "compiled against pure" not in document["can_measure"]
    text = json.dumps(document)
    assert "make " not in text
    return {each["name"]: (each["state"], each["detail"]) for each in document["findings"]}
