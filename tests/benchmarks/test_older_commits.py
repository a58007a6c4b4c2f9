"""The suites measure commits from before something of the driver moved."""

import json
import os
import subprocess
import sys

import pytest

from asv_benchmarks import moved
from tests.benchmarks.places import ROOT, SUITES

#: What moved, the last commit that had it where it was, and cases that need it.
BEFORE = {
    "protocol.columns": ("65e21ec", ("bind.reading_with_encryption",)),
    "protocol.kinds": ("65e21ec", ("encode_message.batch_100_plain",)),
    "wire.decoding:decode_message": ("3c08354", ("decode_rows.one_row",)),
    "statements.bound:bind_prepared": ("0b185f3", ("bind.reading_prepared_bind",)),
    "wire.requests.frames:encode_message": ("596f164", ("encode_message.query_1kb_v5",)),
    "execution.request:RequestExecution._set_result": (
        "598b85d",
        ("result_dispatch.rows", "query_path.point_select"),
    ),
}
#: The last commit whose connections need sockets: its own in-memory session answers.
WITH_SOCKETS = "001fd42"
PROBE = """
import json, sys
from importlib import import_module
import driver
said = {"driver": driver.__file__}
for name in sys.argv[1:]:
    suite, case = name.split(".")
    function = getattr(import_module(f"asv_benchmarks.{suite}"), f"time_{case}")
    said[name] = function.prove()["digest"]
json.dump(said, sys.stdout)
"""


def proved(driver, names):
    """Digests of what cases answer, by the driver below a folder; the suites are those of today."""
    told = subprocess.run(
        [sys.executable, "-P", "-c", PROBE, *names],
        env={**os.environ, "DRIVER_IMPL": "python", "PYTHONPATH": str(driver)},
        cwd=driver, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    said = json.loads(told.stdout)
    assert said.pop("driver").startswith(str(driver))
    return said


@pytest.fixture(scope="module")
def commits(tmp_path_factory):
    """A folder a commit, with its driver and a link to the suites of today."""
    folders = {}

    def checked_out(commit):
        if commit not in folders:
            folder = folders[commit] = tmp_path_factory.mktemp(commit)
            archive = subprocess.run(
                ["git", "archive", commit, "driver"], cwd=ROOT, capture_output=True, check=False
            )
            if archive.returncode:
                pytest.skip(f"this checkout has no commit {commit}")
            subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)
            (folder / SUITES.name).symlink_to(SUITES)
        return folders[commit]

    return checked_out


def test_each_move_has_a_commit_from_before_it():
    assert set(BEFORE) == set(moved.MOVED)


@pytest.mark.parametrize("name", BEFORE)
def test_a_commit_from_before_a_move_is_measured(commits, name):
    commit, cases = BEFORE[name]
    folder = commits(commit)
    module = moved.before(name).partition(":")[0]
    assert folder.joinpath("driver", *module.split(".")).with_suffix(".py").exists()
    assert proved(folder, cases) == proved(ROOT, cases)


def test_a_commit_whose_connections_need_sockets_is_measured_without_them(commits):
    folder = commits(WITH_SOCKETS)
    assert folder.joinpath("driver/execution/in_memory.py").exists()
    cases = [
        f"result_dispatch.{case}"
        for case in ("rows_with_tablet", "set_keyspace", "fetch_next_page", "request_one_row")
    ]
    assert proved(folder, cases) == proved(ROOT, cases)


def test_what_is_nowhere_keeps_its_name_of_today():
    assert moved.where("protocol.columns:NoSuchClass") == "protocol.columns:NoSuchClass"
    assert moved.where("no.such.module") == "no.such.module"
    with pytest.raises(ModuleNotFoundError, match=r"driver\.no"):
        moved.load("no.such.module")
