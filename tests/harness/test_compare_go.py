"""A Go package at two commits: built apart, run in turn, judged as everything else."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from benchproof.commands.app import app
from benchproof.foreign import go_runs
from tests.harness.toy import Repository

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed"),
]
WORK = """package acme

func Boxes(number int) [][]byte {
	found := [][]byte{}
	for i := 0; i < number; i++ {
		found = append(found, make([]byte, 100))
	}
	return found
}
"""
TESTS = """package acme

import (
	"os"
	"testing"
)

var kept [][]byte

func BenchmarkBoxes(b *testing.B) {
	if _, err := os.Stat("data.txt"); err != nil {
		b.Fatal(err)
	}
	for i := 0; i < b.N; i++ {
		kept = Boxes(64)
	}
}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    made = Repository(tmp_path / "acme")
    made.write("go.mod", "module example.com/acme\n\ngo 1.20\n")
    made.write("boxes/work.go", WORK)
    made.write("boxes/work_test.go", TESTS)
    made.write("boxes/data.txt", "read by the benchmark, from its package's folder\n")
    made.commit("plain")
    made.edit("boxes/work.go", "[][]byte{}\n", "make([][]byte, 0, number)\n")
    made.commit("of its size")
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    monkeypatch.setattr(go_runs, "BENCHTIME", "5ms")
    return made


def compare(*words):
    return CliRunner().invoke(app, ["compare", "--go", *words, "--budget", "1"])


def test_both_sides_run_in_turn_and_are_judged(project, tmp_path):
    kept, out = tmp_path / "s.jsonl.gz", tmp_path / "d.json"
    answer = compare("./boxes", "HEAD~1", "HEAD", "--records", str(kept), "--json", str(out))
    assert answer.exit_code == 0, answer.output
    document = json.loads(out.read_text())
    (case,) = document["cases"]
    assert case["name"].startswith("example.com/acme/boxes::BenchmarkBoxes")
    assert case["verdict"] == "improved"
    allocations = case["meters"]["allocations"]
    assert allocations["right"] == 65 < allocations["left"]
    assert len(case["meters"]["wall"]["left_samples"]) >= go_runs.FEWEST
    assert document["right"]["commit"] == project.git("rev-parse", "HEAD")
    again = CliRunner().invoke(app, ["judge", str(kept), "--json", "-"])
    assert json.loads(again.stdout) == document


def test_what_does_not_build_or_fails_is_told_with_gos_own_words(project):
    for words, told in (
        (("./nowhere", "HEAD~1", "HEAD"), "--go ./nowhere at HEAD~1: "),
        (("./boxes", "HEAD", "nobody"), "unknown commit: 'nobody'"),
    ):
        answer = compare(*words)
        assert (answer.exit_code, told in answer.stderr) == (2, True), answer.output
    project.write("boxes/work.go", "package acme\n\nfunc Boxes() {\n")
    answer = compare("./boxes", "HEAD", ".")
    assert answer.exit_code == 2
    assert "has no tests, or they do not build" in answer.stderr
    assert "work.go:" in answer.stderr
    project.git("checkout", "--quiet", ".")
    (project.root / "boxes/data.txt").unlink()
    answer = compare("./boxes", "HEAD", ".")
    assert answer.exit_code == 2
    assert "the benchmarks of the working tree fail" in answer.stderr
    assert "no such file" in answer.stderr
