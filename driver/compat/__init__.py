"""Layer 10: the names of the ``cassandra`` package, served from the modules of this driver.

::

    import driver.compat

    driver.compat.install()

    from cassandra.cluster import Cluster  # this driver's

An application that is not to be changed runs as ``python -m driver.compat script.py``, a test suite
with ``pytest -p driver.compat.pytest_plugin``. docs/guides/compat.md tells what a patch reaches,
where log records go, and what is left out.
"""

from .installation import install, installed, is_installed, uninstall

__all__ = ["install", "installed", "is_installed", "uninstall"]
