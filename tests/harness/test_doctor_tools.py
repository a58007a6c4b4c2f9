"""The doctor tries the tools instead of believing in them."""

import shutil
import subprocess
import sys

import pytest

from benchproof import toolchain
from benchproof.checkout import Checkout
from benchproof.doctor import project, tools
from benchproof.doctor.machine import COMMITS, COMPILED
from tests.harness.toy import VARIANTS


def git(folder, *arguments):
    who = ["-c", "user.name=A Tester", "-c", "user.email=tester@example.org"]
    subprocess.run(
        ["git", *who, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def clone(tmp_path):
    """A git checkout with two commits, that has a driver of one file."""
    root = tmp_path / "clone"
    (root / "driver").mkdir(parents=True)
    git(tmp_path, "init", "--initial-branch=main", str(root))
    for text in ('IMPL = "python"\nREASON = "first"\n', 'IMPL = "python"\nREASON = "second"\n'):
        (root / "driver" / "implementation.py").write_text(text, encoding="utf-8")
        (root / "driver" / "__init__.py").touch()
        (root / "setup.py").write_text("setup(ext_modules=[])\n", encoding="utf-8")
        (root / "pyproject.toml").write_text(VARIANTS, encoding="utf-8")
        (root / "asv_benchmarks").mkdir(exist_ok=True)
        (root / "asv_benchmarks" / "__init__.py").write_text("", encoding="utf-8")
        hot = "def time_it():\n    pass\n"
        (root / "asv_benchmarks" / "hot.py").write_text(hot, encoding="utf-8")
        git(root, "add", "--all")
        git(root, "commit", "--message", "change")
    return root


def broken():
    return toolchain.Toolchain("", "false ended with status 1", ())


def working():
    return toolchain.Toolchain("cc 1.0", "", ())


def test_a_compiler_that_always_fails_is_found_out(monkeypatch):
    monkeypatch.setenv("CC", "false")
    finding = tools.compiler(toolchain.find())
    assert (finding.state, finding.affects) == ("missing", (COMPILED,))
    assert "CC=false" in finding.detail
    assert finding.remedy.startswith("unset CC")
    assert not finding.stops_the_main_job


def test_a_compiler_that_is_not_there_is_found_out(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert tools.compiler(toolchain.find()).state == "missing"


def test_a_working_compiler_is_named(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    finding = tools.compiler(working())
    assert (finding.state, finding.detail) == ("ok", "cc 1.0")


@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("apt-get", "sudo apt-get install --yes valgrind"),
        ("dnf", "sudo dnf install --assumeyes valgrind"),
        ("brew", "brew install valgrind"),
        ("none", "install valgrind with this system's package manager"),
    ],
)
def test_the_install_line_is_the_one_of_this_system(monkeypatch, manager, line):
    monkeypatch.setattr(shutil, "which", lambda name: name if name == manager else None)
    assert tools.install("valgrind") == line


def test_absent_valgrind_costs_the_instructions_and_nothing_else(monkeypatch):
    monkeypatch.setattr(tools.instructions, "why_not", lambda: "valgrind is not installed")
    finding = tools.valgrind()
    assert (finding.state, finding.affects) == ("missing", ("instructions",))
    assert finding.remedy


def test_absent_memray_costs_everything_that_it_records(monkeypatch):
    monkeypatch.setattr(tools.allocations, "why_not", lambda: "memray is not installed")
    assert tools.memray().affects == ("allocations", "bytes", "retained")


def test_random_addresses_cost_exactness(monkeypatch):
    monkeypatch.setattr(tools.instructions, "fixed_addresses", lambda: False)
    finding = tools.addresses()
    assert (finding.state, finding.affects) == ("degraded", ("instructions",))


def test_a_setting_of_python_that_reaches_the_workers_is_named():
    finding = tools.environment({"PYTHONMALLOC": "malloc", "HOME": "somewhere"})
    assert finding.remedy == "unset PYTHONMALLOC"
    assert tools.environment({"HOME": "somewhere"}).state == "ok"


def test_a_package_that_is_not_installed_stops_the_main_job(monkeypatch):
    monkeypatch.setattr(tools, "find_spec", lambda name: None if name == "pyperf" else name)
    finding = tools.packages()
    assert finding.stops_the_main_job
    assert "pyperf" in finding.detail


def test_another_interpreter_than_cpython_stops_the_main_job(monkeypatch):
    monkeypatch.setattr(sys.implementation, "name", "pypy")
    assert tools.python().stops_the_main_job


def test_a_folder_outside_git_stops_the_main_job(tmp_path):
    (finding,) = project.check(tmp_path, working())
    assert (finding.name, finding.stops_the_main_job) == ("checkout", True)


def test_a_clean_clone_has_nothing_to_mend(clone):
    findings = {finding.name: finding for finding in project.check(clone, working())}
    assert {finding.state for finding in findings.values()} == {"ok"}
    assert "a build gives cython" in findings["implementation"].detail


def test_changes_that_are_not_committed_are_named(clone):
    (clone / "driver" / "implementation.py").write_text("IMPL = 3\n", encoding="utf-8")
    findings = {finding.name: finding for finding in project.check(clone, working())}
    assert findings["changes"].affects == (COMMITS,)
    assert "driver/implementation.py" in findings["changes"].detail
    assert "--committed" in findings["changes"].remedy


def test_a_shallow_clone_is_deepened_and_a_first_commit_is_not(clone, tmp_path):
    git(tmp_path, "clone", "--depth=1", clone.as_uri(), "shallow")
    shallow = next(f for f in project.check(tmp_path / "shallow", working()) if f.name == "history")
    assert (shallow.state, shallow.affects) == ("degraded", (COMMITS,))
    assert "git fetch" in shallow.remedy
    git(clone, "checkout", "HEAD~1")
    first = next(f for f in project.check(clone, working()) if f.name == "history")
    assert (first.state, first.remedy) == ("degraded", "")


def test_a_repository_without_a_commit_stops_the_main_job(tmp_path):
    git(tmp_path, "init")
    assert any(finding.stops_the_main_job for finding in project.check(tmp_path, working()))


def test_without_a_compiler_a_build_is_said_to_be_pure(clone):
    finding = project.chosen(Checkout(clone), broken())
    assert (finding.state, finding.affects) == ("degraded", (COMPILED,))


def test_a_package_that_is_only_compiled_needs_a_compiler(clone):
    (clone / "pyproject.toml").write_text("", encoding="utf-8")
    assert project.chosen(Checkout(clone), working()).state == "ok"
    assert project.chosen(Checkout(clone), broken()).stops_the_main_job
