"""The two implementations side by side: `compiled` is this process's driver, `pure` a second mount.

Timing stays in separate processes; values, bytes and errors can be compared in one.
"""

import pytest
from mount import mount

import driver
from driver.implementation import REASON


@pytest.fixture(scope="session")
def compiled():
    if driver.IMPL != "cython":
        pytest.skip(f"parity needs the compiled modules: {REASON}")
    return driver


@pytest.fixture(scope="session")
def pure(compiled):  # noqa: ARG001  (asked for so that the pure mount exists only beside it)
    package = mount("driver_pure", "python")
    assert package.IMPL == "python"
    return package
