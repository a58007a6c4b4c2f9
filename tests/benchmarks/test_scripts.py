"""The scripts tell how they are used; what they make is the same every time."""

import subprocess
import sys
import tomllib
import zlib

import pytest
from asv.config import Config
from recorder import catalogue, client, rows

from tests.benchmarks.places import ROOT

SCRIPTS = ("record-frames", "cassandra", "asv-vs-pyperf")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_tells_how_it_is_used(script):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--help"],
        capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    assert f"usage: {script}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["start", "0"], "N must be 1 to 9"),
        (["start", "--set", "novalue"], "'novalue' is not KEY=VALUE"),
        (["pause", "7"], "node 7 is not running"),
    ],
)
def test_bad_input_to_the_server_script_gets_one_line(arguments, complaint):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "cassandra", *arguments],
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == f"cassandra: {complaint}\n"


def test_the_recorded_rows_are_the_same_every_time():
    assert list(rows.statements()) == list(rows.statements())


def test_every_executed_statement_is_prepared():
    assert {statement for statement, _, _ in catalogue.EXECUTED.values()} <= set(catalogue.PREPARED)


def test_the_header_check_of_segments_is_that_of_the_protocol():
    # The header of a self-contained segment with a payload of 40 bytes, as a server sent it.
    from asv_benchmarks import recordings

    data = recordings.segments("segments_plain_one")
    assert client.crc24(data[:3]) == int.from_bytes(data[3:6], "little")
    assert zlib.crc32(data[6:-4], client.CRC32_SEED) == int.from_bytes(data[-4:], "little")


def test_asv_and_the_project_pin_the_same_versions():
    conf = Config.load(str(ROOT / "asv.conf.json"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = dict(
        line.split(";")[0].split("==")
        for extra in project["optional-dependencies"].values()
        for line in extra
        if "==" in line
    )
    for name, (pinned,) in conf.matrix["req"].items():
        assert pins.get(name.removeprefix("pip+"), pinned) == pinned, name
    assert conf.matrix["req"]["pip+asv_runner"] == ["0.2.5"]
    assert set(conf.matrix["env_nobuild"]["DRIVER_IMPL"]) == {"cython", "python"}


def test_asv_builds_one_wheel_without_dependencies():
    conf = Config.load(str(ROOT / "asv.conf.json"))
    assert all("--no-deps" in command for command in conf.build_command + conf.install_command)
