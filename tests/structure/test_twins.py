"""Twins: none without its pure module, none unlisted, none older than its source."""

import hashlib
import importlib
import json
from pathlib import Path

import pytest

import driver
from driver import implementation

ROOT = Path(__file__).resolve().parents[2]
TWINS = ROOT / "driver" / "_cython"
MANIFEST = Path(driver.__file__).parent / "_cython" / "built.json"
SOURCES = sorted(TWINS.rglob("*.pyx"))


def relative_name(source):
    return ".".join(source.relative_to(TWINS).with_suffix("").parts)


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


def test_compiled_modules_are_not_older_than_their_source():
    if driver.IMPL != "cython":
        pytest.skip("pure: nothing is compiled")
    built = json.loads(MANIFEST.read_text(encoding="utf-8"))["compiled"]
    declarations = [p.read_bytes() for p in sorted(TWINS.rglob("*.pxd"))]
    stale = []
    for source in SOURCES:
        digest = hashlib.sha256(b"\0".join([source.read_bytes(), *declarations])).hexdigest()
        if built.get(f"driver._cython.{relative_name(source)}") != digest:
            stale.append(relative_name(source))
    assert not stale, f"compiled before their source changed: {stale}; run `make build`"
