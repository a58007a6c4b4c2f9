"""Twins: none without its pure module, none unlisted, none older than its source."""

import hashlib
import importlib
import json
import shutil
from pathlib import Path

import pytest
from staleness import TWINS, relative_name, stale_twins

import driver
from driver import implementation

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(TWINS.rglob("*.pyx"))


def test_every_twin_is_listed_and_every_listed_twin_exists():
    assert {relative_name(s) for s in SOURCES} == set(implementation.TWINS)


@pytest.mark.parametrize("source", SOURCES, ids=relative_name)
def test_a_twin_has_its_pure_module_which_hands_over_in_its_last_line(source):
    pure = ROOT / "driver" / source.relative_to(TWINS).with_suffix(".py")
    assert pure.exists()
    assert pure.read_text(encoding="utf-8").rstrip().endswith("\nhand_over(globals())")


@pytest.mark.parametrize("twin", implementation.TWINS)
def test_a_twin_replaces_only_names_that_its_pure_module_has(twin):
    if driver.IMPL != "cython":
        pytest.skip("pure: no twin is loaded")
    module = importlib.import_module(f"driver.{twin}")
    compiled = module.__twin__
    assert compiled.__all__
    for name in compiled.__all__:
        assert getattr(module, name) is getattr(compiled, name)


@pytest.mark.parametrize("twin", implementation.TWINS)
def test_the_origin_of_a_twin_tells_the_implementation(twin):
    suffix = ".so" if driver.IMPL == "cython" else ".py"
    assert implementation.origin(twin).endswith(suffix)


def copy_of_twins(tmp_path):
    """The sources of the twins, and a manifest as a build of just these would write it."""
    copied = tmp_path / "driver" / "_cython"
    shutil.copytree(TWINS, copied, ignore=shutil.ignore_patterns("*.so", "*.c", "built.json"))
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


def test_twins_as_they_were_compiled_are_not_stale(tmp_path):
    copied, manifest = copy_of_twins(tmp_path)
    assert stale_twins(manifest, copied) == []


def test_a_twin_that_changed_after_it_was_compiled_is_found(tmp_path):
    copied, manifest = copy_of_twins(tmp_path)
    with (copied / "topology" / "token.pyx").open("a") as source:
        source.write("# changed\n")
    assert stale_twins(manifest, copied) == ["topology.token"]


def test_a_changed_declaration_makes_every_twin_stale(tmp_path):
    copied, manifest = copy_of_twins(tmp_path)
    with (copied / "types" / "deserializers.pxd").open("a") as source:
        source.write("# changed\n")
    assert set(stale_twins(manifest, copied)) == set(implementation.TWINS)
