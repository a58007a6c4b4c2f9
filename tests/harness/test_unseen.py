"""Nothing that the tool writes by default shows in the `git status` of somebody's checkout."""

from pathlib import Path

import pytest

from benchproof.checkout import Checkout
from tests.harness.test_meters import needs_memray
from tests.harness.test_package import benchproof
from tests.harness.toy import Toy

SUITES = Path(__file__).resolve().parent / "suites"


@pytest.fixture
def guest(tmp_path):
    """A project that has never heard of us: no line of its .gitignore is ours."""
    project = Toy(tmp_path / "guest")
    project.write(".gitignore", "__pycache__/\n")
    for file in SUITES.glob("*.py"):
        project.write(f"asv_benchmarks/{file.name}", file.read_text(encoding="utf-8"))
    project.commit("benchmarks")
    project.edit("driver/work.py", "total = 0", "total = len([object()]) - 1")
    project.commit("one object more")
    return project


def status(project):
    return project.git("status", "--porcelain", "--untracked-files=all")


@needs_memray
@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_git_shows_nothing_of_ours_after_every_command(guest, monkeypatch):
    monkeypatch.delenv("BENCHPROOF_CACHE", raising=False)
    memory = ("--meters", "allocations,bytes")
    for words in (
        ("compare", "HEAD~1", "HEAD", *memory),
        ("gate", "HEAD~1", "HEAD", "--impl", "python", *memory),
        ("run", *memory),
        ("history", "--impl", "python", "--meters", "bytes", "--jobs", "1"),
        ("publish", "--no-asv"),
    ):
        answer = benchproof(guest, "", *words)
        assert answer.returncode in {0, 1}, (words, answer.stdout + answer.stderr)
        assert status(guest) == "", words


def test_a_folder_beside_those_of_the_project_is_hidden_alone(guest):
    guest.write("reports/theirs.txt", "x")
    guest.write("reports/.gitignore", "*.tmp\n")
    guest.commit("reports of their own")
    here = Checkout.around(guest.root)
    here.hide(guest.root / "reports" / "latest")
    guest.write("reports/latest/a.json", "{}")
    guest.write("reports/new.txt", "x")
    assert status(guest) == "?? reports/new.txt"


def test_a_folder_that_the_project_commits_or_ignores_is_left_alone(guest):
    guest.write("reports/results/a.json", "{}")
    guest.write(".gitignore", "reports/html/\n")
    guest.commit("kept")
    here = Checkout.around(guest.root)
    for name in ("results", "html"):
        here.hide(guest.root / "reports" / name)
    assert not list((guest.root / "reports").rglob(".gitignore"))


def test_two_folders_share_one_file(guest):
    here = Checkout.around(guest.root)
    for name in ("latest", "html", "latest"):
        here.hide(guest.root / "reports" / name)
    lines = (guest.root / "reports" / ".gitignore").read_text().splitlines()
    assert lines[1:] == ["/.gitignore", "/latest/", "/html/"]
