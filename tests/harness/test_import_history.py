"""Files of other tools, a commit each, as a history: its steps are found, its benchmarks named."""

import json
import random

import pyperf
import pytest
from typer.testing import CliRunner

from benchproof.checkout import Checkout
from benchproof.commands.app import app
from benchproof.history import asv_files
from tests.harness import toy

#: Of a history whose second half takes longer, and where that begins.
COMMITS, STEP = 16, 9
HOST = "Some CPU @ 2.00GHz"


@pytest.fixture
def project(tmp_path, monkeypatch):
    made = toy.Repository(tmp_path / "acme")
    commits = []
    for number in range(COMMITS):
        made.write("work.py", f"{number}\n")
        commits.append(made.commit(f"commit {number}"))
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "")
    return made, commits


def times(number, rng):
    """Of one commit: seconds, of runs."""
    return [rng.gauss(1.3 if number >= STEP else 1.0, 0.004) for _ in range(9)]


def go(folder, number, commit, rng):
    file = folder / f"run-{number}.txt"
    head = f"commit: {commit[:12]}\ngoos: linux\npkg: example.com/acme\ncpu: {HOST}\n"
    file.write_text(head + "".join(
        f"BenchmarkSort/size=1.5-8  100  {each * 1e9:.0f} ns/op  64 B/op  5 allocs/op  3 MB/s\n"
        for each in times(number, rng)
    ))  # fmt: skip
    return file


def of_pyperf(folder, number, commit, rng):
    about = {"name": "sort", "cpu_model_name": HOST, "unit": "second"}
    told = about | ({"commit_id": commit} if number % 2 else {})
    made = [
        pyperf.Run([each], metadata=told, collect_metadata=False) for each in times(number, rng)
    ]
    file = folder / f"2026-01-01-main-{commit[:12]}.json"
    pyperf.BenchmarkSuite([pyperf.Benchmark(made)]).dump(str(file))
    return file


def of_asv(folder, number, commit, rng):
    file = folder / "box" / f"{commit[:8]}-env.json"
    file.parent.mkdir(exist_ok=True)
    samples = times(number, rng)
    file.write_text(json.dumps({
        "version": 2, "commit_hash": commit, "params": {"machine": "box", "cpu": HOST},
        "result_columns": ["result", "params", "samples"],
        "results": {"sorting.Sort.time_sort": [[1.0, None], [["1.5", "8"]], [samples, None]],
                    "sorting.track_size": [[7], []]},
    }))  # fmt: skip
    return file


@pytest.mark.parametrize(
    ("kind", "make", "name", "label"),
    [
        ("go", go, "example_com/acme.time_Sort/size=1_5-8",
         "example.com/acme::BenchmarkSort/size=1.5-8"),
        ("pyperf", of_pyperf, "pyperf.time_sort", "sort"),
        ("asv", of_asv, "sorting_Sort.time_sort(1_5)", "sorting.Sort.time_sort(1.5)"),
    ],
)  # fmt: skip
def test_a_step_in_what_was_imported_is_the_commits(project, tmp_path, kind, make, name, label):
    made, commits = project
    rng = random.Random(kind)
    files = [str(make(tmp_path, number, commit, rng)) for number, commit in enumerate(commits)]
    kept = tmp_path / "kept"
    words = ["import", kind, *files, "--history", str(kept), "--json", str(tmp_path / "told.json")]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, answer.output
    assert f"of {COMMITS} commits are in" in answer.stdout
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["commits"] == sorted(commits)
    assert ("left out: " in answer.stderr) == (kind != "pyperf")
    history = asv_files.load(kept, Checkout.around(made.root))
    assert not history.left_out
    assert json.loads((kept / "benchmarks.json").read_text())[name]["pretty_name"] == label
    assert {key.benchmark for key in history.series} == {name}
    before = {file: file.read_bytes() for file in kept.rglob("*") if file.is_file()}
    assert CliRunner().invoke(app, words).exit_code == 0
    assert {file: file.read_bytes() for file in kept.rglob("*") if file.is_file()} == before

    found = tmp_path / "changes.json"
    answer = CliRunner().invoke(
        app, ["changes", "--results", str(kept), "--meters", "wall", "--json", str(found)]
    )
    assert answer.exit_code == 0, answer.output
    changes = json.loads(found.read_text())["changes"]
    assert [each["likely"] for each in changes] == [commits[STEP]], changes
    assert changes[0]["ratio"] == pytest.approx(1.3, rel=0.02)


def test_a_file_of_no_commit_is_a_line(project, tmp_path):
    _, commits = project
    rng = random.Random(1)
    file = go(tmp_path, 0, commits[0], rng)
    file.write_text(file.read_text().replace("commit:", "branch:"))
    other = go(tmp_path, 1, "f" * 40, rng)
    for wrong, why in ((file, "does not say of which commit it is"), (other, "unknown commit")):
        words = ["import", "go", str(wrong), "--history", str(tmp_path / "kept")]
        answer = CliRunner().invoke(app, words)
        assert (answer.exit_code, why in answer.stderr) == (2, True), answer.output
    words += ["--right", str(file)]
    assert "there are no sides" in CliRunner().invoke(app, words).stderr
