"""Another project's package is gated: of another name, in a folder of its own, or of one form."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchproof import package
from benchproof.checkout import Checkout
from benchproof.targets import content_of
from tests.harness import toy
from tests.harness.toy import Repository

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = (
    toy.BUILT_BY_SETUPTOOLS
    + """name = "acme-cql"

[tool.setuptools.packages.find]
where = ["src"]

[tool.benchproof]
package = "src/acme"
suites = "bench"
"""
)
SUITE = """
import hashlib

from acme import work


def time_spin():
    return work.spin(40)


def prove():
    return {"modules": {"work": work.__file__},
            "digest": hashlib.sha256(repr(time_spin()).encode()).hexdigest()}


time_spin.prove = prove
time_spin.version = "1"
"""


@pytest.fixture
def acme(tmp_path):
    """A package without compiled modules, IMPL and setup.py; its newest commit does more work."""
    project = Repository(tmp_path / "acme")
    for name, text in {
        ".gitignore": ".benchproof/\n",
        "pyproject.toml": PYPROJECT,
        "src/acme/__init__.py": "",
        "src/acme/work.py": toy.SPIN,
        "bench/__init__.py": "",
        "bench/hot.py": SUITE,
    }.items():
        project.write(name, text)
    project.commit("a package")
    project.edit("src/acme/work.py", "total = 0", "total = len([object()]) - 1")
    project.commit("one object more")
    return project


def benchproof(project, cache, *words):
    env = os.environ | {"BENCHPROOF_CACHE": str(cache), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "benchproof.cli", *words],
        check=False, capture_output=True, text=True, env=env, cwd=project.root,
    )  # fmt: skip


@pytest.mark.slow
def test_a_package_of_another_name_is_gated(acme, cache, tmp_path):
    file = tmp_path / "gate.json"
    words = ("--meters", "allocations,bytes", "--json", str(file))
    answer = benchproof(acme, cache, "gate", "HEAD~1", "HEAD", *words)
    assert answer.returncode == 1, answer.stdout + answer.stderr
    (row,) = json.loads(file.read_text())["cases"]
    assert (row["name"], row["meters"]["allocations"]["verdict"]) == ("hot.time_spin", "regressed")
    assert benchproof(acme, cache, "gate", "HEAD", "HEAD", *words).returncode == 0


@pytest.mark.slow
def test_a_variant_that_the_project_does_not_name_is_one_line(acme, cache):
    answer = benchproof(
        acme, cache, "gate", "HEAD", "HEAD", "--impl", "cython", "--meters", "allocations"
    )
    assert answer.returncode == 2
    assert "--impl 'cython': this project names no variants" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_package_that_is_named_and_not_there_is_one_line(acme, cache):
    acme.edit("pyproject.toml", 'package = "src/acme"\n', 'package = "src/other"\n')
    answer = benchproof(acme, cache, "gate", "HEAD~1", "HEAD", "--committed")
    assert answer.returncode == 2
    assert "has no src/other/ with" in answer.stderr
    assert "'package' of [tool.benchproof]" in answer.stderr


def test_content_follows_the_package_and_nothing_else(acme):
    checkout = Checkout.around(acme.root)
    before = content_of(checkout, None)
    acme.write("tests/test_other.py", "x = 1\n")
    acme.write("docs/conf.py", "x = 1\n")
    acme.write("NEWS.md", "More\n")
    acme.write("bench/more.py", "x = 1\n")
    assert content_of(checkout, None) == before
    acme.write("native/fast.c", "int x;\n")
    after = content_of(checkout, None)
    assert after != before
    acme.write("src/acme/other.py", "x = 1\n")
    assert content_of(checkout, None) != after


def test_a_project_says_what_it_is_built_from(acme):
    acme.edit("pyproject.toml", 'suites = "bench"', 'suites = "bench"\nsources = ["src"]')
    checkout = Checkout.around(acme.root)
    before = content_of(checkout, None)
    acme.write("native/fast.c", "int x;\n")
    assert content_of(checkout, None) == before
    acme.write("src/acme/other.py", "x = 1\n")
    assert content_of(checkout, None) != before


@pytest.mark.parametrize(
    ("files", "found", "name"),
    [
        (["acme_cql/__init__.py", "tests/__init__.py"], "acme_cql", "acme_cql"),
        (["src/acme_cql/__init__.py", "src/acme_cql/a/__init__.py"], "src/acme_cql", "acme_cql"),
        (["src/other/__init__.py"], "src/other", "other"),
        (["src/acme/cql/__init__.py"], "src/acme/cql", "acme.cql"),
        (["acme/cql/__init__.py", "acme/cql/types/__init__.py"], "acme/cql", "acme.cql"),
        (["a/__init__.py", "b/__init__.py"], "", ""),
        (["a/__init__.py", "acme_cql/__init__.py"], "acme_cql", "acme_cql"),
        (["acme_cql.py", "setup.py"], "acme_cql", "acme_cql"),
        (["src/acme_cql.py"], "src/acme_cql", "acme_cql"),
        (["docs/conf.py"], "", ""),
    ],
)
def test_a_package_is_found_where_nobody_names_it(tmp_path, files, found, name):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "Acme.cql"\n', encoding="utf-8")
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert package.place(tmp_path) == found
    assert package.name(found) == name


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ('[tool.benchproof]\npackage = "acme"', "acme"),
        ('[tool.benchproof]\npackage = "src/acme"', "src/acme"),
        ('[tool.benchproof]\npackage = "../acme"', ""),
        ("[tool.benchproof]\npackage = 3", ""),
        ("[tool.benchproof", ""),
    ],
)
def test_where_the_package_lies(tmp_path, table, found):
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    assert package.place(tmp_path) == found


@pytest.mark.parametrize("value", ["/acme", "a//b", "a/../b", "src/two words", "", ".", 3, None])
def test_what_is_no_place_of_a_package(value):
    assert not package.is_place(value)
