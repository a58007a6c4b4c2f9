"""The main job: which comparisons it makes of a history, and what it leaves."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchproof import job
from benchproof.checkout import Checkout
from benchproof.compare import Request
from benchproof.errors import BenchproofError, DirtyTreeError
from benchproof.render import page as drawing

BASE = Request("", "", bench="spin", budget=2, quick=True, meters=("allocations", "bytes"))


@pytest.fixture
def able(place):
    """A place that could compile: what a plan needs to know of it."""
    return replace(place, toolchain=replace(place.toolchain, why_not=""))


@pytest.fixture
def pure(place):
    return replace(place, toolchain=replace(place.toolchain, why_not="no compiler"))


def names(planned):
    return [(item.name, item.request.left, item.request.right, item.gates) for item in planned]


def test_head_against_its_parent_gates_and_the_implementations_do_not(toy, able):
    toy.edit("driver/work.py", "total = 0", "total = 1 - 1")
    toy.commit("a change")
    planned, said = job.plan(BASE, able)
    assert names(planned) == [
        ("implementations", "HEAD@impl:python", "HEAD@impl:cython", False),
        # Only the pure Python module of the two changed.
        ("commits", "HEAD~1@impl:python", "HEAD@impl:python", True),
    ]
    assert said == []


def test_a_head_that_does_not_change_the_driver_yields_to_the_newest_commit_that_does(toy, able):
    toy.edit("driver/work.py", "total = 0", "total = 1 - 1")
    change = toy.commit("a change")
    toy.edit("pyproject.toml", 'name = "toy"', 'name = "toy"\ndescription = "words"')
    toy.commit("metadata that reaches no build")
    toy.write("README.md", "words")
    toy.commit("words")
    planned, (said,) = job.plan(BASE, able)
    newest = change[:10]
    sides = (f"{newest}~1@impl:python", f"{newest}@impl:python")
    assert names(planned)[1] == ("commits", *sides, True)
    assert "HEAD does not change the package: same build as HEAD~1" in said
    assert newest in said
    assert newest in planned[1].request.title


def test_a_shallow_clone_that_leaves_nothing_to_compare_is_no_pass(able, pure, monkeypatch):
    monkeypatch.setattr(Checkout, "is_shallow", lambda _: True)
    planned, (said,) = job.plan(BASE, able)
    assert [item.name for item in planned] == ["implementations"]
    assert "the clone is shallow" in said
    with pytest.raises(BenchproofError, match="shallow: `git fetch --unshallow`, or fetch-"):
        job.plan(BASE, pure)


def test_a_first_commit_has_no_parent_and_says_so(able):
    planned, (said,) = job.plan(BASE, able)
    assert [item.name for item in planned] == ["implementations"]
    assert "it is the first commit" in said


def test_a_shallow_clone_says_so(toy, able, tmp_path):
    from benchproof.checkout import Checkout

    toy.commit("second")
    toy.git("clone", "--quiet", "--depth", "1", f"file://{toy.root}", str(tmp_path / "clone"))
    shallow = replace(able, checkout=Checkout.around(tmp_path / "clone"))
    assert "the clone is shallow" in job.plan(BASE, shallow)[1][0]


def test_without_a_compiler_and_a_parent_head_is_measured_against_itself(pure):
    planned, said = job.plan(BASE, pure)
    assert names(planned) == [("itself", "HEAD", "HEAD", False)]
    assert "no C compiler works" in said[0]


def test_a_history_in_which_nothing_changed_the_driver_says_so(toy, able):
    toy.write("README.md", "words")
    toy.commit("words")
    planned, (said,) = job.plan(BASE, able)
    assert [item.name for item in planned] == ["implementations"]
    assert "no earlier commit here changed it either" in said


def run(place, folder, tell):
    out = io.StringIO()
    status = job.run(BASE, place, folder, tell, Console(file=out, width=100))
    return status, out.getvalue()


@pytest.fixture
def page(monkeypatch):
    """The page's pictures are another part's tests; here only what it is given counts."""
    given = []

    def write(documents, folder):
        given.extend(documents)
        return folder / "index.html"

    monkeypatch.setattr(drawing, "write_page", write)
    return given


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_the_job_leaves_results_and_prints_the_page_s_path_last(toy, place, tell, tmp_path, page):
    toy.edit("driver/work.py", "total = 0", "total = 1 - 1")
    toy.commit("a change")
    status, out = run(place, tmp_path / "reports", tell)
    assert status == 0
    assert Path(out.splitlines()[-1]) == tmp_path / "reports" / "html" / "index.html"
    kept = sorted(path.name for path in (tmp_path / "reports" / "latest").iterdir())
    assert kept == ["commits.json", "implementations.json"]
    assert [document["title"] for document in page] == [
        "python against cython, at HEAD", "HEAD against its parent",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("page")
def test_a_regression_of_the_newest_commit_is_the_job_s(toy, place, tell, tmp_path):
    toy.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    toy.commit("one object more")
    status, out = run(place, tmp_path / "reports", tell)
    assert status == 1
    assert "regression: 1 benchmark: 1 regressed" in out
    assert json.loads((tmp_path / "reports/latest/commits.json").read_text())["gates"]


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_a_parent_that_does_not_build_leaves_the_rest_and_status_2(
    toy, place, tell, tmp_path, page
):
    toy.edit("driver/_cython/work.c", "PyInit_work(void)", "PyInit_work(void")
    toy.commit("does not build")
    toy.edit("driver/_cython/work.c", "PyInit_work(void", "PyInit_work(void)")
    toy.commit("builds again")
    status, out = run(place, tmp_path / "reports", tell)
    assert status == 2
    assert "benchproof: HEAD~1 does not build" in out
    assert len(page) == 1


def test_uncommitted_edits_stop_the_job(toy, place, tell, tmp_path):
    toy.write("driver/work.py", "x = 1\n")
    with pytest.raises(DirtyTreeError):
        run(place, tmp_path / "reports", tell)


@pytest.mark.parametrize(
    ("cases", "gates", "expected"),
    [
        (["measured"], True, 1),
        (["measured"], False, 0),
        (["measured", "proof failed"], False, 2),
        ([], False, 2),
    ],
)
def test_only_what_gates_can_be_a_regression(cases, gates, expected):
    document = {
        "gates": gates, "partial": False, "verdict": {"exit": 1},
        "cases": [{"status": status} for status in cases],
    }  # fmt: skip
    assert job.exit_status(document) == expected
