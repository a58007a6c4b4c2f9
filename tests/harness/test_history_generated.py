"""Generated histories hold what was planted, and asv publishes them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scale import generated

from benchproof.history import asv_files
from benchproof.history.model import CANARY


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated") / "repo"
    wanted = generated.Wanted(commits=60, benchmarks=2, platforms=1, merges=0.2, measured=0.8)
    planted = generated.write(folder, wanted)
    return folder, planted, asv_files.load(folder / "results", folder)


def step(series, at):
    """The ratio of the levels on both sides of a place, by a few points each."""
    before = series.value[series.index < at][-3:]
    after = series.value[series.index >= at][:3]
    return np.median(after) / np.median(before)


def test_everything_that_was_wanted_is_there(made):
    folder, _, found = made
    assert len(found.commits) == 60
    assert len(found.series) == 2 * 4 * 2
    assert len(found.canaries) == 4 * 2
    assert found.left_out == []
    assert found.aside
    assert any(len(commit.parents) == 2 for commit in found.commits)
    assert all(30 < len(series) < 60 for series in found.series.values())
    assert len(found.platforms) == 2
    assert json.loads((folder / "planted.json").read_text())


def test_every_planted_change_is_in_its_series(made):
    _, planted, found = made
    for change in planted:
        series = (found.canaries if change.key.benchmark == CANARY else found.series)[change.key]
        others = [other.at for other in planted
                  if other.key == change.key and 0 < abs(other.at - change.at) < 8]  # fmt: skip
        if not others:
            assert step(series, change.at) == pytest.approx(change.ratio, rel=0.04), change


def test_only_the_platform_moves_the_canary(made):
    _, planted, _ = made
    kinds = {change.kind for change in planted if change.key.benchmark == CANARY}
    assert kinds == {"platform"}


def test_the_same_seed_gives_the_same_history(made, tmp_path):
    _, planted, found = made
    wanted = generated.Wanted(commits=60, benchmarks=2, platforms=1, merges=0.2, measured=0.8)
    assert generated.write(tmp_path / "again", wanted) == planted
    again = asv_files.load(tmp_path / "again" / "results", tmp_path / "again")
    assert again.commits == found.commits
    for key, series in again.series.items():
        assert np.array_equal(series.value, found.series[key].value)


def asv(folder, *arguments):
    answer = subprocess.run([sys.executable, "-m", "asv", *arguments], cwd=folder, text=True,
                            capture_output=True, check=False)  # fmt: skip
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.mark.slow
def test_asv_publishes_graphs_with_the_steps(made):
    folder, planted, found = made
    asv(folder, "publish", "--no-pull")
    index = json.loads((folder / "html" / "index.json").read_text())
    assert index["benchmarks"]["suite_00.track_case_001_instructions"]["unit"] == "instructions"
    assert index["params"]["env-DRIVER_IMPL"] == ["cython", "python"]
    name = "suite_00.track_case_001_instructions.json"
    graphs = (folder / "html" / "graphs").rglob(name)
    (graph,) = [file for file in graphs if "DRIVER_IMPL-cython" in str(file)]
    points = dict(json.loads(graph.read_text()))
    key = next(k for k in found.series if k.benchmark.endswith("_001")
               and (k.meter, k.impl) == ("instructions", "cython"))  # fmt: skip
    assert sorted(points.values()) == sorted(found.series[key].value)
    regressions = json.loads((folder / "html" / "regressions.json").read_text())["regressions"]
    told = {row[0] for row in regressions}
    last = max((change for change in planted if change.key == key), key=lambda each: each.at)
    assert last.ratio < 1.05 or key.benchmark.replace("time_", "track_") + "_instructions" in told


@pytest.mark.slow
def test_asv_shows_and_compares_commits(made):
    folder, _, found = made
    index = next(iter(found.series.values())).index
    first, last = (found.commits[at].hash for at in (index[0], index[-1]))
    shown = asv(folder, "show", last)
    assert "suite_00.time_case_000 [generated/virtualenv-py" in shown
    assert "±" in shown
    compared = asv(folder, "compare", first, last)
    assert "suite_00.track_case_001_bytes" in compared
