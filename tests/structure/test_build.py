"""The build: compiled where a C compiler works, pure where none does and saying so, never half."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("pyproject.toml", "setup.py", "MANIFEST.in", "LICENSE", "driver")
pytestmark = pytest.mark.slow


@pytest.fixture
def checkout(tmp_path):
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("*.so", "__pycache__", "built.json", "*.egg-info")
            shutil.copytree(source, tmp_path / "checkout" / name, ignore=ignore)
        else:
            (tmp_path / "checkout").mkdir(exist_ok=True)
            shutil.copy(source, tmp_path / "checkout" / name)
    return tmp_path / "checkout"


def build(checkout, **environment):
    return subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-v", "--no-deps", "--no-build-isolation",
         "--disable-pip-version-check", "-w", "wheels", "."],
        cwd=checkout,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )  # fmt: skip


def test_a_wheel_without_a_compiler_is_pure_and_says_so(checkout):
    outcome = build(checkout, CC="/bin/false", DRIVER_BUILD="auto")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    told = outcome.stdout + outcome.stderr
    assert "building the PURE PYTHON driver (the C compiler (/bin/false) failed" in told
    (wheel,) = (checkout / "wheels").glob("*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("driver/_cython/built.json"))
    assert not [name for name in names if name.endswith(".so")]
    assert manifest["compiled"] == {}
    assert "/bin/false" in manifest["pure_because"]


def test_a_failed_compilation_is_fatal_where_compiled_was_asked_for(checkout):
    outcome = build(checkout, CC="/bin/false", DRIVER_BUILD="cython")
    assert outcome.returncode != 0
    assert not list((checkout / "wheels").glob("*.whl"))


@pytest.mark.nightly
def test_a_module_that_does_not_compile_takes_all_others_along(checkout):
    with (checkout / "driver" / "_cython" / "topology" / "token.pyx").open("a") as source:
        source.write('cdef extern from "no_such_header.h":\n    int nothing()\nnothing()\n')
    outcome = build(checkout, DRIVER_BUILD="auto")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    (wheel,) = (checkout / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".so")]


def test_an_unknown_kind_of_build_is_refused(checkout):
    outcome = build(checkout, DRIVER_BUILD="rust")
    assert outcome.returncode != 0
    assert "DRIVER_BUILD=rust: must be auto, cython or python" in outcome.stdout + outcome.stderr
