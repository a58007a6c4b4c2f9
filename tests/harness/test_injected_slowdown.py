"""A slow-down of 3 %, injected on purpose into encode_message, is seen; a comment is not.

The whole way on the real driver and the real suite: commits, wheels, workers, callgrind, verdict.
Both sides are pure Python, because pure wheels build fast.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from benchproof.checkout import Checkout
from benchproof.compare import Place, Request, compare
from benchproof.meters import instructions
from tests.harness.toy import Repository

ROOT = Path(__file__).resolve().parents[2]
CODEC = "driver/wire/requests/frames.py"
#: The first statement of encode_message.
PLACE = "    flags = TRACING_FLAG if msg.tracing else 0\n"
CASE = "encode_message.time_query_1kb_plain"
PARTS = ("driver", "asv_benchmarks", "setup.py", "pyproject.toml", "README.md", "LICENSE")
#: Lines of the trial from which the wanted number of lines is computed.
TRIAL = 100

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(instructions.why_not()), reason=instructions.why_not()),
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """The checkout's driver and suites as a first commit."""
    repository = Repository(tmp_path_factory.mktemp("injected"))
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *PARTS],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():
            copy = repository.root / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy)
    repository.commit("as it is")
    repository.git("tag", "base")
    return repository


def extra_work(lines):
    """So many additions, whose sum nothing uses: each costs the same."""
    return "    checked = 0\n" + lines * "    checked += stream_id\n"


def change(repository, text):
    """Commit a change of encode_message on top of the base; its name."""
    repository.git("checkout", "--quiet", "--detach", "base")
    repository.edit(CODEC, PLACE, text + PLACE)
    return repository.commit("a change")


def measured(repository, commit, cache, toolchain, tell):
    """The comparison of a commit with the base, by instructions."""
    request = Request(
        "base@impl:python", f"{commit}@impl:python", f"{CASE}$", meters=("instructions",)
    )
    place = Place(
        Checkout.around(repository.root), repository.root / "asv_benchmarks", cache, toolchain
    )
    document = compare(request, place, tell).document
    (row,) = document["cases"]
    assert row["status"] == "measured", row["why"]
    return document["verdict"], row["meters"]["instructions"]


def test_an_injected_slow_down_of_3_percent_is_a_regression(repository, cache, toolchain, tell):
    trial = change(repository, extra_work(TRIAL))
    _, seen = measured(repository, trial, cache, toolchain, tell)
    lines = round(TRIAL * 0.03 / (seen["ratio"] - 1))
    verdict, seen = measured(
        repository, change(repository, extra_work(lines)), cache, toolchain, tell
    )
    assert 1.02 < seen["ratio"] < 1.05, f"{lines} lines"
    assert seen["verdict"] == "regressed"
    assert (verdict["status"], verdict["exit"]) == ("regression", 1)


def test_a_commit_that_changes_no_code_is_not_a_regression(repository, cache, toolchain, tell):
    comment = change(repository, "    # A comment moves lines, and nothing else.\n")
    verdict, seen = measured(repository, comment, cache, toolchain, tell)
    assert seen["verdict"] == "equivalent"
    assert seen["ratio"] == pytest.approx(1, abs=0.002)
    assert (verdict["status"], verdict["exit"]) == ("no regression", 0)
