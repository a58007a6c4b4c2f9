"""Secrets of the environment and of addresses are in nothing that the tool prints or keeps."""

import subprocess
import sys

import pytest

from benchproof import fleet
from tests.harness.conftest import SUITES

SECRET = "planted-correct-horse"  # noqa: S105  (of nothing)
ADDRESS = f"https://me:{SECRET}@127.0.0.1:1/x"
#: Variables as they are set where code is built and published.
PLANTED = {
    "GITHUB_TOKEN": SECRET, "TWINE_PASSWORD": SECRET, "CARGO_REGISTRY_TOKEN": SECRET,
    "HATCH_INDEX_AUTH": SECRET, "PIP_EXTRA_INDEX_URL": ADDRESS, "UV_EXTRA_INDEX_URL": ADDRESS,
    "DATABASE_URL": ADDRESS,
}  # fmt: skip
COMMON = ("--suites", str(SUITES), "--impl", "python", "--meters", "allocations", "--bench", "spin")


@pytest.fixture
def planted(toy, tmp_path, monkeypatch):
    """Runs a command in the toy, and gives what it printed."""
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setenv("BENCHPROOF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "scratch").mkdir()
    toy.git("remote", "add", "origin", ADDRESS)

    def run(*words):
        done = subprocess.run(
            [sys.executable, "-c", "from benchproof.cli import main; main()", *words],
            cwd=toy.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    return run


@pytest.mark.slow
def test_no_report_log_or_cache_has_a_secret(planted, toy, tmp_path):
    toy.edit("driver/work.py", "total = 0", "total = 0  # a word")
    toy.commit("a word")
    printed = [
        planted("doctor"),
        planted("gate", "HEAD~1", "HEAD", *COMMON, "--json", "reports/gate/gate.json",
                "--markdown", "reports/gate/gate.md", "--junit", "reports/gate/gate.xml"),
        planted("history", *COMMON),
        planted("publish", "--no-asv"),
        planted("gate", "HEAD~1", "origin/main", *COMMON),
        planted("rank", "--repo", ADDRESS, "main", *COMMON),
    ]  # fmt: skip
    assert all(printed)
    assert SECRET not in "".join(printed)
    files = [each for place in (toy.root / "reports", tmp_path / "cache", tmp_path / "scratch")
             for each in place.rglob("*") if each.is_file()]  # fmt: skip
    assert (toy.root / "reports" / "gate" / "gate.json") in files
    assert (toy.root / "reports" / "html" / "index.html") in files
    assert not [each for each in files if SECRET.encode() in each.read_bytes()]


def test_what_workers_compare_has_no_secret(monkeypatch):
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    one = fleet.identity()
    assert SECRET not in str(one)
    monkeypatch.setenv("CARGO_REGISTRY_TOKEN", "another")
    assert fleet.identity() != one
