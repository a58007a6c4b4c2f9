"""Implementations of a project, and what a comparison says of those that it does not measure."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from benchproof import listing, targets, unmeasured, variants
from benchproof.build import Builder
from benchproof.checkout import Checkout
from benchproof.commands.options import sides_of
from benchproof.compare import Request, compare
from benchproof.errors import SelectionError, TargetError
from tests.harness.conftest import SUITES
from tests.harness.toy import Repository

COUNTS = ("allocations", "bytes")


@pytest.fixture
def pure(toy, place):
    """A repository in whose newest commit only the pure Python module of the two does more."""
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more")
    return place


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"setup.py": "# reads DRIVER_BUILD"}, ("cython", "python")),
        ({"pyproject.toml": ""}, ("python",)),
        ({"pyproject.toml": "", "driver/fast.pyx": ""}, ("cython",)),
        ({"setup.py": "setup(ext_modules=[])"}, ("cython",)),
        ({"pyproject.toml": "[build-system]\nbuild-backend = 'maturin'\n"}, ("cython",)),
    ],
)
def test_the_implementations_are_read_from_the_sources(tmp_path, files, found):
    project = Repository(tmp_path / "p")
    for name, text in ({"driver/__init__.py": ""} | files).items():
        project.write(name, text)
    commit = project.commit("a project")
    checkout = Checkout(project.root)
    assert variants.of(checkout, None) == variants.of(checkout, commit) == found


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        ("driver/wire/rows.py", {"python"}),
        ("driver/_cython/wire/rows.pyx", {"cython"}),
        ("driver/_cython/wire/__init__.py", {"cython"}),
        ("driver/fast.py", {"python"}),
        ("driver/fast.c", {"cython"}),
        ("driver/other.py", {"cython", "python"}),
        ("driver/data.json", {"cython", "python"}),
    ],
)
def test_which_implementations_run_a_file(path, runs):
    files = frozenset({
        "driver/wire/rows.py", "driver/_cython/wire/rows.pyx", "driver/fast.py", "driver/fast.c",
        "driver/other.py",
    })  # fmt: skip
    assert variants.running(path, files) == runs


def between(place, *measured):
    left, right = (
        targets.resolve(targets.parse(side), place.checkout) for side in ("HEAD~1", "HEAD")
    )
    return unmeasured.between(left, right, place.checkout, measured)


def test_what_changed_and_was_not_measured_is_named(toy, pure):
    assert between(pure, "python", "cython").told() == ""
    missed = between(pure, "cython")
    assert missed.told() == (
        "changed and not measured: driver/work.py (pure Python; "
        "--impl python or --impl both measures it)"
    )
    good = {"status": "no regression", "exit": 0, "summary": "12 equivalent"}
    assert missed.qualify(good)["exit"] == 2
    assert missed.qualify(good)["status"] == "nothing that changed was measured"
    bad = {"status": "regression", "exit": 1, "summary": "1 regressed"}
    assert missed.qualify(bad)["exit"] == 1
    toy.write("driver/more.py", "")
    toy.git("add", "--all")
    toy.git("commit", "--quiet", "--amend", "--no-edit")
    # Something that was measured changed too: what it says counts, and the rest is named.
    some = between(pure, "cython").qualify(good)
    assert (some["status"], some["exit"]) == ("no regression", 0)
    assert "driver/work.py" in some["summary"]


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_a_regression_of_pure_python_alone_is_one_and_gate_agrees(pure, tell):
    request = Request("HEAD~1", "HEAD", "spin", COUNTS, impls=("cython", "python"))
    compared = compare(request, pure, tell).document
    assert compared["impls"] == ["cython", "python"]
    gated = compare(replace(request, gate=True), pure, tell).document
    assert gated["verdict"] == compared["verdict"]
    assert gated["verdict"]["exit"] == 1
    # How many loops time would take follows a clock.
    found = [[row | {"loops": None} for row in each["cases"]] for each in (gated, compared)]
    assert found[0] == found[1]
    assert [row["impl"] for row in gated["cases"]] == ["cython", "python"]


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_the_compiled_side_alone_is_not_called_equivalent_where_only_pure_changed(toy, cache):
    toy.edit("driver/work.py", "total = 0", "total = 0  # a word")
    toy.commit("a word")
    answer = command(toy, cache, "compare", "HEAD~1", "HEAD", "--impl", "cython")
    assert answer.returncode == 2, answer.stderr
    assert "no regression" not in answer.stdout
    assert "nothing that changed was measured" in answer.stdout
    assert "driver/work.py (pure Python" in answer.stdout


def command(toy, cache, *words):
    return subprocess.run(
        [sys.executable, "-m", "benchproof.cli", *words, "--suites", str(SUITES),
         "--meters", "allocations", "--bench", "spin"],
        cwd=toy.root, capture_output=True, text=True, check=False, timeout=300,
        env=os.environ | {"BENCHPROOF_CACHE": str(cache), "COLUMNS": "200"},
    )  # fmt: skip


# Settings.


@pytest.mark.slow
@pytest.mark.usefixtures("pure")
def test_compare_and_gate_take_the_limits_of_the_candidate(toy, cache, tmp_path):
    table = '\n[tool.benchproof.benchmarks."toy.*"]\nallocations = 0.9\n'
    toy.write("pyproject.toml", (toy.root / "pyproject.toml").read_text() + table)
    for name in ("compare", "gate"):
        strict = command(toy, cache, name, "HEAD~1", "HEAD", "--impl", "python", "--committed")
        assert strict.returncode == 1, strict.stderr
    toy.git("add", "--all")
    toy.git("commit", "--quiet", "--amend", "--no-edit")
    for name in ("compare", "gate"):
        file = tmp_path / f"{name}.json"
        words = ("HEAD~1", "HEAD", "--impl", "python", "--json", str(file))
        answer = command(toy, cache, name, *words)
        assert json.loads(file.read_text())["settings"]["benchmarks"] == {
            "toy.*": {"allocations": 0.9}
        }, answer.stderr


# Asking before building.


@pytest.fixture
def no_build(monkeypatch):
    def build(*_):
        raise AssertionError("it was built before it was asked for")

    monkeypatch.setattr(Builder, "build", build)


@pytest.mark.usefixtures("no_build")
def test_a_benchmark_that_does_not_exist_is_told_before_anything_is_built(pure, tell):
    with pytest.raises(SelectionError, match=r"'spinn' matches none.*did you mean"):
        compare(Request("HEAD~1", "HEAD", "spinn"), pure, tell)
    with pytest.raises(SelectionError, match="'spinn' matches none"):
        compare(Request("HEAD~1", "HEAD", "spinn", gate=True), pure, tell)


@pytest.mark.usefixtures("no_build")
def test_the_same_sources_are_told_before_anything_is_built(toy, place, tell):
    toy.write("README.md", "words")
    toy.commit("words only")
    document = compare(Request("HEAD~1", "HEAD"), place, tell).document
    assert "same build" in document["verdict"]["summary"]
    impls = ("cython", "python")
    gated = compare(Request("HEAD~1", "HEAD", impls=impls, gate=True), place, tell).document
    assert (gated["verdict"]["exit"], gated["cases"]) == (0, [])
    assert "same build" in gated["verdict"]["summary"]


def test_suites_that_import_the_package_are_listed_only_by_a_build(place, tmp_path):
    suites = tmp_path / "bench"
    for name, text in {
        "__init__.py": "",
        "hot.py": "try:\n    import driver\nexcept Exception:\n    pass\n",
    }.items():
        suites.mkdir(exist_ok=True)
        (suites / name).write_text(text, encoding="utf-8")
    # Caught or not: without the package there might be other benchmarks.
    assert listing.early(suites, place.checkout) is None
    (suites / "hot.py").write_text("def time_it():\n    pass\n", encoding="utf-8")
    assert [row["name"] for row in listing.early(suites, place.checkout)] == ["hot.time_it"]


def test_sides_that_name_an_implementation_leave_nothing_to_choose(toy, monkeypatch):
    monkeypatch.chdir(toy.root)
    assert sides_of("HEAD", ".", "", "") == ("cython", "python")
    assert sides_of("HEAD", ".", "python", "") == ("python",)
    assert sides_of("HEAD@impl:python", "HEAD@impl:cython", "", "") == ()
    with pytest.raises(TargetError, match="names an implementation"):
        sides_of("HEAD@impl:python", "HEAD", "python", "")
