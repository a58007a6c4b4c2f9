"""From asv's result files to a site and to asv's own, with nothing in between made up."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scale import generated

from benchproof.checkout import Checkout
from benchproof.site.publication import Asked, publish
from tests.harness.sample_site import QUIET, given

ROOT = Path(__file__).resolve().parents[2]
WANTED = generated.Wanted(commits=24, benchmarks=2, merges=0.0, steps=1)

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path):
    """A repository with results where `benchproof publish` looks for them."""
    root = tmp_path / "project"
    generated.write(root, WANTED)
    (root / "reports" / "results").mkdir(parents=True)
    (root / "results").rename(root / "reports" / "results" / "asv")
    return root


def published(root, tmp_path, **asked):
    choice = Asked(root / "reports", tmp_path / "out", **({"asv": False} | asked))
    return publish(choice, Checkout(root), tmp_path / "cache", QUIET)


def test_bad_files_are_named_and_the_others_are_on_the_site(project, tmp_path):
    folder = project / "reports" / "results" / "asv" / WANTED.machine
    files = sorted(folder.glob("*-*cython*.json"))
    files[0].write_bytes(files[0].read_bytes()[: files[0].stat().st_size // 2])
    files[1].write_bytes(b"\x00\xff\x00")
    files[2].write_text(json.dumps({"version": 2, "results": []}))
    foreign = json.loads(files[3].read_text()) | {"commit_hash": "f" * 40}
    (folder / "ffffffff-foreign.json").write_text(json.dumps(foreign))
    shutil.copy(files[4], folder / f"{files[4].stem}-copy.json")
    bad = [files[0], files[1], files[2], folder / "ffffffff-foreign.json",
           folder / f"{files[4].stem}-copy.json"]  # fmt: skip
    done = published(project, tmp_path)
    text = (done.page.parent / "left-out.html").read_text(encoding="utf-8")
    assert done.left_out == len(bad)
    for file in bad:
        assert f"results/asv/{WANTED.machine}/{file.name}" in text
    assert done.series == 2 * 4 * 2
    assert done.commits == WANTED.commits


def test_the_command_publishes_asvs_own_site_beside_ours(project):
    environment = os.environ | {
        "BENCHPROOF_CACHE": str(project / ".cache"),
    }
    command = [sys.executable, "-m", "benchproof.cli", "publish"]
    answer = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    page = Path(answer.stdout.splitlines()[-1])
    assert page == project / "reports" / "html" / "index.html"
    assert 'href="asv/index.html"' in page.read_text(encoding="utf-8")
    asv = page.parent / "asv"
    assert (asv / "index.html").exists()
    graphs = json.loads((asv / "index.json").read_text(encoding="utf-8"))["benchmarks"]
    assert "suite_00.track_case_000_instructions" in graphs


def test_one_more_commit_is_added_to_what_is_remembered(project, tmp_path):
    folder = project / "reports" / "results" / "asv" / WANTED.machine
    head = Checkout(project).commit("HEAD")
    late = list(folder.glob(f"{head[:8]}-*.json"))
    for file in late:
        file.rename(tmp_path / file.name)
    first = published(project, tmp_path)
    before = len(given(first.page.parent, "catalogue")["measured"])
    for file in late:
        (tmp_path / file.name).rename(file)
    second = published(project, tmp_path)
    assert len(given(second.page.parent, "catalogue")["measured"]) == before + 1
    assert second.commits == first.commits + 1
