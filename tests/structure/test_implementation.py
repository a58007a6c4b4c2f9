"""DRIVER_IMPL: one decision for the whole process, made at import, told well."""

import os
import subprocess
import sys

import pytest

import driver
from driver import implementation


def imported_with(choice):
    return subprocess.run(
        [sys.executable, "-c", "import driver; print(driver.IMPL)"],
        env={**os.environ, "DRIVER_IMPL": choice},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_python_is_always_to_be_had():
    assert imported_with("python").stdout.strip() == "python"


def test_auto_is_compiled_exactly_if_every_twin_is_there():
    expected = "python" if implementation._missing() else "cython"
    assert imported_with("auto").stdout.strip() == expected


def test_another_value_is_refused_with_the_choices():
    outcome = imported_with("fast")
    assert outcome.returncode != 0
    assert "DRIVER_IMPL='fast': must be one of auto, cython, python" in outcome.stderr


def test_cython_lists_what_is_missing(monkeypatch):
    monkeypatch.setenv("DRIVER_IMPL", "cython")
    monkeypatch.setattr(implementation, "TWINS", ("types.nothing", "wire.nowhere"))
    with pytest.raises(ImportError, match=r"types\.nothing, driver\._cython\.wire\.nowhere"):
        implementation._decide()


def test_a_twin_may_not_add_names():
    if driver.IMPL != "cython":
        pytest.skip("pure: nothing hands over")
    namespace = {"__name__": "driver.types.marshal"}
    with pytest.raises(ImportError, match=r"which driver\.types\.marshal does not"):
        implementation.hand_over(namespace)
