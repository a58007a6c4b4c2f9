"""A toy driver for each test, and one cache of builds for all of them."""

import io
import os
from pathlib import Path

import pytest
from calibration.clock import Clock
from calibration.clone import clone
from calibration.scene import Scene
from rich.console import Console

from benchproof.checkout import Checkout
from benchproof.compare import Place
from benchproof.progress import Lines
from benchproof.toolchain import find
from tests.harness.toy import Toy

SUITES = Path(__file__).resolve().parent / "suites"
#: Whether a test may look at all of it, however long that takes.
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def toolchain():
    return find()


@pytest.fixture
def compiler(toolchain):
    """For tests that compile a module of the toy."""
    if not toolchain.compiles:
        pytest.skip(f"no C compiler works here: {toolchain.why_not}")
    return toolchain


@pytest.fixture
def toy(tmp_path):
    return Toy(tmp_path / "toy")


@pytest.fixture
def place(toy, cache, toolchain):
    return Place(Checkout.around(toy.root), SUITES, cache, toolchain)


class Heard(Lines):
    """A teller whose lines a test can read."""

    def __init__(self):
        self.stream = io.StringIO()
        super().__init__(Console(file=self.stream, width=200))

    @property
    def text(self):
        return self.stream.getvalue()


@pytest.fixture
def tell():
    return Heard()


@pytest.fixture
def scene(toy, place, tell):
    copy = clone(place.checkout, place.cache / f"clone-{toy.root.parent.name}")
    return Scene(copy, place, Clock(None, tell), {"policy": "p", "machine": {"cpu": "c"}})
