import pytest

from driver import compat


@pytest.fixture
def served():
    # Tests against the peer import the real package into this process.
    with compat.installed(force=True):
        yield
