"""``pytest -p driver.compat.pytest_plugin``: run tests that were written for ``cassandra``."""

from __future__ import annotations

from .installation import install, uninstall

# At import, which comes before the first conftest.py.
install()


def pytest_report_header() -> str:
    """Say which driver answers."""
    return "cassandra: served by driver.compat"


def pytest_unconfigure() -> None:
    """Leave the process as it was."""
    uninstall()
