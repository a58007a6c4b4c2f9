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
from benchproof.errors import SelectionError, SettingsError, TargetError
from tests.harness.conftest import SUITES
from tests.harness.toy import Repository

COUNTS = ("allocations", "bytes")


@pytest.fixture
def pure(toy, place):
    """A repository in whose newest commit only the pure Python module of the two does more."""
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more")
    return place


def project(root, table="", **files):
    """A project with a package, its settings and other files, committed."""
    made = Repository(root / "p")
    made.write("driver/__init__.py", "")
    made.write("pyproject.toml", table)
    for name, text in files.items():
        made.write(name, text)
    return made


TWO = """
[tool.benchproof]
package = "driver"

[tool.benchproof.variants.quick]
kind = "compiled"
build = { TOY_SPEED = "1", ONLY_HERE = "x" }
requires = ["numpy==2.1"]

[tool.benchproof.variants.plain]
run = { TOY_MODE = "plain" }
"""


def test_a_project_names_its_variants_in_its_order(tmp_path):
    quick, plain = Checkout(project(tmp_path, TWO).root).variants
    assert (quick.name, quick.kind, quick.requires) == ("quick", "compiled", ("numpy==2.1",))
    assert (quick.build, quick.run) == ({"TOY_SPEED": "1", "ONLY_HERE": "x"}, {})
    assert (plain.name, plain.kind, plain.build) == ("plain", "", {})
    assert plain.run == {"TOY_MODE": "plain"}


def test_each_variant_runs_without_what_the_others_set_and_in_as_many_bytes(tmp_path):
    quick, plain = Checkout(project(tmp_path, TWO).root).variants
    outside = {"TOY_MODE": "outside", "TOY_SPEED": "9", "HOME": "/home"}
    of_quick, of_plain = (
        variants.environment(each, outside) | {"PADDING": "x" * each.slack}
        for each in (quick, plain)
    )
    assert of_quick == {"HOME": "/home", "PADDING": of_quick["PADDING"]}
    assert of_plain == {"HOME": "/home", "TOY_MODE": "plain", "PADDING": ""}
    # A pointer of eight bytes for each, and what it points to: "name=value" and a zero.
    taken = [sum(len(f"{k}={v}") + 9 for k, v in env.items()) for env in (of_quick, of_plain)]
    assert taken[0] == taken[1]


def test_a_project_that_names_none_has_one_without_a_name(tmp_path):
    checkout = Checkout(project(tmp_path).root)
    assert [each.name for each in checkout.variants] == [""]
    assert variants.of(checkout, None) == ()
    with pytest.raises(TargetError, match="--impl 'fast': this project names no variants"):
        variants.chosen(checkout.variants, "fast")


MATRIX = {
    "version": 1,
    "matrix": {
        "req": {"pip+numpy": ["2.0", "2.1"], "lz4": ["4.3"], "gone": [None]},
        "env": {"TOY_SPEED": "1"},
        "env_nobuild": {"TOY_MODE": ["plain", None]},
    },
}


def test_the_matrix_of_asv_is_read_as_variants_named_by_what_differs(tmp_path):
    made = project(tmp_path, **{"asv.conf.json": json.dumps(MATRIX)})
    found = {each.name: each for each in Checkout(made.root).variants}
    assert list(found) == [
        "numpy2.0-plain", "numpy2.0-without-TOY_MODE",
        "numpy2.1-plain", "numpy2.1-without-TOY_MODE",
    ]  # fmt: skip
    one, other = found["numpy2.0-plain"], found["numpy2.1-without-TOY_MODE"]
    assert (one.build, one.run) == ({"TOY_SPEED": "1"}, {"TOY_SPEED": "1", "TOY_MODE": "plain"})
    assert (one.requires, other.requires) == (("numpy==2.0",), ("numpy==2.1",))
    assert other.run == {"TOY_SPEED": "1"}
    assert "TOY_MODE" in other.unset


def test_a_matrix_may_hold_ranges_of_versions(tmp_path):
    text = json.dumps({"matrix": {"req": {"numpy": ["<2", ">=2"], "pip+six": [">1"], "attrs": []}}})
    checkout = Checkout(project(tmp_path, **{"asv.conf.json": text}).root)
    assert [each.requires for each in checkout.variants] == [("numpy<2",), ("numpy>=2",)]
    assert checkout.requirements == ("numpy<2", "six>1", "attrs")
    builder = Builder(checkout, tmp_path, None, None)
    wanted = [builder._beside(each) for each in checkout.variants]
    assert wanted == [{"numpy<2", "six>1", "attrs"}, {"numpy>=2", "six>1", "attrs"}]


def test_a_matrix_without_alternatives_is_one_variant_without_a_name(tmp_path):
    conf = {"version": 1, "matrix": {"lz4": ["4.3"], "numpy": []}}
    made = project(tmp_path, **{"asv.conf.json": json.dumps(conf)})
    (only,) = Checkout(made.root).variants
    assert (only.name, only.requires, only.run) == ("", (), {})
    assert set(Checkout(made.root).requirements) == {"lz4==4.3", "numpy"}


def test_what_pyproject_names_comes_before_the_matrix(tmp_path):
    made = project(tmp_path, TWO, **{"asv.conf.json": json.dumps(MATRIX)})
    assert [each.name for each in Checkout(made.root).variants] == ["quick", "plain"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("variants = 3", "variants must be a table"),
        ("variants.fast = 3", "a variant is a table"),
        ("[tool.benchproof.variants.fast]\nkinds = 'pure'", "unknown key 'kinds'"),
        ("[tool.benchproof.variants.fast]\nkind = 'cython'", "kind must be"),
        ("[tool.benchproof.variants.fast]\nrun = ['A=1']", "run must be a table of variables"),
        ("[tool.benchproof.variants.fast]\nbuild = {A = 1}", "build must be a table of variables"),
        ("[tool.benchproof.variants.fast]\nbuild = {'A B' = '1'}", "build must be a table"),
        ("[tool.benchproof.variants.fast]\nrequires = 'numpy'", "requires must be a list"),
        ("[tool.benchproof.variants.all]\nkind = 'pure'", "'all' cannot name a variant"),
        ("[tool.benchproof.variants.'a b']\nkind = 'pure'", "'a b' cannot name a variant"),
    ],
)
def test_a_wrong_variant_is_one_line_with_its_place(tmp_path, table, words):
    made = project(tmp_path, f"[tool.benchproof]\n{table}\n")
    with pytest.raises(SettingsError, match=rf"^pyproject\.toml:\d+: .*{words}") as caught:
        _ = Checkout(made.root).variants
    assert len(str(caught.value).splitlines()) == 1


BOTH = ("quick", "plain")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, ("plain",)),
        ({"driver/fast.pyx": ""}, BOTH),
        ({"setup.py": "setup(ext_modules=[])"}, BOTH),
        ({"meson.build": "mesonpy"}, BOTH),
    ],
)
def test_sources_without_anything_to_compile_lack_the_compiled_variant(tmp_path, files, found):
    made = project(tmp_path, TWO, **files)
    commit = made.commit("a project")
    checkout = Checkout(made.root)
    assert variants.of(checkout, None) == variants.of(checkout, commit) == found


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("driver/wire/rows.py", {"pure"}),
        ("driver/_compiled/wire/rows.pyx", {"compiled"}),
        ("driver/_compiled/wire/__init__.py", {"compiled"}),
        ("driver/fast.py", {"pure"}),
        ("driver/fast.c", {"compiled"}),
        ("driver/other.py", {"compiled", "pure"}),
        ("driver/_private/rows.py", {"compiled", "pure"}),
        ("driver/data.json", {"compiled", "pure"}),
        ("setup.py", {"compiled", "pure"}),
    ],
)
def test_which_kinds_run_a_file(path, kinds):
    files = frozenset({
        "driver/wire/rows.py", "driver/_compiled/wire/rows.pyx", "driver/fast.py", "driver/fast.c",
        "driver/other.py", "driver/_private/rows.py", "setup.py",
    })  # fmt: skip
    assert variants.runs([path], files, "driver") == {path: kinds}


def between(place, *measured):
    left, right = (
        targets.resolve(targets.parse(side), place.checkout) for side in ("HEAD~1", "HEAD")
    )
    return unmeasured.between(left, right, place.checkout, measured)


def test_what_changed_and_was_not_measured_is_named(toy, pure):
    assert between(pure, "pure", "compiled").told() == ""
    missed = between(pure, "compiled")
    assert missed.told() == (
        "changed and not measured: driver/work.py (pure Python; "
        "--impl python or --impl all measures it)"
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
    some = between(pure, "compiled").qualify(good)
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


def test_sides_that_name_a_variant_leave_nothing_to_choose(toy, monkeypatch):
    monkeypatch.chdir(toy.root)
    assert sides_of("HEAD", ".", "") == ("cython", "python")
    assert sides_of("HEAD", ".", "python") == ("python",)
    assert sides_of("HEAD@impl:python", "HEAD@impl:cython", "") == ()
    with pytest.raises(TargetError, match="names a variant"):
        sides_of("HEAD@impl:python", "HEAD", "python")
