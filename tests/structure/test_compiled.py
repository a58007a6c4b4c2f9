"""Compiled modules: none without its pure form, none unlisted, none older than its source."""

import hashlib
import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from staleness import FOLDER, relative_name, stale_modules

import driver
from driver import implementation

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(FOLDER.rglob("*.pyx"))
WITH_PURE_FORM = [s for s in SOURCES if relative_name(s) not in implementation.ALONE]


def test_every_compiled_module_is_listed_and_every_listed_one_exists():
    listed = {*implementation.TWINS, *implementation.ALONE}
    assert {relative_name(s) for s in SOURCES} == listed


@pytest.mark.parametrize("source", WITH_PURE_FORM, ids=relative_name)
def test_a_compiled_module_has_its_pure_form_which_hands_over_in_its_last_line(source):
    pure = ROOT / "driver" / source.relative_to(FOLDER).with_suffix(".py")
    assert pure.exists()
    assert pure.read_text(encoding="utf-8").rstrip().endswith("\nhand_over(globals())")


@pytest.mark.parametrize("name", implementation.TWINS)
def test_a_compiled_module_replaces_only_names_that_its_pure_form_has(name):
    if driver.IMPL != "cython":
        pytest.skip("pure: no compiled module is loaded")
    module = importlib.import_module(f"driver.{name}")
    compiled = module.__twin__
    assert compiled.__all__ or compiled.METHODS
    for public in compiled.__all__:
        assert getattr(module, public) is getattr(compiled, public)


@pytest.mark.parametrize("name", implementation.TWINS)
def test_the_origin_of_a_module_shows_the_implementation(name):
    suffix = ".so" if driver.IMPL == "cython" else ".py"
    assert implementation.origin(name).endswith(suffix)


def copy_of_sources(tmp_path):
    """The sources of the compiled modules, and a manifest as their build would write it."""
    copied = tmp_path / "driver" / "_cython"
    shutil.copytree(FOLDER, copied, ignore=shutil.ignore_patterns("*.so", "*.c", "built.json"))
    declarations = [path.read_bytes() for path in sorted(copied.rglob("*.pxd"))]
    manifest = copied / "built.json"
    manifest.write_text(
        json.dumps(
            {
                "compiled": {
                    f"driver._cython.{relative_name(source, copied)}": hashlib.sha256(
                        b"\0".join([source.read_bytes(), *declarations])
                    ).hexdigest()
                    for source in copied.rglob("*.pyx")
                }
            }
        )
    )
    return copied, manifest


def test_modules_as_they_were_compiled_are_not_stale(tmp_path):
    copied, manifest = copy_of_sources(tmp_path)
    assert stale_modules(manifest, copied) == []


def test_a_module_that_changed_after_it_was_compiled_is_found(tmp_path):
    copied, manifest = copy_of_sources(tmp_path)
    with (copied / "topology" / "token.pyx").open("a") as source:
        source.write("# changed\n")
    assert stale_modules(manifest, copied) == ["topology.token"]


def test_a_changed_declaration_makes_every_module_stale(tmp_path):
    copied, manifest = copy_of_sources(tmp_path)
    with (copied / "types" / "deserializers.pxd").open("a") as source:
        source.write("# changed\n")
    listed = {*implementation.TWINS, *implementation.ALONE}
    assert set(stale_modules(manifest, copied)) == listed


@pytest.mark.parametrize("name", implementation.TWINS)
def test_each_module_can_be_the_first_that_is_imported(name):
    # A compiled module that needs another one's C functions imports it before anything else.
    program = f"import driver.{name}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
